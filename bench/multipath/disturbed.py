"""Paths that die, degrade, flap, or are not what the scheduler believes; receivers and senders of other habits.

Three paths near 2, 4 and 5 Mbit/s as in Table I. The limit of a run is what its paths can carry, without headers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bench.multipath import crossed
from bench.multipath.crossed import RATES
from bench.multipath.draws import Draw, near
from bench.multipath.experiment import Outcome, Setup
from bench.multipath.ideal import DELAY, WINDOW
from bench.multipath.network import HEADERS
from bench.multipath.parallel import run_each
from bench.multipath.path import Route
from bench.multipath.policies import Schedule
from bench.multipath.report import Goal, Result, counted, drawn, percent, shares_of
from bench.shim6.report import table
from bench.spread import headed
from wayname_lab.virtual.clock import MILLISECOND

ROUTES = tuple(Route(rate, DELAY, WINDOW) for rate in RATES)
PACKET = 1250
SECONDS, QUICK_SECONDS = 5.0, 3.0
# When the disturbance begins, as a part of the run, and how long a flapping path is there and gone, in seconds.
BEGIN = (0.2, 0.4)
FLAP = (0.25, 1.0)
STEPS = 10
# The path of 2 Mbit/s is the best one in no case.
BEST_PATHS = (1, 2)
FEEDBACK = {name: crossed.FEEDBACK[name] for name in ("none", "marks", crossed.BEST)}
# The one that is compared with the limit.
MOST_FEEDBACK = crossed.BEST
GOAL = 90.0
Disturbance = tuple[Setup, float]


def disturbances(seconds: float, draw: Draw) -> dict[str, Disturbance]:
    """Return each with the bits that its paths can carry."""
    rng = draw.rng
    plain = Setup(draw.routes, seconds=seconds, seed=draw.seed)
    most = sum(route.rate for route in draw.routes) * seconds
    third = draw.routes[2]
    begin, flap = rng.uniform(*BEGIN) * seconds, rng.uniform(*FLAP)
    left = seconds - begin
    steps = [begin + step * left / STEPS for step in range(STEPS)]
    slower = [replace(third, rate=third.rate * (1 - 0.8 * (step + 1) / STEPS)) for step in range(STEPS)]
    lost = sum((third.rate - route.rate) * left / STEPS for route in slower)
    flaps = [(begin + 2 * flap * number, begin + 2 * flap * number + flap, 2) for number in range(int(left / flap))]
    gone = sum(third.rate * max(0.0, min(end, seconds) - at) for at, end, _ in flaps if at < seconds)
    later, sooner = (replace(third, delay=max(0, third.delay + change * MILLISECOND)) for change in (30, -15))
    dying = replace(plain, cuts=[(begin, seconds + 1, 2)])
    degrading = replace(plain, changes=[(at, 2, route) for at, route in zip(steps, slower, strict=True)])

    def believed(route: Route) -> Disturbance:
        return replace(plain, schedule=Schedule(believed=[*draw.routes[:2], route])), most

    return {
        "nothing": (plain, most),
        "a path dies": (dying, most - third.rate * left),
        "a path dies, no SACK": (replace(dying, sack=False), most - third.rate * left),
        "a path degrades slowly": (degrading, most - lost),
        "a path flaps": (replace(plain, cuts=flaps), most - gone),
        "a delay believed 30 ms longer": believed(later),
        "a delay believed 15 ms shorter": believed(sooner),
        "a rate believed half as much again": believed(replace(third, rate=1.5 * third.rate)),
        "the receiver delays acknowledgements": (replace(plain, delayed_ack=True), most),
        "both edges schedule and send": (
            replace(plain, both_scheduled=True, both_send=True),
            # Each packet's acknowledgement goes by the paths of the other direction.
            most * PACKET / (PACKET + HEADERS),
        ),
        "packets of 1250, 600 and 200 octets": (replace(plain, packet_bytes=(PACKET, 600, 200), window=60), most),
    }


def run_all(quick: bool, seed: int) -> Result:
    """Run each over the best paths alone, and over all of them with feedback and without."""
    seconds = QUICK_SECONDS if quick else SECONDS
    draws = [disturbances(seconds, draw) for draw in near(ROUTES, quick, seed)]
    cases = {name: [draw[name] for draw in draws] for name in draws[0]}
    outcomes = iter(run_each(way for case in cases.values() for setup, _ in case for way in _ways(setup)))
    rows: list[Sequence[object]] = []
    data: dict[str, object] = {}
    goals: list[Goal] = []
    for name, case in cases.items():
        seen = [dict(zip((*BEST_PATHS, *FEEDBACK), outcomes, strict=False)) for _ in case]
        last = [outcome[MOST_FEEDBACK] for outcome in seen]
        limits = [one.limit(setup, bits) for one, (setup, bits) in zip(last, case, strict=True)]
        measures: dict[str, Callable[[Outcome], float]] = {name: lambda outcome: outcome.goodput}
        if case[0][0].both_send:
            measures[f"{name}, the other way"] = lambda outcome: outcome.backward
        for direction, measure in measures.items():
            best = percent([max(measure(one[path]) for path in BEST_PATHS) for one in seen], limits)
            shares = {way: percent([measure(one[way]) for one in seen], limits) for way in FEEDBACK}
            others = (best, *(each for way, each in shares.items() if way != MOST_FEEDBACK))
            rows.append(
                (
                    direction,
                    *(f"{shares_of(each).median:.1f}" for each in others),
                    *shares_of(shares[MOST_FEEDBACK]).cells(1),
                    counted([outcome.retransmissions for outcome in last]),
                    counted([outcome.reordered for outcome in last]),
                )
            )
            what = f"{direction}, of the limit with all feedback"
            goals.append(Goal.of_nine_draws_in_ten(what, shares[MOST_FEEDBACK], GOAL))
            data[direction] = {"limit": limits, "best path": best} | shares
    compared = (f"{way}: median" for way in FEEDBACK if way != MOST_FEEDBACK)
    head = ("% of the limit", "best path: median", *compared, *headed("all feedback"))
    text = table((*head, "retransmitted: median (worst)", "reordered"), rows)
    return Result("multipath-disturbances", data, [*text, drawn(len(draws), seed)], goals)


def _ways(setup: Setup) -> list[Setup]:
    alone = [replace(setup, paths=(path,)) for path in BEST_PATHS]
    fed = [replace(setup, schedule=replace(way, believed=setup.schedule.believed)) for way in FEEDBACK.values()]
    return alone + fed
