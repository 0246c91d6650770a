"""What is to be shown of the figures, and whether they show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from bench.encap.points import Mode, Point
from bench.spread import Spread

MOST_OF_A_STEP = 0.03
LEAST_OF_THE_KERNELS_RATE = 1.0
LEAST_OF_BMV2S_RATE = 5.0
LEAST_IN_MEMORY = 1_000_000.0
MOST_ABOVE_PORTS = 250.0  # nanoseconds of processor time
GOAL_SEGMENTS = 3


class Cost(NamedTuple):
    """What a packet of so many octets takes."""

    octets: int
    ns: float


class Step(NamedTuple):
    """How much of the rate is lost from one size to the next, beyond what the octets explain."""

    loss: float
    before: Point
    after: Point

    def __str__(self) -> str:
        return f"{100 * self.loss:.1f} % from {self.before.name} to {self.after.size}"


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal and what was found of it."""

    what: str
    found: str
    met: bool

    def __str__(self) -> str:
        return f"{'met' if self.met else 'MISSED'}: {self.what}: {self.found}"


def summary(goals: Sequence[Goal]) -> list[str]:
    """Return how many goals were met, and those that were missed."""
    missed = [goal for goal in goals if not goal.met]
    return [f"{len(goals) - len(missed)} of {len(goals)} goals met", *map(str, missed)]


def price_of_octet(costs: Sequence[Cost]) -> float:
    """Nanoseconds: the median over neighbouring sizes, so that steps do not pass for the price of octets."""
    slopes = [
        (after.ns - before.ns) / (after.octets - before.octets)
        for before, after in pairwise(costs)
        if after.octets > before.octets
    ]
    return max(0.0, median(slopes)) if slopes else 0.0


def steps(curve: Mapping[Point, Cost]) -> list[Step]:
    """The steps of a curve, in its order."""
    price = price_of_octet(list(curve.values()))
    found = []
    for (before, first), (after, second) in pairwise(curve.items()):
        explained = first.ns + price * max(0, second.octets - first.octets)
        found.append(Step(1 - explained / second.ns, before, after))
    return found


def curves(costs: Mapping[Point, Cost], modes: Iterable[Mode]) -> list[dict[Point, Cost]]:
    """The costs by mode."""
    by_mode = [{point: cost for point, cost in costs.items() if point.mode is mode} for mode in modes]
    return [curve for curve in by_mode if curve]


def largest_steps(costs: Mapping[Point, Cost], modes: Iterable[Mode]) -> list[Step]:
    """The largest step of each mode."""
    return [max(steps(curve), key=lambda step: step.loss) for curve in curves(costs, modes) if len(curve) > 1]


def steps_goal(where: str, found: Sequence[Step]) -> Goal:
    """No step loses more than it may."""
    worst = max(found, key=lambda step: step.loss)
    beyond = [step for step in found if step.loss > MOST_OF_A_STEP]
    what = f"no step over {100 * MOST_OF_A_STEP:.0f} % {where}"
    return Goal(what, f"largest {worst}" + (f"; too large in {len(beyond)} modes" if beyond else ""), not beyond)


def ratio_goal(what: str, ours: Mapping[Point, float], others: Mapping[Point, float], least: float) -> Goal:
    """Everywhere at least so many times the rate of another."""
    ratios = {point: ours[point] / others[point] for point in others if point in ours}
    worst = min(ratios, key=lambda point: ratios[point])
    below = sum(ratio < least for ratio in ratios.values())
    found = f"{ratios[worst]:.2f} to {max(ratios.values()):.2f} times, least at {worst.name}"
    return Goal(what, found + (f"; below at {below} of {len(ratios)}" if below else ""), not below)


def kernel_goals(ours: Mapping[Point, float], kernels: Mapping[Point, float]) -> list[Goal]:
    """Not slower than the kernel everywhere, and with three segments."""
    goals = [ratio_goal("not slower than the kernel", ours, kernels, LEAST_OF_THE_KERNELS_RATE)]
    three = {point: rate for point, rate in kernels.items() if _has_goal_segments(point)}
    if three:
        what = f"not slower than the kernel with {GOAL_SEGMENTS} segments"
        goals.append(ratio_goal(what, ours, three, LEAST_OF_THE_KERNELS_RATE))
    return goals


def ports_goal(switch: Sequence[float], ports: Sequence[float]) -> Goal:
    """The switch's process takes little more for a packet than its ports do alone, in nanoseconds of each draw."""
    above = Spread.of([ours - alone for ours, alone in zip(switch, ports, strict=True)])
    _, tenth, ninetieth, worst = above.cells(0)
    found = f"{above.median:.0f} ns above (10 %: {tenth}, 90 %: {ninetieth}, worst: {worst})"
    what = f"processor time of the ports alone + {MOST_ABOVE_PORTS:.0f} ns"
    return Goal(what, found, above.median <= MOST_ABOVE_PORTS)


def memory_goal(rates: Mapping[Point, float]) -> Goal:
    """A million packets a second with three segments."""
    found = {point: rate for point, rate in rates.items() if _has_goal_segments(point)}
    worst = min(found, key=lambda point: found[point])
    what = f"{LEAST_IN_MEMORY / 1e6:.0f} M packets/s in memory with {GOAL_SEGMENTS} segments"
    return Goal(what, f"at least {found[worst] / 1e6:.2f} M/s ({worst.name})", found[worst] >= LEAST_IN_MEMORY)


def _has_goal_segments(point: Point) -> bool:
    return point.mode is not None and point.mode.panel in "bc" and point.size == GOAL_SEGMENTS


def lengths_goal(ours: Mapping[Point, int], kernels: Mapping[Point, int]) -> Goal:
    """Both make frames of the same length, or the rates say nothing."""
    unlike = [point.name for point, octets in kernels.items() if ours[point] != octets]
    found = f"{len(kernels) - len(unlike)} of {len(kernels)} points" + (f", not {unlike[0]}" if unlike else "")
    return Goal("frames as long as the kernel's", found, not unlike)
