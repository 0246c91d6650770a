"""Policies beside each other, with one connection and with twelve, over drawn paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench.figures import Panel
from bench.multipath import disturbed
from bench.multipath.draws import Draw, near
from bench.multipath.experiment import Setup
from bench.multipath.parallel import run_each
from bench.multipath.policies import POLICIES, Schedule
from bench.multipath.report import Goal, Result, bars_of, counted, drawn, percent, rates_of
from bench.shim6.report import table
from bench.spread import headed

CONNECTIONS = 12
SECONDS, QUICK_SECONDS = 5.0, 3.0
LATEST_BEGIN = 0.5
# Percent of the best policy.
GOAL = 99.0


def scenes(draw: Draw, seconds: float) -> dict[str, Setup]:
    """Return what each policy is tried with; a draw says when connections begin."""
    rng = draw.rng
    begins = [rng.uniform(0, LATEST_BEGIN) for _ in range(CONNECTIONS)]
    one = Setup(draw.routes, seconds=seconds, seed=draw.seed, begins=begins[:1])
    many = replace(one, packet_bytes=(disturbed.PACKET,) * CONNECTIONS, window=20, begins=begins)
    skewed = [replace(route, delay=route.delay * (1 + 2 * number)) for number, route in enumerate(one.routes)]
    return {
        "one connection": one,
        f"{CONNECTIONS} connections": many,
        "one, delays near 20, 60 and 100 ms": replace(one, routes=skewed, window=200),
    }


def run_all(quick: bool, seed: int) -> Result:
    """Run each policy in each scene."""
    seconds = QUICK_SECONDS if quick else SECONDS
    draws = [scenes(draw, seconds) for draw in near(disturbed.ROUTES, quick, seed)]
    outcomes = iter(
        run_each(
            replace(draw[scene], schedule=Schedule(policy))
            for scene in draws[0]
            for policy in POLICIES
            for draw in draws
        )
    )
    rows: list[Sequence[object]] = []
    goals = []
    goodputs: dict[str, dict[str, list[float]]] = {}
    for scene in draws[0]:
        of_scene = goodputs[scene] = {}
        for policy in POLICIES:
            seen = [next(outcomes) for _ in draws]
            of_scene[policy] = [outcome.goodput for outcome in seen]
            met = ([getattr(one, what) for one in seen] for what in ("retransmissions", "reordered", "dropped"))
            rows.append((scene, policy, *rates_of(of_scene[policy]).cells(2), *map(counted, met)))
        best = [max(each) for each in zip(*of_scene.values(), strict=True)]
        what = f"{scene}: fastest first, of the best policy in each draw"
        goals.append(Goal.of_nine_draws_in_ten(what, percent(of_scene["fastest first"], best), GOAL))
    head = ("", "policy", *headed("goodput"), "retransmitted: median (worst)", "reordered", "dropped")
    text = [*table(head, rows), drawn(len(draws), seed)]
    bars = [bars_of(policy, [rates_of(goodputs[scene][policy]) for scene in goodputs]) for policy in POLICIES]
    title = "Policies over paths near 2, 4 and 5 Mbit/s; 10th to 90th percentile"
    panel = Panel(title, "", "goodput in Mbit/s", bars, list(goodputs))
    return Result("multipath-policies", goodputs, text, goals, (panel,))
