"""Paths that die, degrade, flap, or are not what the scheduler believes; receivers and senders of other habits.

Three paths of 2, 4 and 5 Mbit/s as in Table I. The limit of a run is what its paths can carry, without headers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from bench.multipath import crossed
from bench.multipath.crossed import RATES
from bench.multipath.experiment import Outcome, Setup, megabits
from bench.multipath.ideal import DELAY, WINDOW
from bench.multipath.network import HEADERS
from bench.multipath.parallel import run_each
from bench.multipath.path import Route
from bench.multipath.policies import Schedule
from bench.multipath.report import Goal, Result, share
from bench.shim6.report import table
from wayname_lab.virtual.clock import MILLISECOND

ROUTES = tuple(Route(rate, DELAY, WINDOW) for rate in RATES)
PACKET = 1250
SECONDS, QUICK_SECONDS = 10.0, 3.0
# When the disturbance begins, as a part of the run; and when a flapping path changes, in seconds.
BEGIN = 0.3
FLAP = 0.5
STEPS = 10
FEEDBACK = {"fixed": crossed.FEEDBACK["none"]} | {
    name: crossed.FEEDBACK[name] for name in ("marks", "marks and closing", crossed.BEST)
}
# The one that is compared with the limit.
MOST_FEEDBACK = crossed.BEST
GOAL = 0.9
Disturbance = tuple[Setup, float]


def disturbances(seconds: float, seed: int) -> dict[str, Disturbance]:
    """Return each with the bits that its paths can carry."""
    plain = Setup(ROUTES, seconds=seconds, seed=seed)
    most = sum(RATES) * seconds
    begin = BEGIN * seconds
    dead = RATES[2] * (seconds - begin)
    steps = [begin + step * (seconds - begin) / STEPS for step in range(STEPS)]
    slower = [replace(ROUTES[2], rate=RATES[2] * (1 - 0.8 * (step + 1) / STEPS)) for step in range(STEPS)]
    lost = sum((RATES[2] - route.rate) * (seconds - begin) / STEPS for route in slower)
    flaps = [(begin + 2 * FLAP * number, begin + 2 * FLAP * number + FLAP, 2) for number in range(round(seconds))]
    gone = sum(RATES[2] * max(0.0, min(end, seconds) - at) for at, end, _ in flaps if at < seconds)
    later, sooner = ([*ROUTES[:2], replace(ROUTES[2], delay=DELAY + change * MILLISECOND)] for change in (30, -15))
    faster = [*ROUTES[:2], replace(ROUTES[2], rate=1.5 * RATES[2])]
    dying = replace(plain, cuts=[(begin, seconds + 1, 2)])
    degrading = replace(plain, changes=[(at, 2, route) for at, route in zip(steps, slower, strict=True)])
    return {
        "nothing": (plain, most),
        "a path dies": (dying, most - dead),
        "a path dies, no SACK": (replace(dying, sack=False), most - dead),
        "a path degrades slowly": (degrading, most - lost),
        "a path degrades slowly, no SACK": (replace(degrading, sack=False), most - lost),
        "a path flaps": (replace(plain, cuts=flaps), most - gone),
        "a delay believed 30 ms longer": (replace(plain, schedule=Schedule(believed=later)), most),
        "a delay believed 15 ms shorter": (replace(plain, schedule=Schedule(believed=sooner)), most),
        "a rate believed half as much again": (replace(plain, schedule=Schedule(believed=faster)), most),
        "the receiver delays acknowledgements": (replace(plain, delayed_ack=True), most),
        "cubic": (replace(plain, congestion="cubic"), most),
        "both edges schedule": (replace(plain, both_scheduled=True), most),
        "both edges schedule and send": (
            replace(plain, both_scheduled=True, both_send=True),
            # Each packet's acknowledgement goes by the paths of the other direction.
            most * PACKET / (PACKET + HEADERS),
        ),
        "packets of 1250, 600 and 200 octets": (replace(plain, packet_bytes=(PACKET, 600, 200), window=60), most),
    }


def run_all(quick: bool, seed: int) -> Result:
    """Run each over each path alone, and over all of them with feedback and without."""
    cases = disturbances(QUICK_SECONDS if quick else SECONDS, seed)
    setups = [
        way
        for setup, _ in cases.values()
        for way in (
            *(replace(setup, paths=(path,)) for path in range(len(ROUTES))),
            *(replace(setup, schedule=replace(fed, believed=setup.schedule.believed)) for fed in FEEDBACK.values()),
        )
    ]
    outcomes = iter(run_each(setups))
    rows: list[Sequence[object]] = []
    data: dict[str, object] = {}
    goals: list[Goal] = []
    for name, (setup, bits) in cases.items():
        best = max((next(outcomes) for _ in ROUTES), key=lambda outcome: outcome.goodput)
        seen = {feedback: next(outcomes) for feedback in FEEDBACK}
        limit = seen[MOST_FEEDBACK].limit(setup, bits)
        measures: dict[str, Callable[[Outcome], float]] = {name: lambda outcome: outcome.goodput}
        if setup.both_send:
            measures[f"{name}, the other way"] = lambda outcome: outcome.backward
        for direction, measure in measures.items():
            reached = measure(seen[MOST_FEEDBACK])
            others = (megabits(measure(outcome)) for outcome in (best, *seen.values()))
            last = seen[MOST_FEEDBACK]
            rows.append(
                (direction, *others, megabits(limit), share(reached, limit), last.retransmissions, last.reordered)
            )
            told = f"{direction}: {share(reached, limit)} of the limit with all feedback; 90 % wanted"
            goals.append(Goal(told, reached >= GOAL * limit))
        data[name] = {"limit": limit, "best path": asdict(best)} | {way: asdict(one) for way, one in seen.items()}
    head = ("goodput in Mbit/s", "best path", *FEEDBACK, "limit", "of limit", "retransmitted", "reordered")
    return Result("multipath-disturbances", data, table(head, rows), goals)
