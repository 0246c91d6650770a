"""What an experiment comes to, and how its goals are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.figures import Panel


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that was to be reached, with the figures that say whether it was."""

    text: str
    met: bool

    def __str__(self) -> str:
        return f"{'met' if self.met else 'MISSED'}: {self.text}"


@dataclass(frozen=True, slots=True)
class Result:
    """A figure or table: its data, what is drawn of it, the lines to print, its goals."""

    name: str
    data: object
    text: Sequence[str]
    goals: Sequence[Goal] = ()
    panels: Sequence[Panel] = ()


def share(part: float, whole: float) -> str:
    """Return a part in percent."""
    return f"{100 * part / whole:.2f} %" if whole else "-"


def summary(goals: Mapping[str, Sequence[Goal]]) -> list[str]:
    """Return how many goals of each experiment were met, and what was missed."""
    lines = [f"{name}: {sum(goal.met for goal in some)} of {len(some)} goals met" for name, some in goals.items()]
    return lines + [f"{name}, {goal}" for name, some in goals.items() for goal in some if not goal.met]
