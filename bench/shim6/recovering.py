"""Figure 9: how long an application waits when its path fails, by Tsend, the time after which silence is a failure.

As in the paper: from the last packet that arrives before the failure to the first one after it, of TCP at a constant
rate. With notification the edge sends again what it sent while nobody answered, so that TCP goes on at once; without,
TCP waits for its own timer. What fails lies between the providers (`far.toml`), so that only silence tells. On the
virtual clock, and live over wires where Tsend is short.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.figures import Line, Panel
from bench.shim6.report import Result, table
from wayname_lab.load import load_lab
from wayname_lab.model import Lab, Shim6
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab
from wayname_lab.wires import Wires

LAB = Path(__file__).with_name("far.toml")
CUT = "p-r"
WAY_LEFT = ("a-q", "q-s", "b-s")
SENDER, RECEIVER = "a1", "b1"
TIMEOUTS = (0.1, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0, 15.0)
RUNS = 3
LIVE_TIMEOUTS = (0.02, 0.05, 0.1)
BEGIN = 2.0  # when everything has settled
FAIL = 4.0  # at the earliest
SETTLED = 0.1  # what comes so often again has recovered
BEFORE = 0.05  # what arrives so long before is looked at too
PACE = 1_000_000  # bit/s: a packet every 11 ms
DATA_BYTES = 200  # longer frames carry data
LIVE_INTERVAL = 0.002  # how often the live receiver tells what arrived
GOAL_BEYOND = 0.010
NOTIFIED = "with notification"
PAPER = (
    "stated: linear with Tsend and not below it when TCP is told, steps when it waits for its own timer; medians of 45;"
    " no single time is stated in the text"
)


def lab_with(timeout: float, hold: bool) -> Lab:
    """Return the lab with this Tsend, with notification or without."""
    return replace(load_lab(LAB), shim6=Shim6(send_timeout=round(timeout * SECOND), hold=hold))


def round_trip() -> float:
    """Return the round trip by the way that is left."""
    return 2 * sum(link.quality.delay for link in load_lab(LAB).links if link.name in WAY_LEFT) / SECOND


def recovery(arrivals: Sequence[float], since: float) -> float:
    """Return the longest time without an arrival since a moment shortly before the failure."""
    return max(later - earlier for earlier, later in pairwise(at for at in arrivals if at > since))


def on_the_virtual_clock(timeout: float, hold: bool, seed: int, moment: float) -> float:
    """Let the way in use fail at a moment, and return how long nothing arrives."""
    lab = VirtualLab(lab_with(timeout, hold), seed)
    arrivals: list[float] = []
    link = lab.links[f"b-{RECEIVER}"]
    deliver = link.receivers[RECEIVER]

    def note(frame: bytes) -> None:
        if len(frame) > DATA_BYTES:
            arrivals.append(lab.now)
        deliver(frame)

    link.connect(RECEIVER, note)
    lab.run_until(BEGIN)
    to = str(lab.plan.hosts[RECEIVER].address.ip)
    lab.command(RECEIVER, "tcp_serve", port=5001)
    lab.command(SENDER, "tcp_send", to=to, port=5001, pace=PACE)
    lab.run_until(FAIL + moment)
    lab.cut(CUT)
    lab.run_for(timeout)
    while lab.now < 3 * (FAIL + timeout) and lab.now - arrivals[-1] > SETTLED:
        lab.run_for(SETTLED)
    lab.run_for(SETTLED)
    return recovery(arrivals, FAIL + moment - BEFORE)


async def live(send_timeout: float, hold: bool, moment: float) -> float:
    """Do the same in real time over wires."""
    arrivals: list[float] = []

    def take(host: str, event: dict[str, Any]) -> None:
        if host == RECEIVER and event["event"] == "rate" and event["bytes"]:
            arrivals.append(event["at_ns"] / SECOND)

    plan = plan_lab(lab_with(send_timeout, hold))
    with LabFolder() as folder:
        async with RunningLab(plan, Wires(plan, folder), folder, take) as lab:
            to = str(plan.hosts[RECEIVER].address.ip)
            await lab.stations[RECEIVER].start({"command": "tcp_serve", "port": 5001, "interval": LIVE_INTERVAL})
            await lab.stations[SENDER].start({"command": "tcp_send", "to": to, "port": 5001, "pace": PACE})
            link = next(one for one in plan.lab.links if one.name == CUT)
            await asyncio.sleep(FAIL - BEGIN + moment)
            # The clock of events is that of all processes.
            cut = time.monotonic()
            await lab.set_cut(link, True)
            await asyncio.sleep(2 * send_timeout + (1.5 if hold else 3))
    return recovery(arrivals, cut - BEFORE)


@dataclass(frozen=True, slots=True)
class Point:
    """What was seen with one Tsend."""

    timeout: float
    median: float
    low: float  # 5 %
    high: float  # 95 %

    @classmethod
    def of(cls, timeout: float, waits: list[float]) -> Point:
        """Sum up some runs."""
        cuts = quantiles(waits, n=20, method="inclusive")
        return cls(timeout, median(waits), cuts[0], cuts[-1])


def run(seed: int, full: bool) -> Result:
    """Measure with and without notification on the virtual clock, with it live too, and in full also without."""
    rng = random.Random(seed)
    moments = [rng.random() for _ in range(RUNS)]
    seen: dict[str, list[Point]] = {}
    for hold, name in ((True, NOTIFIED), (False, "without")):
        with ProcessPoolExecutor() as pool:
            runs = {
                timeout: [pool.submit(on_the_virtual_clock, timeout, hold, seed, moment) for moment in moments]
                for timeout in TIMEOUTS
            }
        seen[name] = [Point.of(timeout, [run.result() for run in of]) for timeout, of in runs.items()]
        # Without notification TCP's own timer makes a run long.
        if hold or full:
            seen[f"{name}, live"] = [
                Point.of(timeout, [asyncio.run(live(timeout, hold, moment)) for moment in moments])
                for timeout in LIVE_TIMEOUTS
            ]
    beyond = round_trip() + GOAL_BEYOND
    missed = [
        f"{name}: {(point.median - point.timeout) * 1e3:.0f} ms beyond Tsend {point.timeout:g} s, more than"
        f" {beyond * 1e3:.0f} ms"
        for name in seen
        if name.startswith(NOTIFIED)
        for point in seen[name]
        if point.median - point.timeout > beyond
    ]
    rows = [
        (
            name,
            f"{point.timeout:g} s",
            f"{point.median:.3f} s",
            f"{point.low:.3f} to {point.high:.3f} s",
            f"{(point.median - point.timeout) * 1e3:.0f} ms",
            ("met" if point.median - point.timeout <= beyond else "MISSED") if name.startswith(NOTIFIED) else "",
        )
        for name, points in seen.items()
        for point in points
    ]
    text = table(("", "Tsend", "recovery", "5 to 95 %", "beyond Tsend", "goal"), rows)
    text += [
        "",
        f"goal: no more than a round trip by the way that is left and 10 ms beyond Tsend, {beyond * 1e3:.0f} ms",
    ]
    data = {
        "measured": {name: [asdict(point) for point in points] for name, points in seen.items()},
        "round trip": round_trip(),
        "paper": PAPER,
    }
    return Result("shim6-figure-9", data, _panels(seen), text, missed)


def _panels(seen: dict[str, list[Point]]) -> list[Panel]:
    def lines(names: Sequence[str], most: float) -> list[Line]:
        bound = Line("stated in the paper: no less than Tsend", ((0, 0), (most, most)), of_paper=True)
        return [
            *(
                Line(
                    name,
                    [(point.timeout, point.median) for point in seen[name] if point.timeout <= most],
                    [(point.low, point.high) for point in seen[name] if point.timeout <= most],
                )
                for name in names
            ),
            bound,
        ]

    virtual = (NOTIFIED, "without")
    axes = ("Tsend in seconds", "seconds that nothing arrives")
    return [
        Panel("Recovery, virtual clock (paper: figure 9)", *axes, lines(virtual, TIMEOUTS[-1])),
        Panel("The same where Tsend is short", *axes, lines(list(seen), 2.0)),
    ]
