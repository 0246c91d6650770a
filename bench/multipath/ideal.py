"""Figures 5 and 7 and Table I: paths that lose nothing and do not change, against the sum of what each carries alone.

As in the paper: 10 ms on each of a path's two links, packets of 1250 octets, a window of 100 packets, 10 s. Queues hold
a whole window, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

from bench.figures import Bars, Line, Panel
from bench.multipath.experiment import Outcome, Setup, megabits
from bench.multipath.parallel import run_each
from bench.multipath.path import Route
from bench.multipath.report import Goal, Result, share
from bench.shim6.report import table
from wayname_lab.virtual.clock import MILLISECOND

DELAY = 2 * 10 * MILLISECOND
WINDOW = 100
GOAL = 0.995
RATES = (0, 2, 4, 6, 8, 10)
QUICK_RATES = (0, 5, 10)
PAPER_MOST = 19.32
PAPER_TABLE = {(2,): 1.91, (4,): 3.75, (5,): 4.68, (2, 4, 5): 10.27}
SECONDS, QUICK_SECONDS = 10.0, 4.0


class Ideal:
    """Runs over ideal paths, each set of rates once; rates in Mbit/s."""

    def __init__(self, quick: bool, seed: int) -> None:
        self.rates = QUICK_RATES if quick else RATES
        self._seconds = QUICK_SECONDS if quick else SECONDS
        self._seed = seed
        self._outcomes: dict[tuple[int, ...], Outcome] = {}

    def over(self, *rates: int) -> Outcome | None:
        """Return what paths of these rates carry together; those of rate 0 are not there."""
        there = _there(rates)
        if there and there not in self._outcomes:
            self.prepare([there])
        return self._outcomes.get(there)

    def prepare(self, points: Sequence[tuple[int, ...]]) -> None:
        """Run these, and each of their paths alone, side by side."""
        alone = {(rate,) for point in points for rate in point}
        wanted = sorted({_there(point) for point in (*points, *alone)} - {()} - self._outcomes.keys())
        setups = [
            Setup(
                [Route(rate * 1e6, DELAY, WINDOW) for rate in there],
                seconds=self._seconds,
                window=WINDOW,
                seed=self._seed,
            )
            for there in wanted
        ]
        self._outcomes |= zip(wanted, run_each(setups), strict=True)

    def goodput(self, *rates: int) -> float:
        """Return their goodput in bit/s."""
        outcome = self.over(*rates)
        return outcome.goodput if outcome else 0.0

    def alone(self, *rates: int) -> float:
        """Return the sum of what each carries alone."""
        return sum(self.goodput(rate) for rate in rates)

    def steady_goodput(self, *rates: int) -> float:
        """Return their goodput without the first second in bit/s."""
        outcome = self.over(*rates)
        return outcome.steady_goodput if outcome else 0.0

    def goals(self, name: str, points: Sequence[tuple[int, ...]]) -> list[Goal]:
        """Compare the worst of these points with what is wanted."""
        whole = self._goal(name, points, self.goodput)
        later = self._goal(f"{name}, after the first second", points, self.steady_goodput)
        reordered = [(point, outcome.reordered) for point in points if (outcome := self.over(*point))]
        most = max(reordered, key=lambda each: each[1])
        arrived = (
            f"{name}: at most {most[1]} segments of a run arrived out of order, with {most[0]} Mbit/s; none wanted"
        )
        return [whole, later, Goal(arrived, most[1] == 0)]

    def _goal(self, name: str, points: Sequence[tuple[int, ...]], measure: Callable[..., float]) -> Goal:
        def sides(point: tuple[int, ...]) -> tuple[float, float]:
            return measure(*point), sum(measure(rate) for rate in point)

        worst = min(points, key=lambda point: sides(point)[0] / sides(point)[1])
        together, alone = sides(worst)
        sums = f"{megabits(together)} of {megabits(alone)} Mbit/s"
        text = f"{name}: the least share is {share(together, alone)} ({sums}) with {worst} Mbit/s; 99.5 % wanted"
        return Goal(text, together >= GOAL * alone)


def figure_5(ideal: Ideal) -> Result:
    """Two paths of 0 to 10 Mbit/s each."""
    pairs = [(one, two) for one in ideal.rates for two in ideal.rates]
    ideal.prepare(pairs)
    rows = [(f"path 1: {one}", *(megabits(ideal.goodput(one, two)) for two in ideal.rates)) for one in ideal.rates]
    goals = ideal.goals("two ideal paths", [pair for pair in pairs if all(pair)])
    lines = [
        Line(f"path 1 with {one} Mbit/s", [(two, ideal.goodput(one, two) / 1e6) for two in ideal.rates])
        for one in ideal.rates
    ]
    paper = Line("paper, stated: 10 and 10 Mbit/s", ((0, PAPER_MOST), (10, PAPER_MOST)), of_paper=True)
    text = ["goodput in Mbit/s", *table(("", *(f"path 2: {two}" for two in ideal.rates)), rows)]
    text.append(f"10 and 10 Mbit/s: {megabits(ideal.goodput(10, 10))}; the paper's packets: {PAPER_MOST}")
    data = {"goodput": [(one, two, ideal.goodput(one, two)) for one, two in pairs], "paper": {"10 and 10": PAPER_MOST}}
    panel = Panel("Two ideal paths (paper: figure 5)", "Mbit/s of path 2", "goodput in Mbit/s", (*lines, paper))
    return Result("multipath-figure-5", data, text, goals, (panel,))


def figure_7(ideal: Ideal) -> Result:
    """A third path beside one of 4 and one of 5 Mbit/s."""
    points = [(4, 5, rate) for rate in ideal.rates]
    ideal.prepare(points)
    rows = [
        (point[2], megabits(ideal.goodput(*point)), megabits(ideal.alone(*point)), share(*_both(ideal, point)))
        for point in points
    ]
    text = table(("path 3, Mbit/s", "goodput", "sum of each alone", "share"), rows)
    more = ideal.goodput(4, 5, 10) / ideal.goodput(4, 5)
    text.append(f"10 Mbit/s more make it {more:.2f} times as much; the paper says more than double")
    seen = Line("three paths", [(point[2], ideal.goodput(*point) / 1e6) for point in points])
    two = ideal.goodput(4, 5) / 1e6
    without = Line("without path 3", ((0, two), (10, two)), marks=False)
    paper = Line("paper, stated: more than doubled by 10 Mbit/s", ((0, 2 * two), (10, 2 * two)), of_paper=True)
    title = "A third path beside 4 and 5 Mbit/s (paper: figure 7)"
    panel = Panel(title, "Mbit/s of path 3", "goodput in Mbit/s", (seen, without, paper))
    goals = ideal.goals("a third path", points[1:])
    return Result("multipath-figure-7", {"goodput": [(*p, ideal.goodput(*p)) for p in points]}, text, goals, (panel,))


def table_1(ideal: Ideal) -> Result:
    """Paths of 2, 4 and 5 Mbit/s, alone and together."""
    sets = list(PAPER_TABLE)
    ideal.prepare(sets)
    rows: list[Sequence[object]] = [
        (
            " and ".join(map(str, rates)),
            megabits(ideal.goodput(*rates)),
            megabits(ideal.steady_goodput(*rates)),
            f"{PAPER_TABLE[rates]:.2f}",
            outcome.retransmissions,
            outcome.reordered,
        )
        for rates in sets
        if (outcome := ideal.over(*rates))
    ]
    rows.insert(
        3, ("sum", megabits(ideal.alone(2, 4, 5)), megabits(sum(map(ideal.steady_goodput, (2, 4, 5)))), "10.34", "", "")
    )
    text = table(("Mbit/s", "goodput", "after 1 s", "paper", "retransmitted", "reordered"), rows)
    data = {" and ".join(map(str, rates)): asdict(outcome) for rates in sets if (outcome := ideal.over(*rates))}
    names = [" and ".join(map(str, rates)) for rates in sets]
    bars = (
        Bars("measured", [ideal.goodput(*rates) / 1e6 for rates in sets]),
        Bars("paper", list(PAPER_TABLE.values()), of_paper=True),
    )
    panel = Panel("Three ideal paths (paper: table I)", "Mbit/s", "goodput in Mbit/s", bars, names)
    return Result("multipath-table-1", data, text, ideal.goals("three ideal paths", [(2, 4, 5)]), (panel,))


def _there(rates: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(rate for rate in rates if rate))


def _both(ideal: Ideal, point: tuple[int, ...]) -> tuple[float, float]:
    return ideal.goodput(*point), ideal.alone(*point)
