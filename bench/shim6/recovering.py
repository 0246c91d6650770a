"""Figure 9: how long an application waits when its path fails, by Tsend, the time after which silence is a failure.

An application of TCP writes at a constant rate. What counts is when it has at the other end what it would have had: how
late the latest octet is, and for how long anything is missing. So a stall after the first packet that arrives again
counts too. With notification the edge sends again what it sent while nobody answered, so that TCP goes on at once;
without, TCP waits for its own timer. What fails lies between the providers (`far.toml`), so that only silence tells. On
the virtual clock with the labs' TCP, and live in namespaces with Linux's where Tsend is short.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier

from bench.failover.draws import Draw, draws
from bench.failover.live import CUT, CUT_FOR, RECEIVER, SENDER, running
from bench.figures import Line, Panel
from bench.lateness import Arrival, Schedule, Wait, waited
from bench.shim6.report import Result, table
from bench.side_by_side import AT_ONCE, side_by_side
from bench.spread import Spread
from wayname_lab.load import load_lab
from wayname_lab.model import Lab, LabShim6
from wayname_lab.namespaces import missing_for_namespaces
from wayname_lab.plan import plan_lab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab

LAB = Path(__file__).with_name("far.toml")
TIMEOUTS = (0.1, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0, 15.0)
LIVE_TIMEOUTS = (0.1, 0.5, 1.0)
RUNS, QUICK_RUNS = 45, 3
NETWORKS = 3  # among which the live runs of a Tsend are divided
QUICK_TIMEOUTS = (0.5,)
BEGIN = 2.0  # when everything has converged
# Between providers the way that is left takes 2 ms longer; a packet on the virtual clock waits for nothing else.
ALLOWED, ALLOWED_LIVE = 0.010, 0.020
PIECE = 1400  # octets that a paced sender writes at a time
SAMPLE = 0.002  # how often the receiver tells what arrived
SLOWEST, FASTEST = 0.2e6, 2e6  # bit/s on the virtual clock
STEP, UNDER_WAY = 0.5, 0.1
GOAL_BEYOND = 0.050
NOTIFIED, ALONE = "with notification", "without"
LIVE = ", Linux's TCP live"
PAPER = (
    "stated: linear with Tsend and not below it when TCP is told, steps when it waits for its own timer; medians of 45,"
    " 5 and 95 %; no single time is stated in the text"
)


def lab_with(timeout: float, hold: bool) -> Lab:
    """Return the lab with this Tsend, with notification or without."""
    return replace(load_lab(LAB), shim6=LabShim6(send_timeout=round(timeout * SECOND), hold=hold))


def converged(timeout: float, hold: bool, seed: int) -> VirtualLab:
    """Return the lab on the virtual clock when everything stands."""
    lab = VirtualLab(lab_with(timeout, hold), seed)
    lab.run_until(BEGIN)
    return lab


def on_the_virtual_clock(lab: VirtualLab, timeout: float, seed: int) -> Wait:
    """Let the way in use fail at a moment of the seed, and return how long the application waited."""
    rng = random.Random(seed)
    pace = round(SLOWEST * (FASTEST / SLOWEST) ** rng.random())
    to = str(lab.plan.hosts[RECEIVER].address.ip)
    lab.command(RECEIVER, "tcp_serve", port=5001, interval=SAMPLE)
    lab.command(SENDER, "tcp_send", to=to, port=5001, pace=pace)
    # The paths that are not in use are proven first.
    failed = 2 * BEGIN + rng.random()
    lab.run_until(failed)
    lab.cut(CUT)
    [connected] = lab.events_of(SENDER, "tcp_connected")
    schedule = Schedule(connected["at_ns"] / SECOND, PIECE, PIECE * 8 / pace)
    lab.run_for(timeout + STEP)
    end = lab.now + 3 * timeout + 10.0
    while lab.now < end and _lacks(lab, schedule):
        lab.run_for(STEP)
    return waited(schedule, _arrivals(lab), failed, ALLOWED)


def _arrivals(lab: VirtualLab) -> list[Arrival]:
    return [Arrival(each["at_ns"] / SECOND, each["total_bytes"]) for each in lab.events_of(RECEIVER, "rate")]


def _lacks(lab: VirtualLab, schedule: Schedule) -> bool:
    """Return whether anything is missing of what was written some time ago: packets are under way for less."""
    return schedule.written(_arrivals(lab)[-1].total) < lab.now - UNDER_WAY


_lab: VirtualLab


def _keep(lab: VirtualLab) -> None:
    global _lab
    _lab = lab


def each_on_the_virtual_clock(timeout: float, hold: bool, seeds: Sequence[int]) -> list[Wait]:
    """Do so with each seed, in a copy of one lab that stands: to start one takes longer than a run."""
    lab = converged(timeout, hold, seeds[0])
    with get_context("fork").Pool(initializer=_keep, initargs=(lab,), maxtasksperchild=1) as pool:
        return pool.map(partial(_in_the_copy, timeout), seeds, chunksize=1)


def _in_the_copy(timeout: float, seed: int) -> Wait:
    return on_the_virtual_clock(_lab, timeout, seed)


@dataclass(frozen=True, slots=True)
class Part:
    """What one network is used for in real time: some draws with a Tsend."""

    timeout: float
    hold: bool
    some: Sequence[Draw]


def live(timeouts: Sequence[float], hold: bool, some: Sequence[Draw]) -> list[Point]:
    """Do the same in real time with Linux's TCP at both ends."""
    parts = [
        Part(timeout, hold, some[start::NETWORKS]) for timeout in timeouts for start in range(min(NETWORKS, len(some)))
    ]
    seen = list(zip(parts, side_by_side(_measured, parts), strict=True))
    return [
        Point.of(timeout, [wait for part, waits in seen if part.timeout == timeout for wait in waits])
        for timeout in timeouts
    ]


def _measured(part: Part, all_started: Barrier) -> list[Wait]:
    return asyncio.run(_measure(part, all_started))


async def _measure(part: Part, all_started: Barrier) -> list[Wait]:
    waits = []
    async with running(plan_lab(lab_with(part.timeout, part.hold))) as network:
        await asyncio.to_thread(all_started.wait)
        for draw in part.some:
            await network.until_steady()
            seen = await network.transfer(draw.moment, draw.moment + CUT_FOR, draw.octets, draw.interval)
            schedule = Schedule(seen.begin, draw.octets, draw.interval)
            waits.append(waited(schedule, seen.arrivals, seen.cut, ALLOWED_LIVE))
    return waits


@dataclass(frozen=True, slots=True)
class Point:
    """What was seen with one Tsend, in seconds."""

    timeout: float
    longest: Spread  # how late the latest octet was
    behind: Spread  # how long anything was missing

    @classmethod
    def of(cls, timeout: float, waits: Sequence[Wait]) -> Point:
        """Sum up some runs."""
        longest, behind = ([getattr(wait, what) for wait in waits] for what in ("longest", "behind"))
        return cls(timeout, Spread.of(longest), Spread.of(behind))

    @property
    def beyond(self) -> float:
        """What nine of ten applications waited at most beyond Tsend."""
        return self.longest.ninetieth - self.timeout


def run(seed: int, quick: bool) -> Result:
    """Measure with and without notification, on the virtual clock and live."""
    runs, timeouts, live_timeouts = (
        (QUICK_RUNS, QUICK_TIMEOUTS, QUICK_TIMEOUTS) if quick else (RUNS, TIMEOUTS, LIVE_TIMEOUTS)
    )
    missing = missing_for_namespaces()
    seen: dict[str, list[Point]] = {}
    for hold, name in ((True, NOTIFIED), (False, ALONE)):
        seeds = range(seed * RUNS, seed * RUNS + runs)
        seen[name] = [Point.of(timeout, each_on_the_virtual_clock(timeout, hold, seeds)) for timeout in timeouts]
        if not missing:
            seen[name + LIVE] = live(live_timeouts, hold, draws(seed, runs))
    return report(seen, runs, missing)


def report(seen: dict[str, list[Point]], runs: int, missing: str) -> Result:
    """Sum up what was seen, by name; `missing` says why Linux's TCP took no part."""
    judged = [(name, point) for name in seen if name.startswith(NOTIFIED) for point in seen[name]]
    missed = [
        f"{name}: nine of ten wait up to {point.beyond * 1e3:.0f} ms beyond Tsend {point.timeout:g} s, more than"
        f" {GOAL_BEYOND * 1e3:.0f} ms"
        for name, point in judged
        if point.beyond > GOAL_BEYOND
    ]
    rows = [
        (
            name,
            f"{point.timeout:g} s",
            *point.longest.cells(),
            f"{point.beyond * 1e3:.0f} ms",
            *point.behind.cells()[::2],
            ("MISSED" if point.beyond > GOAL_BEYOND else "met") if (name, point) in judged else "",
        )
        for name, points in seen.items()
        for point in points
    ]
    head = ("latest octet, s", "Tsend", "median", "10 %", "90 %", "worst", "beyond Tsend", "lacking, median", "90 %")
    text = [f"{runs} runs each, {AT_ONCE} live networks at once", *table((*head, "goal"), rows), ""]
    text.append(f"goal: nine of ten wait at most {GOAL_BEYOND * 1e3:.0f} ms beyond Tsend")
    if missing:
        text.append(f"skipped: Linux's TCP live, since namespaces {missing}")
    data = {"measured": {name: [asdict(point) for point in points] for name, points in seen.items()}, "paper": PAPER}
    return Result("shim6-figure-9", data, _panels(seen), text, missed)


def _panels(seen: dict[str, list[Point]]) -> list[Panel]:
    def lines(names: Sequence[str], most: float) -> list[Line]:
        bound = Line("stated in the paper: no less than Tsend", ((0, 0), (most, most)), of_paper=True)
        return [
            *(
                Line(
                    name,
                    [(point.timeout, point.longest.median) for point in seen[name] if point.timeout <= most],
                    [(point.longest.tenth, point.longest.ninetieth) for point in seen[name] if point.timeout <= most],
                )
                for name in names
            ),
            bound,
        ]

    axes = ("Tsend in seconds", "seconds that the latest octet is late")
    return [
        Panel("Recovery, virtual clock (paper: figure 9)", *axes, lines((NOTIFIED, ALONE), TIMEOUTS[-1])),
        Panel("The same where Tsend is short", *axes, lines(list(seen), 2.0)),
    ]
