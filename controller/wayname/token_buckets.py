"""Token buckets for what strangers may have done: by the prefix that they come from, and in all.

A site of its own has a /48 (RFC 6177), so whoever has one address has a whole prefix of them. The buckets are in memory
that never grows: a prefix has a place by a keyed hash, so nobody can choose whose place to share, and none is evicted.
"""

from __future__ import annotations

import random
from array import array
from hashlib import blake2b
from ipaddress import IPv6Address
from typing import NamedTuple

PREFIX_BITS = 48
ADDRESS_BITS = 128
PLACES = 4096


class Rate(NamedTuple):
    """Tokens a second, and how many there are after a pause."""

    per_second: float
    burst: float


class PrefixTokenBuckets:
    """Buckets of prefixes, and one for all of them together."""

    def __init__(self, rng: random.Random, of_prefix: Rate, in_all: Rate, places: int = PLACES) -> None:
        self._key = rng.randbytes(16)
        self._rates = of_prefix, in_all
        # The last place is that of all.
        self._tokens = array("d", [of_prefix.burst]) * places + array("d", [in_all.burst])
        self._times = array("d", bytes(8 * (places + 1)))
        self._places = places

    def is_open(self, address: IPv6Address, now: float) -> bool:
        """Whether there are tokens for an address."""
        return self._left(self._places, now) >= 1 and self._left(self._place(address), now) >= 1

    def take(self, address: IPv6Address, now: float, tokens: float = 1.0) -> None:
        """Take tokens; where more are taken than there are, the bucket stays closed until they are paid back."""
        for place in (self._place(address), self._places):
            self._set(place, self._left(place, now) - tokens, now)

    def may(self, address: IPv6Address, now: float) -> bool:
        """Take a token if there is one; tell whether there was."""
        if (of_all := self._left(self._places, now)) < 1:
            return False
        place = self._place(address)
        if (of_prefix := self._left(place, now)) < 1:
            return False
        self._set(self._places, of_all - 1, now)
        self._set(place, of_prefix - 1, now)
        return True

    def _set(self, place: int, tokens: float, now: float) -> None:
        self._tokens[place], self._times[place] = tokens, now

    def _left(self, place: int, now: float) -> float:
        rate = self._rates[place == self._places]
        return min(rate.burst, self._tokens[place] + max(0.0, now - self._times[place]) * rate.per_second)

    def _place(self, address: IPv6Address) -> int:
        prefix = (int(address) >> ADDRESS_BITS - PREFIX_BITS).to_bytes(PREFIX_BITS // 8)
        return int.from_bytes(blake2b(prefix, digest_size=8, key=self._key).digest()) % self._places
