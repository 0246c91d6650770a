"""A link of the lab `many-paths` is cut under one connection: for how long does the receiving program get nothing?

Whole edges with their controllers on the virtual clock. Each link in turn, both ways or one of them, at drawn moments.
Schedules go by TCP's acknowledgements (`marks`) or by what the peer's edge reports (`feedback`), with the same draws.
The session's other paths must stay in the schedule of both edges meanwhile.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import product

import finsy as fy
from finsy.p4entity import decode_entity

from bench.multipath.many_paths import SOURCES, many_paths
from bench.multipath.report import Goal, Result
from bench.shim6.report import table
from bench.spread import Spread
from wayname.config.schedules import Source
from wayname_lab.virtual.lab import VirtualLab

SENDER, RECEIVER, EDGE = "a1", "b1", "a"
PORT = 5001
BUFFER = 131072
# Seconds.
BEGIN, SETTLED = 0.5, 2.5
MOST_LATER = 1.0
WATCHED = 3.0
STEP = 0.05
DRAWS, QUICK_DRAWS = 30, 3
GOAL = 0.2


class Way(StrEnum):
    """What a link that is cut loses."""

    BOTH = "both ways"
    DATA = "data"
    ACKS = "acknowledgements"


@dataclass(frozen=True, slots=True)
class Cut:
    """A draw: what schedules go by, the link, what it loses, and when."""

    source: Source
    link: str
    way: Way
    moment: float
    seed: int

    @property
    def loser(self) -> str | None:
        """The end whose frames are lost, None for both."""
        edge, provider = self.link.split("-")
        match self.way:
            case Way.BOTH:
                return None
            case Way.DATA:
                return edge if edge == EDGE else provider
            case Way.ACKS:
                return provider if edge == EDGE else edge


@dataclass(frozen=True, slots=True)
class Silence:
    """What a cut led to: the longest time without an octet, and the fewest paths that either edge had."""

    seconds: float
    paths: int
    octets: int


def cuts(draws: int, seed: int) -> Iterator[Cut]:
    """Draw moments; in each draw every link is cut in every way."""
    rng = random.Random(seed)
    links = [link.name for link in many_paths().links]
    for _ in range(draws):
        moment, run = rng.uniform(0, MOST_LATER), rng.getrandbits(32)
        for link in links:
            for way in Way:
                yield from (Cut(source, link, way, moment, run) for source in SOURCES)


def run(cut: Cut) -> Silence:
    """Let a connection send over all paths, and cut one."""
    lab = VirtualLab(many_paths(cut.source), cut.seed)
    lab.run_until(BEGIN)
    lab.command(RECEIVER, "tcp_serve", port=PORT, interval=STEP)
    to = str(lab.plan.hosts[RECEIVER].address.ip)
    lab.command(SENDER, "tcp_send", to=to, port=PORT, buffer=BUFFER)
    lab.run_until(SETTLED + cut.moment)
    lab.cut(cut.link, cut.loser)
    begun, paths = lab.now, [_paths(lab, edge.name) for edge in lab.plan.lab.edges]
    while lab.now < begun + WATCHED:
        lab.run_for(STEP)
        paths += [_paths(lab, edge.name) for edge in lab.plan.lab.edges]
    rates = [rate for rate in lab.events_of(RECEIVER, "rate") if rate["at_ns"] / 1e9 > begun]
    longest = max(rate["longest_gap_ns"] for rate in rates) / 1e9
    return Silence(longest, min(paths), sum(rate["bytes"] for rate in rates))


def _paths(lab: VirtualLab, edge: str) -> int:
    """Return by how many paths the only session of an edge goes at once."""
    switch = lab.switches[edge]
    shared = (decode_entity(each, switch.schema) for each in switch.entities([fy.P4TableEntry("session_schedules")]))
    slots = [each.action.args["slots"] for each in shared if isinstance(each.action, fy.P4TableAction) and each.match]
    return slots[0].bit_count() if slots else 1


def _by_source(seen: Sequence[tuple[Cut, Silence]]) -> list[str]:
    rows: list[Sequence[object]] = []
    for source in SOURCES:
        mine = [silence for cut, silence in seen if cut.source is source]
        spread = Spread.of([1000 * silence.seconds for silence in mine])
        megabits = Spread.of([silence.octets * 8 / WATCHED / 1e6 for silence in mine])
        rows.append((source, *spread.cells(0), f"{megabits.median:.2f}"))
    return ["", *table(("all cuts", "ms of silence: median", "10 %", "90 %", "worst", "Mbit/s"), rows)]


def run_all(quick: bool, seed: int) -> Result:
    """Cut each link in each way, at drawn moments."""
    drawn = list(cuts(QUICK_DRAWS if quick else DRAWS, seed))
    with ProcessPoolExecutor() as pool:
        seen = list(zip(drawn, pool.map(run, drawn), strict=True))
    rows: list[Sequence[object]] = []
    for link, way, source in product(dict.fromkeys(cut.link for cut in drawn), Way, SOURCES):
        mine = [silence for cut, silence in seen if (cut.link, cut.way, cut.source) == (link, way, source)]
        spread = Spread.of([1000 * silence.seconds for silence in mine])
        megabits = Spread.of([silence.octets * 8 / WATCHED / 1e6 for silence in mine])
        fewest = min(silence.paths for silence in mine)
        rows.append((link, way, source, *spread.cells(0), f"{megabits.median:.2f}", fewest))
    cut, worst = max(seen, key=lambda each: each[1].seconds)
    left = [cut for cut, silence in seen if silence.paths < len(many_paths().providers) - 1]
    at = f"{cut.source}, link {cut.link} loses {cut.way} {SETTLED + cut.moment:.3f} s after the start, seed {cut.seed}"
    goals = [
        Goal(f"the longest silence is {1000 * worst.seconds:.0f} ms ({at}); 200 ms wanted", worst.seconds <= GOAL),
        Goal(f"in {len(left)} of {len(drawn)} cuts paths left the schedule that were not cut; none wanted", not left),
    ]
    head = ("link", "loses", "source", "ms of silence: median", "10 %", "90 %", "worst", "Mbit/s", "fewest paths")
    text = [*table(head, rows), *_by_source(seen)]
    return Result("multipath-silence", [asdict(c) | asdict(s) for c, s in seen], text, goals)
