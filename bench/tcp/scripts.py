"""What happens to frames between two ends: the same for all that it happens to."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

MSS = 1428
# The last segment is not full, so that the FIN travels with it at either end.
SHORT = 100
MILLISECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Script:
    """A connection and its bad luck. Segments are counted by what had not been sent before, from 0."""

    octets: int
    delay: int  # each way, in nanoseconds
    pace: int | None = None
    buffer: int = 1 << 20  # of the receiver
    lost: frozenset[int] = frozenset()  # segments whose first transmission is lost
    dark: tuple[int, int] | None = None  # nothing passes from this segment on, for so long
    loss: float = 0.0  # of frames, either way
    late: float = 0.0  # of frames with octets, by half of `delay`


def one(rng: random.Random) -> Script:
    """Lose one segment in the middle."""
    return Script(100 * MSS - SHORT, _delay(rng), lost=frozenset({rng.randrange(20, 80)}))


def burst(rng: random.Random) -> Script:
    """Lose half of what is in flight."""
    first = rng.randrange(30, 60)
    return Script(100 * MSS - SHORT, _delay(rng), lost=frozenset(range(first, first + rng.randrange(8, 16))))


def tail(rng: random.Random) -> Script:
    """Lose the last segments."""
    return Script(60 * MSS - SHORT, _delay(rng), lost=frozenset(range(60 - rng.randrange(1, 4), 60)))


def dark(rng: random.Random) -> Script:
    """Lose everything for a time, both ways."""
    length = round(rng.uniform(0.05, 3.0) * 1000) * MILLISECOND
    return Script(80 * MSS - SHORT, _delay(rng), pace=1_000_000, dark=(rng.randrange(20, 60), length))


def lossy(rng: random.Random) -> Script:
    """Lose frames at random, up to a tenth."""
    return Script(150 * MSS - SHORT, _delay(rng), loss=rng.uniform(0.01, 0.1))


def reordered(rng: random.Random) -> Script:
    """Let frames be overtaken."""
    return Script(150 * MSS - SHORT, _delay(rng), late=rng.uniform(0.01, 0.2))


def tiny(rng: random.Random) -> Script:
    """Give the receiver little room."""
    return Script(30 * MSS - SHORT, _delay(rng), buffer=4096, loss=0.02)


SCRIPTS: dict[str, Callable[[random.Random], Script]] = {
    "one segment lost": one,
    "half a window lost": burst,
    "the tail lost": tail,
    "all lost for 0.05 to 3 s": dark,
    "1 to 10 % lost": lossy,
    "1 to 20 % late": reordered,
    "a window of 4 KiB, 2 % lost": tiny,
}


def _delay(rng: random.Random) -> int:
    return rng.randrange(5, 40) * MILLISECOND
