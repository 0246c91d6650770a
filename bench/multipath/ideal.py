"""Figures 5 and 7 and Table I: paths that lose nothing and do not change, against the sum of what each carries alone.

As in the paper: 10 ms on each of a path's two links, packets of 1250 octets, a window of 100 packets, 10 s; rates and
delays are drawn near these. Queues hold a whole window, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bench.figures import Bars, Line, Panel
from bench.multipath.draws import Draw, near
from bench.multipath.experiment import Outcome, Setup
from bench.multipath.parallel import run_each
from bench.multipath.path import Route
from bench.multipath.report import Goal, Result, bars_of, counted, drawn, line_of, percent, rates_of, shares_of
from bench.shim6.report import table
from bench.spread import headed
from wayname_lab.virtual.clock import MILLISECOND

DELAY = 2 * 10 * MILLISECOND
WINDOW = 100
GOAL = 99.5
RATES = (0, 5, 10)
MOST_PATHS = 3
PAPER_MOST = 19.32
PAPER_TABLE = {(2, 0, 0): 1.91, (0, 4, 0): 3.75, (0, 0, 5): 4.68, (2, 4, 5): 10.27}
SECONDS, QUICK_SECONDS = 10.0, 4.0
# The rate of each path in Mbit/s; of 0 are those that are not there.
Point = tuple[int, ...]
Measure = Callable[[Outcome], float]


class Ideal:
    """Runs over ideal paths by draws, each set of paths once."""

    def __init__(self, quick: bool, seed: int) -> None:
        self.rates = RATES
        self.seed = seed
        self._seconds = QUICK_SECONDS if quick else SECONDS
        # Of paths of 1 bit/s: a point says the rates.
        self.draws = list(near([Route(1.0, DELAY, WINDOW)] * MOST_PATHS, quick, seed))
        self._outcomes: dict[Point, list[Outcome]] = {}

    def over(self, point: Point) -> list[Outcome]:
        """Return what came of this point's paths together, by draw."""
        if point not in self._outcomes:
            self.prepare([point])
        return self._outcomes[point]

    def prepare(self, points: Iterable[Point]) -> None:
        """Run these, and each of their paths alone, side by side."""
        wanted = sorted({one for point in points for one in (point, *alone(point))} - self._outcomes.keys())
        outcomes = iter(run_each(self._setup(point, draw) for point in wanted for draw in self.draws))
        self._outcomes |= {point: [next(outcomes) for _ in self.draws] for point in wanted}

    def goodputs(self, point: Point) -> list[float]:
        """Return its goodput in each draw in bit/s."""
        return [outcome.goodput for outcome in self.over(point)]

    def sums(self, point: Point, measure: Measure = lambda outcome: outcome.goodput) -> list[float]:
        """Return the sum of what each of its paths carries alone, in each draw."""
        return [sum(map(measure, each)) for each in zip(*map(self.over, alone(point)), strict=True)]

    def shares(self, point: Point, measure: Measure = lambda outcome: outcome.goodput) -> list[float]:
        """Return what it carries in percent of this sum, in each draw."""
        return percent(list(map(measure, self.over(point))), self.sums(point, measure))

    def goals(self, name: str, points: Sequence[Point]) -> list[Goal]:
        """Compare the worst of these points with what is wanted."""
        whole = self._goal(name, points, lambda outcome: outcome.goodput)
        later = self._goal(f"{name}, after the first second", points, lambda outcome: outcome.steady_goodput)
        most = max(outcome.reordered for point in points for outcome in self.over(point))
        arrived = f"{name}: at most {most} segments of a run arrived out of order; none wanted in any draw"
        return [whole, later, Goal(arrived, most == 0)]

    def data(self, points: Iterable[Point]) -> dict[str, object]:
        """Return the draws, and what came of these points in each."""
        drawn_routes = [[(route.rate, route.delay) for route in draw.routes] for draw in self.draws]
        return {"draws": drawn_routes, "goodput": {told_point(point): self.goodputs(point) for point in points}}

    def _goal(self, name: str, points: Sequence[Point], measure: Measure) -> Goal:
        worst = min(points, key=lambda point: shares_of(self.shares(point, measure)).tenth)
        what = f"{name}, of the sum of each alone, least with {told_point(worst)} Mbit/s"
        return Goal.of_nine_draws_in_ten(what, self.shares(worst, measure), GOAL)

    def _setup(self, point: Point, draw: Draw) -> Setup:
        routes = [
            Route(rate * 1e6 * route.rate, route.delay, route.queue)
            for rate, route in zip(point, draw.routes, strict=False)
            if rate
        ]
        return Setup(routes, seconds=self._seconds, window=WINDOW, seed=draw.seed)


def alone(point: Point) -> list[Point]:
    """Return each path of a point by itself."""
    return [tuple(rate if at == place else 0 for at in range(MOST_PATHS)) for place, rate in enumerate(point) if rate]


def told_point(point: Point) -> str:
    """Return the rates of its paths as people read them."""
    return " and ".join(str(rate) for rate in point if rate)


def figure_5(ideal: Ideal) -> Result:
    """Two paths of 0 to 10 Mbit/s each; the slower is the first."""
    points = [(one, two, 0) for one in ideal.rates for two in ideal.rates if one <= two and two]
    ideal.prepare(points)
    rows = [
        (*point[:2], *rates_of(ideal.goodputs(point)).cells(2), *shares_of(ideal.shares(point)).cells(2))
        for point in points
    ]
    head = ("path 1, Mbit/s", "path 2", *headed("goodput"), *headed("% of the sum of each alone"))
    most = (ideal.rates[-1], ideal.rates[-1], 0)
    text = table(head, rows)
    text.append(
        f"10 and 10 Mbit/s: {rates_of(ideal.goodputs(most)).median:.2f} at the median; the paper's packets:"
        f" {PAPER_MOST}; {drawn(len(ideal.draws), ideal.seed)}"
    )
    lines = [
        line_of(
            f"path 1 with {one} Mbit/s",
            [(two, rates_of(ideal.goodputs((*sorted((one, two)), 0)))) for two in ideal.rates if one or two],
        )
        for one in ideal.rates
    ]
    paper = Line("paper, stated: 10 and 10 Mbit/s", ((10, PAPER_MOST),), of_paper=True, scattered=True)
    title = "Two ideal paths (paper: figure 5); 10th to 90th percentile"
    panel = Panel(title, "Mbit/s of path 2", "goodput in Mbit/s", (*lines, paper))
    goals = ideal.goals("two ideal paths", [point for point in points if all(point[:2])])
    data = ideal.data(points) | {"paper": {"10 and 10": PAPER_MOST}}
    return Result("multipath-figure-5", data, text, goals, (panel,))


def figure_7(ideal: Ideal) -> Result:
    """A third path beside one of 4 and one of 5 Mbit/s."""
    points = [(4, 5, rate) for rate in ideal.rates]
    ideal.prepare(points)
    goodputs = {point: rates_of(ideal.goodputs(point)) for point in points}
    rows = [(point[2], *goodputs[point].cells(2), *shares_of(ideal.shares(point)).cells(2)) for point in points]
    text = table(("path 3, Mbit/s", *headed("goodput"), *headed("% of the sum of each alone")), rows)
    more = shares_of([most / two for most, two in zip(*map(ideal.goodputs, (points[-1], points[0])), strict=True)])
    text.append(
        f"10 Mbit/s more make it {more.median:.2f} times as much (worst draw {more.worst:.2f}); the paper says more"
        f" than double; {drawn(len(ideal.draws), ideal.seed)}"
    )
    seen = line_of("three paths", [(point[2], goodputs[point]) for point in points])
    two = goodputs[points[0]].median
    without = Line("without path 3", ((0, two), (10, two)), marks=False)
    paper = Line("paper, stated: more than doubled by 10 Mbit/s", ((0, 2 * two), (10, 2 * two)), of_paper=True)
    title = "A third path beside 4 and 5 Mbit/s (paper: figure 7); 10th to 90th percentile"
    panel = Panel(title, "Mbit/s of path 3", "goodput in Mbit/s", (seen, without, paper))
    return Result("multipath-figure-7", ideal.data(points), text, ideal.goals("a third path", points[1:]), (panel,))


def table_1(ideal: Ideal) -> Result:
    """Paths of 2, 4 and 5 Mbit/s, alone and together."""
    points = list(PAPER_TABLE)
    ideal.prepare(points)
    rows: list[Sequence[object]] = [
        (
            told_point(point),
            *rates_of(ideal.goodputs(point)).cells(2),
            f"{rates_of([outcome.steady_goodput for outcome in ideal.over(point)]).median:.2f}",
            f"{PAPER_TABLE[point]:.2f}",
            counted([outcome.retransmissions for outcome in ideal.over(point)]),
            counted([outcome.reordered for outcome in ideal.over(point)]),
        )
        for point in points
    ]
    every = points[-1]
    steady = rates_of(ideal.sums(every, lambda outcome: outcome.steady_goodput)).median
    rows.insert(3, ("sum", *rates_of(ideal.sums(every)).cells(2), f"{steady:.2f}", "10.34", "", ""))
    head = ("Mbit/s", *headed("goodput"), "median after 1 s", "paper", "retransmitted: median (worst)", "reordered")
    text = [*table(head, rows), drawn(len(ideal.draws), ideal.seed)]
    names = [told_point(point) for point in points]
    bars = (
        bars_of("measured", [rates_of(ideal.goodputs(point)) for point in points]),
        Bars("paper", list(PAPER_TABLE.values()), of_paper=True),
    )
    title = "Three ideal paths (paper: table I); 10th to 90th percentile"
    panel = Panel(title, "Mbit/s", "goodput in Mbit/s", bars, names)
    goals = ideal.goals("three ideal paths", [every])
    return Result("multipath-table-1", ideal.data(points), text, goals, (panel,))
