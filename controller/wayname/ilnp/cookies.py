"""Nonces that a responder gives out and keeps nothing of: a keyed hash of who asked for what.

Each period of time has a secret. A nonce lives for one period at least and for two at most, and makes one session only.
So a request costs the time of a hash and no memory.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from dataclasses import dataclass

from wayname.ilnp.vectors import Vector

PERIOD = 32.0
SECRET_OCTETS = 32


@dataclass(frozen=True, slots=True)
class Asked:
    """What a nonce answers for: it serves nobody else, and from nowhere else."""

    local: Vector
    peer: Vector
    peer_nonce: bytes

    def encode(self) -> bytes:
        """Return octets that nothing else that was asked has."""
        return self.local.address.packed + self.peer.address.packed + self.peer_nonce


class Cookies:
    """Makes nonces, and knows its own again as long as they live."""

    def __init__(self, rng: random.Random, most_spent: int) -> None:
        self._rng = rng
        self._most_spent = most_spent
        self._secrets: dict[int, bytes] = {}
        self._spent: dict[bytes, int] = {}

    def make(self, asked: Asked, now: float) -> bytes:
        """Return the nonce to answer with; the same for the same question within a period."""
        period = self._turn_to(now)
        if period not in self._secrets:
            self._secrets[period] = self._rng.randbytes(SECRET_OCTETS)
        return self._sign(asked, period)

    def is_ours(self, asked: Asked, nonce: bytes, now: float) -> bool:
        """Tell whether we gave out a nonce not long ago, to the very peer."""
        self._turn_to(now)
        return any(hmac.compare_digest(self._sign(asked, period), nonce) for period in self._secrets)

    def is_spent(self, asked: Asked, nonce: bytes) -> bool:
        """Tell whether a nonce made a session already."""
        return asked.encode() + nonce in self._spent

    def has_room(self, now: float) -> bool:
        """Tell whether one more may be spent; else too many sessions were made in a short time."""
        self._turn_to(now)
        return len(self._spent) < self._most_spent

    def spend(self, asked: Asked, nonce: bytes, now: float) -> None:
        """Take note that a nonce made a session."""
        self._spent[asked.encode() + nonce] = self._turn_to(now)

    def _turn_to(self, now: float) -> int:
        """Forget what is too old; return the period that it is now."""
        period = int(now // PERIOD)
        if self._secrets.keys() - {period, period - 1}:
            self._secrets = {one: secret for one, secret in self._secrets.items() if one >= period - 1}
        # It may be spent in the period after its own, and is refused for its age after that one.
        while self._spent and next(iter(self._spent.values())) < period - 1:
            del self._spent[next(iter(self._spent))]
        return period

    def _sign(self, asked: Asked, period: int) -> bytes:
        nonce = hmac.digest(self._secrets[period], asked.encode(), hashlib.sha256)[: len(asked.peer_nonce)]
        # Zero stands for no nonce.
        return nonce if any(nonce) else nonce[:-1] + b"\x01"
