"""How busy a responder is: how difficult its puzzles are (RFC 7401, section 4.1.1), and what it does for whom.

Difficulty follows what is dear, exchanges whose puzzle was solved, and not I1s, which anybody can forge: else a flood
of those would shut honest initiators out. R1 is many times as long as I1, and nothing in the protocol makes it shorter:
so the octets by which answers are longer are rationed, and what has none left is not answered.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from wayname.token_buckets import PrefixTokenBuckets, Rate

# Octets.
LONGER, LONGER_IN_ALL = Rate(4096, 16_384), Rate(32_768, 65_536)
LONGER_OF_STRANGERS, LONGER_OF_ALL_STRANGERS = Rate(1024, 4096), Rate(8192, 16_384)
ANSWERS, ANSWERS_IN_ALL = Rate(20, 100), Rate(1000, 2000)
# A try costs a Diffie-Hellman value and a signature or two: in all some hundredths of a processor.
TRIES, TRIES_IN_ALL = Rate(10, 40), Rate(50, 200)
# Of one association: R1s that are read while it is set up, and messages whose MAC is slow (`Rhash.is_slow`).
CHECKS = Rate(20, 40)


@dataclass(slots=True)
class LeakyBucket:
    """What came, less what was worked off meanwhile."""

    level: float = 0.0
    at: float = 0.0

    def drain(self, rate: float, now: float) -> None:
        """Let go what was worked off."""
        self.level = max(0.0, self.level - rate * max(0.0, now - self.at))
        self.at = now

    def may(self, rate: Rate, now: float) -> bool:
        """Tell whether there is room for one more; it counts if so."""
        self.drain(rate.per_second, now)
        if self.level >= rate.burst:
            return False
        self.level += 1
        return True


class PuzzleDifficulty:
    """Rises by one bit for each second's work that waits, and falls as the work is done."""

    def __init__(self, least: int, most: int, exchanges_per_second: float) -> None:
        self._least, self._most, self._rate = least, most, exchanges_per_second
        self._work = LeakyBucket()

    def note(self, now: float) -> None:
        """Take note of an exchange."""
        self._work.drain(self._rate, now)
        self._work.level += 1

    def now(self, now: float) -> int:
        """Return the difficulty of the next puzzle."""
        self._work.drain(self._rate, now)
        return min(self._most, self._least + int(self._work.level / self._rate))


class Limits:
    """What an end does for those of whom nothing is proven, by prefix and in all.

    Whom the policy wants, by the tag and the address that it claims, has buckets of its own: strangers cannot empty
    them. Before a puzzle is solved anybody can claim anything, but then answers go to where that peer is.
    """

    def __init__(self, rng: random.Random) -> None:
        # Answers that are no longer than what they answer.
        self.answers = PrefixTokenBuckets(rng, ANSWERS, ANSWERS_IN_ALL)
        self._longer = {
            True: PrefixTokenBuckets(rng, LONGER, LONGER_IN_ALL),
            False: PrefixTokenBuckets(rng, LONGER_OF_STRANGERS, LONGER_OF_ALL_STRANGERS),
        }
        self._tries = {wanted: PrefixTokenBuckets(rng, TRIES, TRIES_IN_ALL) for wanted in (True, False)}

    def longer(self, wanted: bool) -> PrefixTokenBuckets:
        """Return the buckets of octets by which R1s are longer than the I1s that they answer."""
        return self._longer[wanted]

    def tries(self, wanted: bool) -> PrefixTokenBuckets:
        """Return the buckets of I2s whose puzzle is solved, each of which is dear."""
        return self._tries[wanted]
