"""Fairness: a scheduled connection over two paths, and an ordinary one that shares the first of them.

A draw moves when each begins, and takes paths near those of the scene.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench.multipath import disturbed
from bench.multipath.draws import Draw, near
from bench.multipath.experiment import Outcome, Setup
from bench.multipath.ideal import DELAY
from bench.multipath.network import HEADERS
from bench.multipath.parallel import run_each
from bench.multipath.path import Route
from bench.multipath.report import Goal, Result, counted, drawn, percent, rates_of
from bench.shim6.report import table
from bench.spread import headed
from wayname.p4_constants import ScheduleFeedback

RATE = 5e6
QUEUE = 50
ROUTES = (Route(RATE, DELAY, QUEUE),) * 2
WINDOW = 100
PACKET = 1250
SECONDS, QUICK_SECONDS = 15.0, 4.0
LATEST_BEGIN = 0.2
FEEDBACK = disturbed.FEEDBACK
# Percent of what an ordinary connection gets beside another ordinary one, and of what both paths can carry.
GOAL = 90.0
ALONE, FAIR = "alone", "beside another ordinary one"


def scenes(draw: Draw, seconds: float) -> dict[str, Setup]:
    """Return the ordinary connection alone, beside another ordinary one, and beside a scheduled one."""
    rng = draw.rng
    begins = (rng.uniform(0, LATEST_BEGIN), rng.uniform(0, LATEST_BEGIN))
    beside = Setup(
        draw.routes,
        paths=(0,),
        seconds=seconds,
        window=WINDOW,
        packet_bytes=(PACKET, PACKET),
        begins=begins,
        ordinary=2,
        seed=draw.seed,
    )
    alone = replace(beside, packet_bytes=(PACKET,), begins=begins[1:], ordinary=1)
    fed = {
        _beside(name): replace(beside, paths=(0, 1), ordinary=1, schedule=schedule)
        for name, schedule in FEEDBACK.items()
    }
    return {ALONE: alone, FAIR: beside} | fed


def run_all(quick: bool, seed: int) -> Result:
    """Run each scene in each draw."""
    draws = [scenes(draw, QUICK_SECONDS if quick else SECONDS) for draw in near(ROUTES, quick, seed)]
    outcomes = iter(run_each(setup for draw in draws for setup in draw.values()))
    seen = [dict(zip(draw, outcomes, strict=False)) for draw in draws]
    by_scene = {name: [one[name] for one in seen] for name in draws[0]}
    ordinary = {name: [outcome.goodputs[-1] for outcome in of_draws] for name, of_draws in by_scene.items()}
    together = {name: [outcome.goodput for outcome in of_draws] for name, of_draws in by_scene.items()}
    goals = [
        Goal.of_nine_draws_in_ten(f"{name}: of what it gets beside its like", percent(got, ordinary[FAIR]), GOAL)
        for name, got in ordinary.items()
        if name not in (ALONE, FAIR)
    ]
    both = [
        sum(route.rate for route in setup.routes) * (PACKET - HEADERS) / PACKET
        for draw in draws
        for setup in [draw[FAIR]]
    ]
    # Fixed parameters do not know of the other connection: only feedback that follows can tell what both can carry.
    goals += [
        Goal.of_nine_draws_in_ten(f"{name}: of what both paths can carry", percent(together[name], both), GOAL)
        for name in (_beside(way) for way, schedule in FEEDBACK.items() if schedule.feedback & ScheduleFeedback.FOLLOW)
    ]
    rows = [(name, *_row(of_draws)) for name, of_draws in by_scene.items()]
    head = ("ordinary connection", *headed("Mbit/s it gets"), "the other: median", "together")
    text = table((*head, "retransmitted: median (worst)", "dropped"), rows)
    data = {"ordinary": ordinary, "together": together}
    return Result("multipath-sender-fairness", data, [*text, drawn(len(draws), seed)], goals)


def _beside(feedback: str) -> str:
    return f"beside a scheduled one, feedback: {feedback}"


def _row(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    others = [outcome.goodputs[0] if len(outcome.goodputs) > 1 else 0.0 for outcome in outcomes]
    return (
        *rates_of([outcome.goodputs[-1] for outcome in outcomes]).cells(2),
        f"{rates_of(others).median:.2f}",
        f"{rates_of([outcome.goodput for outcome in outcomes]).median:.2f}",
        counted([outcome.retransmissions for outcome in outcomes]),
        counted([outcome.dropped for outcome in outcomes]),
    )
