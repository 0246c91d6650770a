"""Two to eight paths of many kinds, drawn by lot: which share of what they can carry one TCP connection gets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.figures import Line, Panel
from bench.multipath.experiment import Outcome, Setup, megabits, run
from bench.multipath.path import Route
from bench.multipath.report import Goal, Result, share
from bench.shim6.report import table
from wayname_lab.virtual.clock import MILLISECOND, SECOND

DELAYS = (1, 200)  # milliseconds
RATES = (1e6, 1e9)
PATHS = range(2, 9)
POINTS_OF_EACH, QUICK_POINTS_OF_EACH = 4, 1
SIZES = ((1250,), (1250, 600), (1500, 1250, 300))
# So many packets a run, or so many seconds: fast paths are measured for less time. Never less than so many round trips.
MOST_PACKETS = 15_000
MOST_SECONDS = 10.0
ROUND_TRIPS = 4
BAD = 0.9


@dataclass(frozen=True, slots=True)
class Point:
    """Paths, and what became of them."""

    setup: Setup
    limit: float
    outcome: Outcome

    @property
    def reached(self) -> float:
        """The share of the limit."""
        return self.outcome.goodput / self.limit

    @property
    def paths(self) -> str:
        """The paths as people read them."""
        return " ".join(f"{route.rate / 1e6:.3g}@{route.delay / MILLISECOND:.0f}" for route in self.setup.routes)


def drawn(paths: int, rng: random.Random) -> Setup:
    """Return paths whose rates and delays are even on a logarithmic scale. The fastest sets the run's scale."""
    widest = RATES[0] * (RATES[1] / RATES[0]) ** rng.random()
    routes = []
    longest = 0
    for _ in range(paths):
        rate = max(RATES[0], widest * 10 ** -rng.random())
        delay = round(DELAYS[0] * (DELAYS[1] / DELAYS[0]) ** rng.random()) * MILLISECOND
        routes.append((rate, delay))
        longest = max(longest, delay)
    sizes = rng.choice(SIZES)
    total = sum(rate for rate, _ in routes)
    packet = sum(sizes) / len(sizes) * 8
    # What is under way by all paths when the slowest has its round trip, and as much again in queues.
    window = max(100, round(2 * total * (2 * longest / SECOND) / packet)) // len(sizes) + 10
    seconds = max(min(MOST_SECONDS, MOST_PACKETS * packet / total), ROUND_TRIPS * 2 * longest / SECOND)
    return Setup(
        [Route(rate, delay, 2 * window * len(sizes)) for rate, delay in routes],
        seconds=seconds,
        window=window,
        packet_bytes=sizes,
        congestion="none",
    )


def capacity(setup: Setup) -> float:
    """Return the bits that can reach the receiver in the run's time, from the answer to the first SYN on."""
    first = 2 * min(route.delay for route in setup.routes) / SECOND
    return sum(route.rate * max(0.0, setup.seconds - first - route.delay / SECOND) for route in setup.routes)


def run_all(quick: bool, seed: int) -> Result:
    """Run points for each number of paths."""
    rng = random.Random(seed)
    of_each = QUICK_POINTS_OF_EACH if quick else POINTS_OF_EACH
    points = []
    for paths in PATHS:
        for _ in range(of_each):
            setup = drawn(paths, rng)
            outcome = run(setup)
            points.append(Point(setup, outcome.limit(setup, capacity(setup)), outcome))
    rows = [_row(point) for point in points]
    text = table(("paths", "sizes", "goodput", "limit", "of limit", "reordered", "again", "Mbit/s@ms"), rows)
    bad = [point for point in points if point.reached < BAD]
    text += [f"bad corner: {point.paths}: {share(point.outcome.goodput, point.limit)}" for point in bad]
    good = len(points) - len(bad)
    goal = Goal(f"{good} of {len(points)} points reach 90 % of their limit; all wanted", not bad)
    shown = Line("one point", [(len(point.setup.routes), 100 * point.reached) for point in points])
    panel = Panel("Rates of 1 to 1000 Mbit/s, delays of 1 to 200 ms", "paths", "% of the limit", (shown,))
    data = [{"paths": point.paths, "limit": point.limit, "goodput": point.outcome.goodput} for point in points]
    return Result("multipath-sweep", data, text, (goal,), (panel,))


def _row(point: Point) -> Sequence[object]:
    outcome = point.outcome
    return (
        len(point.setup.routes),
        "/".join(map(str, point.setup.packet_bytes)),
        megabits(outcome.goodput),
        megabits(point.limit),
        share(outcome.goodput, point.limit),
        outcome.reordered,
        outcome.retransmissions,
        point.paths,
    )
