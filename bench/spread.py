"""How figures of many draws are told: median, 10th and 90th percentile, and the worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True, slots=True)
class Spread:
    """What some draws came to."""

    draws: int
    median: float
    tenth: float
    ninetieth: float
    worst: float

    @classmethod
    def of(cls, values: Sequence[float], *, least_is_worst: bool = False) -> Spread:
        """Sum up some draws; the worst is the greatest, or the least."""
        deciles = quantiles(values, n=10, method="inclusive") if len(values) > 1 else [values[0]] * 9
        worst = min(values) if least_is_worst else max(values)
        return cls(len(values), median(values), deciles[0], deciles[-1], worst)

    def cells(self, digits: int = 3) -> tuple[str, str, str, str]:
        """Return the median, the 10th and 90th percentile and the worst, for a table."""
        median, tenth, ninetieth, worst = (
            f"{value:.{digits}f}" for value in (self.median, self.tenth, self.ninetieth, self.worst)
        )
        return median, tenth, ninetieth, worst
