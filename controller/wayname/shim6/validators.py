"""What lets a responder keep no state: it signs what it was asked, and checks what comes back (RFC 5533, 7.10.1).

The responder nonce says in which period of time it was given out, and is random otherwise, so that no two validators
are the same. It lives as long as its period's secret does. One that made a context makes no second one (`spend`).
"""

from __future__ import annotations

import hmac
import random
from dataclasses import dataclass, field
from hashlib import blake2b
from ipaddress import IPv6Address

from wayname.secrets_by_period import SecretsByPeriod

VALIDATOR_MIN_LIFETIME = 30.0
VALIDATOR_OCTETS = 16
PERIOD_SHIFT, PERIOD_MASK = 24, 0xFF


@dataclass(frozen=True, slots=True)
class Question:
    """What a validator answers for; that of R1 does not serve for R1bis, nor the other way round."""

    tag: int = field(repr=False)  # the initiator's for R1, the packet's for R1bis
    source: IPv6Address
    destination: IPv6Address
    # R1 only.
    ulids: tuple[IPv6Address, IPv6Address] | None = None
    instance: int = 0

    def encode(self) -> bytes:
        """Return octets that no other question has."""
        octets = self.tag.to_bytes(6) + self.source.packed + self.destination.packed
        if self.ulids is not None:
            octets += self.ulids[0].packed + self.ulids[1].packed + self.instance.to_bytes(4)
        return octets


class Validators:
    """Makes validators, and knows its own again as long as they live."""

    def __init__(self, rng: random.Random, root: bytes | None = None) -> None:
        self._rng = rng
        self._secrets = SecretsByPeriod(rng, VALIDATOR_MIN_LIFETIME, root)

    def make(self, question: Question, now: float) -> tuple[int, bytes]:
        """Return the responder nonce and the validator."""
        period, secret = self._secrets.current(now)
        nonce = (period & PERIOD_MASK) << PERIOD_SHIFT | self._rng.getrandbits(PERIOD_SHIFT)
        return nonce, _sign(question, nonce, secret)

    def is_ours(self, question: Question, nonce: int, validator: bytes, now: float) -> bool:
        """Tell whether we made a validator for this question not long ago."""
        return any(
            hmac.compare_digest(_sign(question, nonce, secret), validator)
            for period, secret in self._secrets.known(now).items()
            if period & PERIOD_MASK == nonce >> PERIOD_SHIFT
        )

    def spend(self, validator: bytes, now: float) -> bool:
        """Take note that a validator made a context; False if it did so before."""
        return self._secrets.spend(validator, now)


def _sign(question: Question, nonce: int, secret: bytes) -> bytes:
    return blake2b(nonce.to_bytes(4) + question.encode(), key=secret, digest_size=VALIDATOR_OCTETS).digest()
