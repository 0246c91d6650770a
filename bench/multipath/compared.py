"""Policies beside each other, with one connection and with twelve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from bench.figures import Bars, Panel
from bench.multipath import disturbed
from bench.multipath.experiment import Outcome, Setup, megabits
from bench.multipath.parallel import run_each
from bench.multipath.policies import POLICIES, Schedule
from bench.multipath.report import Goal, Result, share
from bench.shim6.report import table

CONNECTIONS = 12


def scenes(quick: bool, seed: int) -> dict[str, Setup]:
    """Return what each policy is tried with."""
    seconds = disturbed.QUICK_SECONDS if quick else disturbed.SECONDS
    one = Setup(disturbed.ROUTES, seconds=seconds, seed=seed)
    many = replace(one, packet_bytes=(disturbed.PACKET,) * CONNECTIONS, window=20)
    skewed = [replace(route, delay=route.delay * (1 + 2 * number)) for number, route in enumerate(one.routes)]
    return {
        "one connection": one,
        f"{CONNECTIONS} connections": many,
        "one, delays of 20, 60 and 100 ms": replace(one, routes=skewed, window=200),
    }


def run_all(quick: bool, seed: int) -> Result:
    """Run each policy in each scene."""
    outcomes: dict[str, dict[str, Outcome]] = {}
    for scene, setup in scenes(quick, seed).items():
        seen = run_each(replace(setup, schedule=Schedule(policy)) for policy in POLICIES)
        outcomes[scene] = dict(zip(POLICIES, seen, strict=True))
    rows: list[Sequence[object]] = [
        (scene, policy, *outcome.text) for scene, of_scene in outcomes.items() for policy, outcome in of_scene.items()
    ]
    text = table(("", "policy", "goodput", "retransmitted", "reordered", "dropped"), rows)
    goals = []
    for scene, of_scene in outcomes.items():
        first = of_scene["fastest first"].goodput
        best = max(outcome.goodput for outcome in of_scene.values())
        told = f"{scene}: fastest first has {share(first, best)} of the best policy's {megabits(best)} Mbit/s"
        goals.append(Goal(f"{told}; 99 % wanted", first >= 0.99 * best))
    bars = [Bars(policy, [outcomes[scene][policy].goodput / 1e6 for scene in outcomes]) for policy in POLICIES]
    panel = Panel("Policies over 2, 4 and 5 Mbit/s", "", "goodput in Mbit/s", bars, list(outcomes))
    data = {
        scene: {policy: asdict(outcome) for policy, outcome in of_scene.items()} for scene, of_scene in outcomes.items()
    }
    return Result("multipath-policies", data, text, goals, (panel,))
