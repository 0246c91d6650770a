"""Whether a peer's wish for a session is granted: by count, by rate of the prefix it comes from, by resources.

A policy is asked when no host here began: somebody else asks for a session, or opened TCP to a host here. One socket is
connected and the other is not. Where both are, there is nothing to decide; where none is, nobody asks.
"""

from __future__ import annotations

import hashlib
import random
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from wayname.ilnp.cache import Names
from wayname.ilnp.vectors import HALF_BITS, HALF_OCTETS, Vector, half_text


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """Who wants a session, and how many stand."""

    names: Names
    peer: Vector
    sessions: int


class AdmissionPolicy(Protocol):
    """Grants wishes or does not. It is asked before the answer and once more before the entry is made."""

    def refusal(self, wish: AdmissionRequest, now: float) -> str | None:
        """Return in words why not; None grants it."""

    def granted(self, wish: AdmissionRequest, now: float) -> None:
        """Take note that an entry is made."""


@dataclass(frozen=True, slots=True)
class Count:
    """At most so many sessions; the rest of the cache is for what hosts here ask for."""

    most: int

    def refusal(self, wish: AdmissionRequest, now: float) -> str | None:
        """Return why not."""
        return None if wish.sessions < self.most else f"there are {wish.sessions} sessions, and {self.most} is the most"

    def granted(self, wish: AdmissionRequest, now: float) -> None:
        """Nothing needs to be noted: the cache counts."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Only while a resource is not used up: memory, tables, whatever the caller measures from 0 to 1."""

    used: Callable[[], float]
    most: float = 0.9

    def refusal(self, wish: AdmissionRequest, now: float) -> str | None:
        """Return why not."""
        used = self.used()
        return None if used <= self.most else f"{used:.0%} of the resources are used, and {self.most:.0%} is the most"

    def granted(self, wish: AdmissionRequest, now: float) -> None:
        """Nothing needs to be noted: the caller measures."""


class PrefixRate:
    """So many new sessions a second for each prefix, with a burst; in memory that never grows.

    A prefix has a place by a keyed hash. Two prefixes may have the same one, and then share its rate.
    """

    def __init__(self, rng: random.Random, rate: float, burst: float, bits: int = 48, places: int = 4096) -> None:
        if not 1 <= bits <= HALF_BITS:
            raise ValueError(f"a prefix of {bits} bits; 1 to {HALF_BITS} are part of a locator")
        self._key = rng.randbytes(16)
        self._rate = rate
        self._burst = burst
        self._shift = HALF_BITS - bits
        self._tokens = array("d", [burst]) * places
        self._times = array("d", [0.0]) * places

    def refusal(self, wish: AdmissionRequest, now: float) -> str | None:
        """Return why not."""
        if self._left(self._place(wish), now) >= 1:
            return None
        return f"more than {self._rate:g} new sessions a second from the prefix of {half_text(wish.peer.locator)}"

    def granted(self, wish: AdmissionRequest, now: float) -> None:
        """Take a token."""
        place = self._place(wish)
        self._tokens[place] = self._left(place, now) - 1
        self._times[place] = now

    def _left(self, place: int, now: float) -> float:
        return min(self._burst, self._tokens[place] + (now - self._times[place]) * self._rate)

    def _place(self, wish: AdmissionRequest) -> int:
        prefix = (wish.peer.locator >> self._shift).to_bytes(HALF_OCTETS)
        return int.from_bytes(hashlib.blake2b(prefix, digest_size=8, key=self._key).digest()) % len(self._tokens)
