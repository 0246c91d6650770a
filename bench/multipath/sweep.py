"""Two to eight paths of many kinds, at random and at the corners: which share of what they can carry TCP gets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.figures import Line, Panel
from bench.multipath.draws import DRAWS, QUICK_DRAWS
from bench.multipath.experiment import MOST_BUFFER, Outcome, Setup, megabits
from bench.multipath.network import HEADERS
from bench.multipath.parallel import run_each
from bench.multipath.path import Route
from bench.multipath.report import Goal, Result, share, shares_of
from bench.shim6.report import table
from bench.spread import headed
from wayname_lab.virtual.clock import MILLISECOND, SECOND

DELAYS = (1, 200)  # milliseconds
RATES = (1e6, 1e9)
PATHS = (2, 3, 5, 8)
# A session's packets have 1492 octets at most, so that 8 are left for the header that another path would put on.
SIZES = ((1250,), (1250, 600), (1492, 1250, 300))
# Bits, of the points at random, so that all of them take a minute; corners have more.
MOST_UNDER_WAY = 8 * 10_000_000
# Mbit/s and milliseconds. A window has at most 64 MiB, so that two paths of 1000 Mbit/s and 200 ms are out of reach.
CORNERS = (
    ((1000, 1), (1, 1)),
    ((1000, 1), (1, 200)),
    ((1, 1), (1000, 200)),
    ((1000, 200), (1, 1)),
    ((1000, 1), (1000, 100)),
    ((1, 1), (1, 200)),
    ((1000, 1),) * 8,
    ((1, 200),) * 8,
)
# Shown, too, with a receiver's edge that does not schedule: acknowledgements come back by the first path.
ONE_SIDED_CORNER = ((1, 1), (1000, 200))
QUICK_CORNERS = (((1, 1), (1, 200)),)
# So many packets a run, or so many seconds: fast paths are measured for less time. Never less than a round trip.
MOST_PACKETS = 10_000
MOST_SECONDS = 8.0
# Of the slowest path: until a SYN is answered, the first packets are, and the whole window is under way.
WARM_UP_ROUND_TRIPS = 3
BAD = 90.0


@dataclass(frozen=True, slots=True)
class Point:
    """Paths, and what became of them."""

    setup: Setup
    outcome: Outcome

    @property
    def reached(self) -> float:
        """What it reached, in percent of the limit."""
        return 100 * self.outcome.steady_goodput / self.outcome.steady_limit(self.setup)

    @property
    def paths(self) -> str:
        """The paths as people read them."""
        return " ".join(f"{route.rate / 1e6:.3g}@{route.delay / MILLISECOND:.0f}" for route in self.setup.routes)

    @property
    def sizes(self) -> str:
        """The sizes of packets as people read them."""
        return "/".join(map(str, self.setup.packet_bytes))


def drawn(paths: int, rng: random.Random) -> Setup:
    """Return paths whose rates and delays are even on a logarithmic scale. The fastest sets the run's scale."""
    while True:
        widest = RATES[0] * (RATES[1] / RATES[0]) ** rng.random()
        routes = [
            (
                max(RATES[0], widest * 10 ** -rng.random()),
                round(DELAYS[0] * (DELAYS[1] / DELAYS[0]) ** rng.random()) * MILLISECOND,
            )
            for _ in range(paths)
        ]
        if under_way(routes) <= MOST_UNDER_WAY:
            return setup(routes, rng.choice(SIZES))


def at_corner(corner: Sequence[tuple[float, int]]) -> Setup:
    """Return paths of so many Mbit/s and milliseconds, with packets of one size."""
    return setup([(rate * 1e6, delay * MILLISECOND) for rate, delay in corner], SIZES[0])


def under_way(routes: Sequence[tuple[float, int]]) -> float:
    """Return the bits that are under way by all paths when the slowest has its round trip."""
    return sum(rate for rate, _ in routes) * 2 * max(delay for _, delay in routes) / SECOND


def setup(routes: Sequence[tuple[float, int]], sizes: Sequence[int]) -> Setup:
    """Return a run over these paths, with a window of twice what is under way, and queues that take all of it."""
    total = sum(rate for rate, _ in routes)
    round_trip = 2 * max(delay for _, delay in routes) / SECOND
    packet = sum(sizes) / len(sizes) * 8
    window = max(100, round(2 * under_way(routes) / packet)) // len(sizes) + 10
    window = min(window, MOST_BUFFER // (max(sizes) - HEADERS))
    warm_up = WARM_UP_ROUND_TRIPS * round_trip
    return Setup(
        [Route(rate, delay, 2 * window * len(sizes)) for rate, delay in routes],
        seconds=warm_up + max(min(MOST_SECONDS, MOST_PACKETS * packet / total), round_trip),
        warm_up=warm_up,
        window=window,
        packet_bytes=sizes,
        congestion="none",
        both_scheduled=True,
    )


def run_all(quick: bool, seed: int) -> Result:
    """Run points for each number of paths, and the corners."""
    rng = random.Random(seed)
    of_each = QUICK_DRAWS if quick else DRAWS
    setups = [drawn(paths, rng) for paths in PATHS for _ in range(of_each)]
    corners = [at_corner(corner) for corner in (QUICK_CORNERS if quick else CORNERS)]
    if not quick:
        corners.append(replace(at_corner(ONE_SIDED_CORNER), both_scheduled=False))
    wanted = setups + corners
    every = [Point(one, outcome) for one, outcome in zip(wanted, run_each(wanted), strict=True)]
    points, at_corners = every[: len(setups)], every[len(setups) :]
    spreads = {paths: shares_of([one.reached for one in points if len(one.setup.routes) == paths]) for paths in PATHS}
    text = table(("paths", *headed("% of the limit")), [(paths, *each.cells(1)) for paths, each in spreads.items()])
    text.append(f"{of_each} draws for each number of paths, seed {seed}")
    bad = [point for point in points if point.reached < BAD]
    head = ("paths", "sizes", "goodput", "limit", "of limit", "reordered", "again", "back by", "Mbit/s@ms")
    if bad:
        text += ["", "drawn, below 90 % of the limit", *table(head, [_row(point) for point in bad])]
    text += ["", "corners, one run each", *table(head, [_row(point) for point in at_corners])]
    goals = [Goal.of_nine_draws_in_ten("drawn paths, of the limit", [one.reached for one in points], BAD)]
    two_sided = [point for point in at_corners if point.setup.both_scheduled]
    good = sum(point.reached >= BAD for point in two_sided)
    told = f"{good} of {len(two_sided)} corners reach 90 % of their limit; all wanted"
    goals.append(Goal(told, good == len(two_sided)))
    shown = [
        Line(
            f"packets of {'/'.join(map(str, sizes))}",
            [(len(one.setup.routes), one.reached) for one in every if one.setup.packet_bytes == sizes],
            scattered=True,
        )
        for sizes in SIZES
    ]
    panel = Panel("Rates of 1 to 1000 Mbit/s, delays of 1 to 200 ms", "paths", "% of the limit", shown)
    data = [{"paths": point.paths, "sizes": point.sizes, "reached": point.reached} for point in every]
    return Result("multipath-sweep", data, text, goals, (panel,))


def _row(point: Point) -> Sequence[object]:
    outcome = point.outcome
    limit = outcome.steady_limit(point.setup)
    return (
        len(point.setup.routes),
        point.sizes,
        megabits(outcome.steady_goodput),
        megabits(limit),
        share(outcome.steady_goodput, limit),
        outcome.reordered,
        outcome.retransmissions,
        "all paths" if point.setup.both_scheduled else "path 1",
        point.paths,
    )
