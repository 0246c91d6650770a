"""How busy a responder is: how difficult its puzzles are (RFC 7401, section 4.1.1), and how often it answers where.

Difficulty follows what is dear, exchanges whose puzzle was solved, and not I1s, which anybody can forge: else a flood
of those would shut honest initiators out. Answers to I1s are bounded by address, in memory that does not grow.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from ipaddress import IPv6Address

ADDRESSES = 4096
PREFIX_SHIFT = 64
# R1s a second to addresses of one prefix, and at once after a pause.
R1_RATE = 20.0
R1_BURST = 100.0


@dataclass(slots=True)
class Bucket:
    """What came, less what was worked off meanwhile."""

    level: float = 0.0
    at: float = 0.0

    def drain(self, rate: float, now: float) -> None:
        """Let go what was worked off."""
        self.level = max(0.0, self.level - rate * max(0.0, now - self.at))
        self.at = now


class Difficulty:
    """Rises by one bit for each second's work that waits, and falls as the work is done."""

    def __init__(self, least: int, most: int, exchanges_per_second: float) -> None:
        self._least, self._most, self._rate = least, most, exchanges_per_second
        self._work = Bucket()

    def note(self, now: float) -> None:
        """Take note of an exchange."""
        self._work.drain(self._rate, now)
        self._work.level += 1

    def now(self, now: float) -> int:
        """Return the difficulty of the next puzzle."""
        self._work.drain(self._rate, now)
        return min(self._most, self._least + int(self._work.level / self._rate))


class Answers:
    """Bounds answers to what may be forged, by the prefix that they go to."""

    def __init__(self, rng: random.Random) -> None:
        self._key = rng.getrandbits(64)
        self._buckets = [Bucket() for _ in range(ADDRESSES)]

    def may_go(self, address: IPv6Address, now: float) -> bool:
        """Tell whether one more may go there now; it counts if so."""
        bucket = self._buckets[hash((self._key, int(address) >> PREFIX_SHIFT)) % ADDRESSES]
        bucket.drain(R1_RATE, now)
        if bucket.level >= R1_BURST:
            return False
        bucket.level += 1
        return True
