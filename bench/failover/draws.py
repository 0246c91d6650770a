"""What is drawn for each run: when the link is cut, and how fast and in which pieces the application writes."""

from __future__ import annotations

import random
from dataclasses import dataclass

# Seconds after the connection's beginning: TCP knows its round trip by then.
EARLIEST = 1.5
SLOWEST, FASTEST = 0.5e6, 10e6  # bit/s; the sites' links have 20 Mbit/s
SMALLEST, LARGEST = 400, 1400  # octets written at a time


@dataclass(frozen=True, slots=True)
class Draw:
    """The conditions of a run."""

    moment: float
    pace: float
    octets: int

    @property
    def interval(self) -> float:
        """The seconds from piece to piece."""
        return self.octets * 8 / self.pace


def draws(seed: int, count: int) -> list[Draw]:
    """Draw the conditions of some runs: the same for each way, so that ways are compared by the same cuts."""
    rng = random.Random(seed)
    return [
        Draw(EARLIEST + rng.random(), SLOWEST * (FASTEST / SLOWEST) ** rng.random(), rng.randint(SMALLEST, LARGEST))
        for _ in range(count)
    ]
