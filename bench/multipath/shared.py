"""Fairness: a scheduled connection over two paths, and an ordinary one that shares the first of them."""

from __future__ import annotations

from dataclasses import asdict, replace

from bench.multipath import disturbed
from bench.multipath.experiment import Outcome, Setup, megabits
from bench.multipath.ideal import DELAY
from bench.multipath.network import HEADERS
from bench.multipath.parallel import run_each
from bench.multipath.path import Route
from bench.multipath.report import Goal, Result, share
from bench.shim6.report import table
from wayname.p4_constants import ScheduleFeedback

RATE = 5e6
QUEUE = 50
WINDOW = 100
PACKET = 1250
FEEDBACK = disturbed.FEEDBACK
# Of what an ordinary connection gets beside another ordinary one.
GOAL = 0.9


def run_all(quick: bool, seed: int) -> Result:
    """Run the ordinary connection alone, beside another ordinary one, and beside a scheduled one."""
    seconds = disturbed.QUICK_SECONDS if quick else 3 * disturbed.SECONDS
    routes = [Route(RATE, DELAY, QUEUE)] * 2
    alone = Setup(routes, paths=(0,), seconds=seconds, window=WINDOW, packet_bytes=(PACKET,), ordinary=1, seed=seed)
    beside = replace(alone, packet_bytes=(PACKET, PACKET), ordinary=2)
    setups = {"alone": alone, "beside another ordinary one": beside}
    for name, schedule in FEEDBACK.items():
        setup = replace(beside, paths=(0, 1), ordinary=1, schedule=schedule)
        setups[_beside(name)] = setup
    outcomes = dict(zip(setups, run_each(setups.values()), strict=True))
    rows = [(name, *_row(outcome)) for name, outcome in outcomes.items()]
    text = table(("ordinary connection", "it gets", "the other", "together", "retransmitted", "dropped"), rows)
    fair = outcomes["beside another ordinary one"].goodputs[-1]
    goals = [
        Goal(f"{name}: {share(outcome.goodputs[-1], fair)} of what it gets beside its like; 90 % wanted", met)
        for name, outcome in outcomes.items()
        if "scheduled" in name
        for met in [outcome.goodputs[-1] >= GOAL * fair]
    ]
    both = len(routes) * RATE * (PACKET - HEADERS) / PACKET
    # Fixed parameters do not know of the other connection: only feedback that follows can tell what both can carry.
    for name in (
        _beside(feedback) for feedback, schedule in FEEDBACK.items() if schedule.feedback & ScheduleFeedback.FOLLOW
    ):
        reached = outcomes[name].goodput
        told = f"{name}: {share(reached, both)} of what both paths can carry; 90 % wanted"
        goals.append(Goal(told, reached >= GOAL * both))
    return Result("multipath-fairness", {name: asdict(outcome) for name, outcome in outcomes.items()}, text, goals)


def _beside(feedback: str) -> str:
    return f"beside a scheduled one, feedback: {feedback}"


def _row(outcome: Outcome) -> tuple[str, str, str, int, int]:
    other = outcome.goodputs[0] if len(outcome.goodputs) > 1 else 0.0
    return (
        megabits(outcome.goodputs[-1]),
        megabits(other),
        megabits(outcome.goodput),
        outcome.retransmissions,
        outcome.dropped,
    )
