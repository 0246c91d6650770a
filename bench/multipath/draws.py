"""What a draw may change of a scene: the paths' rates and delays within a band, and the run's seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bench.multipath.path import Route

DRAWS, QUICK_DRAWS = 30, 3
# By so much of what the scene says.
RATE_BAND, DELAY_BAND = 0.05, 0.25


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of a scene's paths; what else a scene draws it takes from `rng`."""

    routes: Sequence[Route]
    seed: int

    @property
    def rng(self) -> random.Random:
        """Numbers of this draw alone: the same each time that one asks."""
        return random.Random(self.seed)


def near(routes: Sequence[Route], quick: bool, seed: int) -> Iterator[Draw]:
    """Draw paths near these."""
    rng = random.Random(seed)
    for _ in range(QUICK_DRAWS if quick else DRAWS):
        yield Draw([_near(route, rng) for route in routes], rng.getrandbits(32))


def _near(route: Route, rng: random.Random) -> Route:
    rate = route.rate * (1 + rng.uniform(-RATE_BAND, RATE_BAND))
    return replace(route, rate=rate, delay=round(route.delay * (1 + rng.uniform(-DELAY_BAND, DELAY_BAND))))
