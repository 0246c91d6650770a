"""Fuzz all decoders and whole edges: `python -m fuzz --rounds 100000 --seed 7`; status 1 if a mistake shows."""

from __future__ import annotations

import sys
import time

import click

from fuzz.edges import rounds_of, sites
from fuzz.rounds import Finding, rounds
from fuzz.targets import TARGETS
from wayname.p4_constants import Punt


@click.command()
@click.option(
    "--rounds", "count", default=10_000, show_default=True, help="How many inputs each decoder and edge gets."
)
@click.option("--seed", default=1, show_default=True, help="Random choices are the same for the same seed.")
@click.option("--only", default="", help="Those whose name has this in it.")
def main(count: int, seed: int, only: str) -> None:
    """Give each decoder and each edge so many inputs; print what they may not raise, and what made them do so."""
    findings: list[Finding] = []
    wanted = [target for target in TARGETS if only in target.name]
    for target in wanted:
        began = time.process_time()
        found, refused = rounds(target, count, seed)
        took = time.process_time() - began
        click.echo(f"{target.name:34} {count} inputs, {refused} refused, {took:.1f} s, {len(found)} findings")
        findings += found
    edges = [site for site in sites() if only in site.name]
    faults = 0
    for site in edges:
        began = time.process_time()
        fuzzed = rounds_of(site, max(count // len(Punt), 1), seed)
        took = time.process_time() - began
        counts = fuzzed.edge.faults.counts
        faults += counts.total()
        click.echo(f"{'edge, ' + site.name:34} {count} packets, {took:.1f} s, {counts.total()} faults")
        for event in fuzzed.events:
            if event.kind == "edge.fault":
                click.echo(f"    {event.text}")
    for finding in findings:
        click.echo(f"{finding.target}: {finding.error!r} from {finding.octets.hex()}")
    click.echo(f"{len(wanted)} decoders and {len(edges)} edges, {count} inputs each: {len(findings) + faults} findings")
    sys.exit(1 if findings or faults else 0)


if __name__ == "__main__":
    main()
