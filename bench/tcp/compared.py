"""How fast the lab hosts' TCP mends losses, beside Linux's: `python -m bench.tcp`. Needs root and /dev/net/tun."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from statistics import median, quantiles

import click

from bench.multipath import tables
from bench.multipath.tap import missing
from bench.shim6.report import table
from bench.tcp.ends import End, HostEnd, LinuxEnd
from bench.tcp.lane import Lane, run
from bench.tcp.scripts import SCRIPTS

PAIRS = ("Linux to Linux", "lab to Linux", "Linux to lab")
LIMIT = 30.0
# The lab host is to be within a fifth of Linux, or within 20 ms.
SHARE, MARGIN = 1.2, 0.020


@click.command()
@click.option("--draws", default=30, show_default=True, help="Conditions drawn of each kind.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same conditions for the same seed.")
@click.option("--only", type=click.Choice(list(SCRIPTS)), help="One kind; else all of them.")
def main(draws: int, seed: int, only: str | None) -> None:
    """Measure and print; status 1 if a goal is missed."""
    lacking = missing()
    if lacking:
        click.echo(f"skipped: Linux's TCP on a wire of its own needs {lacking}")
        return
    missed = []
    rows = []
    for kind in SCRIPTS if only is None else [only]:
        seen = measure(kind, draws, seed)
        reference = median(seen[PAIRS[0]])
        for pair, values in seen.items():
            rows.append((kind, pair, *(f"{1000 * value:.0f}" for value in spread(values))))
            if median(values) > max(reference * SHARE, reference + MARGIN):
                missed.append(f"{kind}, {pair}: {1000 * median(values):.0f} ms, Linux takes {1000 * reference:.0f} ms")
    head = ("until all that was lost is acknowledged, ms", "", "p10", "median", "p90", "worst")
    click.echo("\n".join([*table(head, rows), *(f"MISSED: {goal}" for goal in missed)]))
    sys.exit(1 if missed else 0)


def measure(kind: str, draws: int, seed: int) -> dict[str, list[float]]:
    """Return the seconds of each pair of ends; all pairs of one draw run at the same time."""
    rng = random.Random(f"{seed} {kind}")
    seen: dict[str, list[float]] = {pair: [] for pair in PAIRS}
    with ExitStack() as cleanup:
        taps = [LinuxEnd(side, f"labtcp{os.getpid() % 100_000}-{number}") for number, side in enumerate((0, 1, 1, 0))]
        for tap in taps:
            cleanup.callback(tap.close)
        for _ in range(draws):
            script, luck = SCRIPTS[kind](rng), rng.getrandbits(32)
            lanes = [Lane(ends, script, luck) for ends in pairs(taps, luck)]
            for lane in lanes:
                lane.ends[1].listen(script.buffer)
                to = tables.host_address(1, 1 if isinstance(lane.ends[1], HostEnd) else 0)
                lane.ends[0].send(to, script.octets, script.pace)
            run(lanes, LIMIT)
            for pair, lane in zip(PAIRS, lanes, strict=True):
                seconds = lane.mended_after if script.lost or script.dark else lane.done_after
                seen[pair].append(LIMIT if seconds is None or lane.done_after is None else seconds)
            for tap in taps:
                tap.forget()
    return seen


def pairs(taps: Sequence[LinuxEnd], seed: int) -> Iterator[tuple[End, End]]:
    """Return the ends of each pair, sender first."""
    yield taps[0], taps[1]
    yield HostEnd(0, seed), taps[2]
    yield taps[3], HostEnd(1, seed)


def spread(values: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the 10th percentile, the median, the 90th and the worst."""
    cuts = quantiles(values, n=10, method="inclusive") if len(values) > 1 else [values[0]] * 9
    return cuts[0], median(values), cuts[-1], max(values)


main()
