"""Figure 9 and Table II: three paths that others use too for a while, with congestion avoidance and without.

The paper says when the others begin and how fast they are. A draw moves each of them, and takes paths near the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from bench.figures import Bars, Line, Panel
from bench.multipath.draws import Draw, near
from bench.multipath.experiment import Outcome, Setup
from bench.multipath.ideal import DELAY
from bench.multipath.network import HEADERS
from bench.multipath.parallel import run_each
from bench.multipath.path import BIN, CrossTraffic, Route, capacity_left
from bench.multipath.policies import NO_FEEDBACK, Schedule
from bench.multipath.report import Goal, Result, bars_of, counted, drawn, percent, rates_of, shares_of, told
from bench.shim6.report import table
from bench.spread import headed
from wayname.p4_constants import ScheduleFeedback
from wayname_lab.virtual.clock import SECOND

RATES = (2e6, 4e6, 5e6)
QUEUE = 50  # ns-2's own
ROUTES = tuple(Route(rate, DELAY, QUEUE) for rate in RATES)
CROSS = (CrossTraffic(0, 1.0, 2.0, 4e6), CrossTraffic(1, 3.0, 5.0, 3e6), CrossTraffic(2, 3.5, 6.0, 2e6))
MOST_MOVED = 0.5  # seconds, sooner or later
SECONDS = 10.0
PACKET = 1250
# Percent of the limit: at the median, and of nine draws in ten.
GOAL, GOAL_OF_TENTH = 95.0, 93.0
PAPER = {"none": 5.9, "marks and closing": 7.6}
BEST = "and duplicates held back"
TOLERANCE, PROBE_INTERVAL, HOLD = 0.12, 1.0, 0.06  # seconds
# What else the most feedback is tried with: probes more often, another tolerance, and a scheduler that is told how much
# a queue holds.
PROBE_INTERVALS = (0.2, PROBE_INTERVAL)
TOLERANCES = (0.06, TOLERANCE)
FEEDBACK = {
    name: Schedule(feedback=feedback, tolerance=TOLERANCE, probe_interval=PROBE_INTERVAL, hold=HOLD)
    for name, feedback in {
        "none": NO_FEEDBACK,
        "marks": ScheduleFeedback.FOLLOW,
        "closing": ScheduleFeedback.CLOSE,
        "marks and closing": ScheduleFeedback.FOLLOW | ScheduleFeedback.CLOSE,
        BEST: ScheduleFeedback.FOLLOW | ScheduleFeedback.CLOSE | ScheduleFeedback.HOLD,
    }.items()
}


def setup(draw: Draw) -> Setup:
    """Return a draw's three paths with its cross traffic."""
    rng = draw.rng
    moved = [(one, rng.uniform(-MOST_MOVED, MOST_MOVED)) for one in CROSS]
    cross = [replace(one, begin=one.begin + by, end=one.end + by) for one, by in moved]
    return Setup(draw.routes, seconds=SECONDS, cross=cross, seed=draw.seed)


def limit(setup: Setup) -> float:
    """Return the goodput that fits beside the cross traffic: what it leaves, without the headers of TCP and IPv6."""
    return capacity_left(setup.routes, setup.cross, SECONDS) / SECONDS * (PACKET - HEADERS) / PACKET


def neighbours(setups: Sequence[Setup]) -> list[str]:
    """Return the share of the limit that most feedback reaches with parameters near those of the figure."""
    ways = [
        replace(FEEDBACK[BEST], tolerance=tolerance, probe_interval=probe_interval, queued=queued)
        for queued, probe_interval, tolerance in product((0, PACKET), PROBE_INTERVALS, TOLERANCES)
    ]
    outcomes = iter(run_each(replace(one, schedule=way) for way in ways for one in setups))
    rows: list[Sequence[object]] = []
    for way in ways:
        shares = percent([next(outcomes).goodput for _ in setups], list(map(limit, setups)))
        told_of = "told" if way.queued else "not told"
        rows.append((told_of, f"{way.probe_interval:g}", f"{way.tolerance:g}", *shares_of(shares).cells(1)))
    head = ("queues are", "probes every, s", "tolerance, s", *headed(f"{BEST}, % of the limit"))
    return table(head, rows)


def run_all(quick: bool, seed: int) -> Result:
    """Run with each kind of feedback."""
    setups = [setup(draw) for draw in near(ROUTES, quick, seed)]
    limits = list(map(limit, setups))
    outcomes = iter(run_each(replace(one, schedule=way) for way in FEEDBACK.values() for one in setups))
    seen = {name: [next(outcomes) for _ in setups] for name in FEEDBACK}
    goodputs = {name: [outcome.goodput for outcome in of_draws] for name, of_draws in seen.items()}
    rows = [
        (
            name,
            f"{rates_of(goodputs[name]).median:.2f}",
            *shares_of(percent(goodputs[name], limits)).cells(1),
            counted([outcome.retransmissions for outcome in of_draws]),
            counted([outcome.reordered for outcome in of_draws]),
            counted([outcome.dropped for outcome in of_draws]),
            PAPER.get(name, ""),
        )
        for name, of_draws in seen.items()
    ]
    head = ("congestion avoidance", "goodput: median", *headed("% of the limit"))
    text = table((*head, "retransmitted: median (worst)", "reordered", "dropped", "paper: goodput"), rows)
    most = rates_of(limits)
    text.append(f"{drawn(len(setups), seed)}; the limit is {most.median:.2f} Mbit/s at the median")
    text += ["", *neighbours(setups)]
    reached = shares_of(percent(goodputs[BEST], limits))
    goals = (
        Goal(f"cross traffic, of the limit: {told(reached)}; 95 % wanted at the median", reached.median >= GOAL),
        Goal(f"cross traffic: {reached.tenth:.2f} % in nine draws of ten; 93 % wanted", reached.tenth >= GOAL_OF_TENTH),
    )
    data = {
        "draws": [
            {"paths": [(route.rate, route.delay) for route in one.routes], "begin": [each.begin for each in one.cross]}
            for one in setups
        ],
        "limit": limits,
        "paper": PAPER,
        "goodput": goodputs,
    }
    return Result("multipath-figure-9", data, text, goals, _panels(seen, goodputs, limits))


def _panels(seen: dict[str, list[Outcome]], goodputs: dict[str, list[float]], limits: Sequence[float]) -> list[Panel]:
    panels = []
    for name, paper in zip(("none", BEST), PAPER.values(), strict=True):
        middle = _middle(seen[name])
        lines = (
            *_by_path(middle),
            Line("together", _together(middle), marks=False, steps=True),
            Line("paper's goodput", ((0, paper), (SECONDS, paper)), of_paper=True),
        )
        title = f"Sending rate in the middle draw, congestion avoidance: {name} (paper: figure 9)"
        panels.append(Panel(title, "seconds", "Mbit/s", lines))
    bars = (
        bars_of("measured", [rates_of(each) for each in goodputs.values()]),
        bars_of("limit", [rates_of(limits)] * len(goodputs)),
        Bars("paper", [PAPER.get(name) for name in goodputs], of_paper=True),
    )
    title = "Cross traffic, by congestion avoidance; 10th to 90th percentile"
    return [*panels, Panel(title, "", "goodput in Mbit/s", bars, list(goodputs))]


def _middle(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the draw whose goodput is in the middle."""
    return sorted(outcomes, key=lambda outcome: outcome.goodput)[len(outcomes) // 2]


def _by_path(outcome: Outcome) -> list[Line]:
    return [
        Line(f"path of {rate / 1e6:g} Mbit/s", _points(sending), marks=False, steps=True)
        for rate, sending in zip(RATES, outcome.sending, strict=True)
    ]


def _together(outcome: Outcome) -> list[tuple[float, float]]:
    return _points([sum(rates) for rates in zip(*outcome.sending, strict=True)])


def _points(rates: Sequence[float]) -> list[tuple[float, float]]:
    return [(number * BIN / SECOND, rate / 1e6) for number, rate in enumerate(rates)]
