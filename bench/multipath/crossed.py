"""Figure 9 and Table II: three paths that others use too for a while, with congestion avoidance and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import product

from bench.figures import Bars, Line, Panel
from bench.multipath.experiment import Outcome, Setup, megabits
from bench.multipath.ideal import DELAY
from bench.multipath.network import HEADERS
from bench.multipath.parallel import run_each
from bench.multipath.path import BIN, CrossTraffic, Route, capacity_left
from bench.multipath.policies import NO_FEEDBACK, Schedule
from bench.multipath.report import Goal, Result, share
from bench.shim6.report import table
from wayname.p4_constants import ScheduleFeedback
from wayname_lab.virtual.clock import SECOND

RATES = (2e6, 4e6, 5e6)
QUEUE = 50  # ns-2's own
CROSS = (CrossTraffic(0, 1.0, 2.0, 4e6), CrossTraffic(1, 3.0, 5.0, 3e6), CrossTraffic(2, 3.5, 6.0, 2e6))
SECONDS = 10.0
PACKET = 1250
GOAL = 0.95
PAPER = {"none": 5.9, "marks and closing": 7.6}
BEST = "and duplicates held back"
TOLERANCE, PROBE_INTERVAL, HOLD = 0.12, 1.0, 0.06  # seconds
# What else the most feedback is tried with: others that begin so much later (no whole number of their packets), probes
# more often, other tolerances, and a scheduler that is told how much a queue holds.
LATER = (0.0, 0.037)
PROBE_INTERVALS = (0.2, 0.5, PROBE_INTERVAL)
TOLERANCES = (0.06, 0.09, TOLERANCE, 0.15)
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


def setup(schedule: Schedule, seed: int) -> Setup:
    """Return the paper's three paths with their cross traffic."""
    routes = [Route(rate, DELAY, QUEUE) for rate in RATES]
    return Setup(routes, schedule, seconds=SECONDS, cross=CROSS, seed=seed)


def spread(seed: int) -> list[str]:
    """Return the share of the limit that most feedback reaches with parameters near those of the figure."""
    ways = list(product((False, True), PROBE_INTERVALS, LATER))
    setups = []
    for told, probe_interval, later in ways:
        cross = [replace(one, begin=one.begin + later, end=one.end + later) for one in CROSS]
        for tolerance in TOLERANCES:
            schedule = replace(
                FEEDBACK[BEST], tolerance=tolerance, probe_interval=probe_interval, queued=PACKET if told else 0
            )
            setups.append(replace(setup(schedule, seed), cross=cross))
    shares = iter([outcome.goodput / limit() for outcome in run_each(setups)])
    rows = []
    for told, probe_interval, later in ways:
        found = [next(shares) for _ in TOLERANCES]
        name = "queues are told" if told else "queues are not told"
        rows.append((name, f"{probe_interval:g}", f"{later:g}", *(f"{each:.0%}" for each in found)))
    head = ("tolerance", "probes every", "others later by", *(f"{tolerance:g}" for tolerance in TOLERANCES))
    return table(head, rows)


def limit() -> float:
    """Return the goodput that fits beside the cross traffic: what it leaves, without the headers of TCP and IPv6."""
    routes = [Route(rate, DELAY, QUEUE) for rate in RATES]
    return capacity_left(routes, CROSS, SECONDS) / SECONDS * (PACKET - HEADERS) / PACKET


def run_all(seed: int) -> Result:
    """Run with each kind of feedback."""
    seen = run_each(setup(schedule, seed) for schedule in FEEDBACK.values())
    outcomes = dict(zip(FEEDBACK, seen, strict=True))
    most = limit()
    rows = [
        (name, *outcome.text, share(outcome.goodput, most), PAPER.get(name, "")) for name, outcome in outcomes.items()
    ]
    text = table(
        ("congestion avoidance", "goodput", "retransmitted", "reordered", "dropped", "of limit", "paper"), rows
    )
    text.append(f"the limit is {megabits(most)} Mbit/s: the capacity that the cross traffic leaves, without headers")
    text += ["", f"{BEST}, of the limit; times in seconds", *spread(seed)]
    best = outcomes[BEST].goodput
    wanted = f"cross traffic: {megabits(best)} of {megabits(most)} Mbit/s are {share(best, most)}; 95 % wanted"
    data = {"limit": most, "paper": PAPER, "measured": {name: asdict(outcome) for name, outcome in outcomes.items()}}
    panels = [
        Panel(
            f"Sending rate, congestion avoidance: {name} (paper: figure 9)",
            "seconds",
            "Mbit/s",
            (
                *_by_path(outcomes[name]),
                Line("together", _together(outcomes[name]), marks=False, steps=True),
                Line("paper's goodput", ((0, goodput), (SECONDS, goodput)), of_paper=True),
            ),
        )
        for name, goodput in zip(("none", BEST), PAPER.values(), strict=True)
    ]
    bars = (
        Bars("measured", [outcome.goodput / 1e6 for outcome in outcomes.values()]),
        Bars("limit", [most / 1e6] * len(outcomes)),
        Bars("paper", [PAPER.get(name) for name in outcomes], of_paper=True),
    )
    panels.append(Panel("Cross traffic, by congestion avoidance", "", "goodput in Mbit/s", bars, list(outcomes)))
    return Result("multipath-figure-9", data, text, (Goal(wanted, best >= GOAL * most),), panels)


def _by_path(outcome: Outcome) -> list[Line]:
    return [
        Line(f"path of {rate / 1e6:g} Mbit/s", _points(sending), marks=False, steps=True)
        for rate, sending in zip(RATES, outcome.sending, strict=True)
    ]


def _together(outcome: Outcome) -> list[tuple[float, float]]:
    return _points([sum(rates) for rates in zip(*outcome.sending, strict=True)])


def _points(rates: Sequence[float]) -> list[tuple[float, float]]:
    return [(number * BIN / SECOND, rate / 1e6) for number, rate in enumerate(rates)]
