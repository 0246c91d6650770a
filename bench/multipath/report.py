"""What an experiment comes to, and how its goals are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.figures import Bars, Line, Panel
from bench.spread import HEADS, Spread

MEGA = 1e6


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that was to be reached, with the figures that say whether it was."""

    text: str
    met: bool

    def __str__(self) -> str:
        return f"{'met' if self.met else 'MISSED'}: {self.text}"

    @classmethod
    def of_nine_draws_in_ten(cls, what: str, shares: Sequence[float], wanted: float) -> Goal:
        """Want a share of something in nine draws of ten."""
        spread = shares_of(shares)
        return cls(f"{what}: {told(spread)}; {wanted:.4g} % wanted in nine draws of ten", spread.tenth >= wanted)


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


def percent(parts: Sequence[float], wholes: Sequence[float]) -> list[float]:
    """Return each draw's part in percent of its whole."""
    return [100 * part / whole for part, whole in zip(parts, wholes, strict=True)]


def shares_of(shares: Sequence[float]) -> Spread:
    """Sum up draws of which the least is the worst."""
    return Spread.of(shares, least_is_worst=True)


def rates_of(rates: Sequence[float]) -> Spread:
    """Sum up draws of rates, in Mbit/s."""
    return shares_of([rate / MEGA for rate in rates])


def told(spread: Spread) -> str:
    """Return the spread of shares in words."""
    named = zip(HEADS, spread.cells(2), strict=True)
    return ", ".join(f"{name}{' of draws' if '%' in name else ''}: {value} %" for name, value in named)


def counted(numbers: Sequence[float]) -> str:
    """Return the median of what was counted, and the worst."""
    spread = Spread.of(numbers)
    return f"{spread.median:.0f} ({spread.worst:.0f})"


def bars_of(name: str, spreads: Sequence[Spread]) -> Bars:
    """Draw medians, with the 10th and 90th percentiles as bounds."""
    return Bars(name, [each.median for each in spreads], [(each.tenth, each.ninetieth) for each in spreads])


def line_of(name: str, points: Sequence[tuple[float, Spread]]) -> Line:
    """Draw medians, with the 10th and 90th percentiles as bounds."""
    bounds = [(each.tenth, each.ninetieth) for _, each in points]
    return Line(name, [(x, each.median) for x, each in points], bounds)


def drawn(draws: int, seed: int) -> str:
    """Return the line that says of how many draws figures are."""
    return f"{draws} draws, seed {seed}"


def summary(goals: Mapping[str, Sequence[Goal]]) -> list[str]:
    """Return how many goals of each experiment were met, and what was missed."""
    lines = [f"{name}: {sum(goal.met for goal in some)} of {len(some)} goals met" for name, some in goals.items()]
    return lines + [f"{name}, {goal}" for name, some in goals.items() for goal in some if not goal.met]
