"""Fuzz all decoders: `python -m fuzz --rounds 100000 --seed 7`; status 1 if one raises what it may not."""

from __future__ import annotations

import sys
import time

import click

from fuzz.rounds import Finding, rounds
from fuzz.targets import TARGETS


@click.command()
@click.option("--rounds", "count", default=10_000, show_default=True, help="How many inputs each decoder gets.")
@click.option("--seed", default=1, show_default=True, help="What is by lot is the same for the same seed.")
@click.option("--only", default="", help="Those whose name has this in it.")
def main(count: int, seed: int, only: str) -> None:
    """Give each decoder so many inputs; print what it may not raise, with the octets that made it do so."""
    findings: list[Finding] = []
    wanted = [target for target in TARGETS if only in target.name]
    for target in wanted:
        began = time.process_time()
        found, refused = rounds(target, count, seed)
        took = time.process_time() - began
        click.echo(f"{target.name:34} {count} inputs, {refused} refused, {took:.1f} s, {len(found)} findings")
        findings += found
    for finding in findings:
        click.echo(f"{finding.target}: {finding.error!r} from {finding.octets.hex()}")
    click.echo(f"{len(wanted) * count} inputs to {len(wanted)} decoders, {len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
