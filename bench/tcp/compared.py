"""How fast the lab hosts' TCP mends losses, beside Linux's, for each kind of loss and each pair of ends."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from bench.multipath import tables
from bench.shim6.report import table
from bench.spread import HEADS, Spread
from bench.tcp.ends import End, HostEnd, LinuxEnd
from bench.tcp.lane import Lane, run
from bench.tcp.scripts import SCRIPTS

PAIRS = ("Linux to Linux", "lab to Linux", "Linux to lab")
LIMIT = 30.0
# The lab host is to be within a fifth of Linux, or within 20 ms.
SHARE, MARGIN = 1.2, 0.020


@dataclass(frozen=True, slots=True)
class Compared:
    """The lines to print, and the goals that were missed."""

    text: Sequence[str]
    missed: Sequence[str]


def compared(seen: Mapping[str, Mapping[str, Sequence[float]]]) -> Compared:
    """Sum up what each pair of ends took, in seconds, by kind of loss."""
    rows, missed = [], []
    for kind, by_pair in seen.items():
        reference = median(by_pair[PAIRS[0]])
        for pair, values in by_pair.items():
            rows.append((kind, pair, len(values), *Spread.of([1000 * value for value in values]).cells(0)))
            if median(values) > max(reference * SHARE, reference + MARGIN):
                missed.append(f"{kind}, {pair}: {1000 * median(values):.0f} ms, Linux takes {1000 * reference:.0f} ms")
    head = ("until all that was lost is acknowledged, ms", "", "draws", *HEADS)
    return Compared(table(head, rows), missed)


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
