"""How figures of many draws are told: median, 10th and 90th percentile, and the worst; of very many also the 99th."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

HEADS = ("median", "10 %", "90 %", "worst")
HEADS_OF_MANY = (*HEADS[:-1], "99 %", HEADS[-1])


def headed(what: str, heads: Sequence[str] = HEADS) -> tuple[str, ...]:
    """Return the heads of such columns, of which the first says what they are of."""
    return f"{what}: {heads[0]}", *heads[1:]


@dataclass(frozen=True, slots=True)
class Spread:
    """What some draws came to."""

    draws: int
    median: float
    tenth: float
    ninetieth: float
    ninety_ninth: float
    worst: float

    @classmethod
    def of(cls, values: Sequence[float], *, least_is_worst: bool = False) -> Spread:
        """Sum up some draws; the worst is the greatest, or the least."""
        cuts = quantiles(values, n=100, method="inclusive") if len(values) > 1 else [values[0]] * 99
        worst = min(values) if least_is_worst else max(values)
        return cls(len(values), median(values), cuts[9], cuts[89], cuts[98], worst)

    def cells(self, digits: int = 3) -> tuple[str, ...]:
        """Return what `HEADS` names, for a table."""
        return tuple(f"{value:.{digits}f}" for value in (self.median, self.tenth, self.ninetieth, self.worst))

    def cells_of_many(self, digits: int = 3) -> tuple[str, ...]:
        """Return what `HEADS_OF_MANY` names."""
        *cells, worst = self.cells(digits)
        return (*cells, f"{self.ninety_ninth:.{digits}f}", worst)
