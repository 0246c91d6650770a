"""Nonces that a responder gives out and keeps nothing of: a keyed hash of who asked for what.

Each period of time has a secret. A nonce lives for one period at least and for two at most, and makes one session only.
So a request costs the time of a hash and no memory.
"""

from __future__ import annotations

import hmac
import random
from dataclasses import dataclass, field
from hashlib import blake2b

from wayname.ilnp.vectors import Vector
from wayname.secrets_by_period import SecretsByPeriod

PERIOD = 32.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a nonce answers for: it serves nobody else, and from nowhere else."""

    local: Vector
    peer: Vector
    peer_nonce: bytes = field(repr=False)

    def encode(self) -> bytes:
        """Return octets that nothing else that was asked has."""
        return self.local.address.packed + self.peer.address.packed + self.peer_nonce


class Cookies:
    """Makes nonces, and knows its own again as long as they live."""

    def __init__(self, rng: random.Random, most_spent: int, root: bytes | None = None) -> None:
        self._secrets = SecretsByPeriod(rng, PERIOD, root)
        self._most_spent = most_spent

    def make(self, asked: Asked, now: float) -> bytes:
        """Return the nonce to answer with; the same for the same question within a period."""
        _, secret = self._secrets.current(now)
        return _sign(asked, secret)

    def is_ours(self, asked: Asked, nonce: bytes, now: float) -> bool:
        """Tell whether we gave out a nonce not long ago, to the very peer."""
        return any(hmac.compare_digest(_sign(asked, secret), nonce) for secret in self._secrets.known(now).values())

    def is_spent(self, asked: Asked, nonce: bytes) -> bool:
        """Tell whether a nonce made a session already."""
        return self._secrets.is_spent(asked.encode() + nonce)

    def has_room(self, now: float) -> bool:
        """Tell whether one more may be spent; else too many sessions were made in a short time."""
        return self._secrets.count_spent(now) < self._most_spent

    def spend(self, asked: Asked, nonce: bytes, now: float) -> None:
        """Take note that a nonce made a session."""
        self._secrets.spend(asked.encode() + nonce, now)


def _sign(asked: Asked, secret: bytes) -> bytes:
    nonce = blake2b(asked.encode(), key=secret, digest_size=len(asked.peer_nonce)).digest()
    # Zero stands for no nonce.
    return nonce if any(nonce) else nonce[:-1] + b"\x01"
