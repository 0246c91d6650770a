"""What lets a responder keep no state: it signs what it was asked, and checks what comes back (RFC 5533, 7.10.1).

The responder nonce says in which period of time it was given out, and is random otherwise, so that no two validators
are the same. Each period has a secret of its own. The secrets of this period and of the one before are kept, so a
validator lives for one period at least and two at most. One that made a context makes no second one (`spend`).
"""

from __future__ import annotations

import hashlib
import hmac
import random
from dataclasses import dataclass
from ipaddress import IPv6Address

VALIDATOR_MIN_LIFETIME = 30.0
SECRET_OCTETS = 32
VALIDATOR_OCTETS = 16
PERIOD_SHIFT, PERIOD_MASK = 24, 0xFF


@dataclass(frozen=True, slots=True)
class Question:
    """What a validator answers for; that of R1 does not serve for R1bis, nor the other way round."""

    tag: int  # the initiator's for R1, the packet's for R1bis
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

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._secrets: dict[int, bytes] = {}
        self._spent: dict[bytes, int] = {}

    def make(self, question: Question, now: float) -> tuple[int, bytes]:
        """Return the responder nonce and the validator."""
        period = self._turn_to(now)
        if period not in self._secrets:
            self._secrets[period] = self._rng.randbytes(SECRET_OCTETS)
        nonce = (period & PERIOD_MASK) << PERIOD_SHIFT | self._rng.getrandbits(PERIOD_SHIFT)
        return nonce, self._sign(question, nonce, period)

    def is_ours(self, question: Question, nonce: int, validator: bytes, now: float) -> bool:
        """Tell whether we made a validator for this question not long ago."""
        self._turn_to(now)
        return any(
            hmac.compare_digest(self._sign(question, nonce, period), validator)
            for period in self._secrets
            if period & PERIOD_MASK == nonce >> PERIOD_SHIFT
        )

    def spend(self, validator: bytes, now: float) -> bool:
        """Take note that a validator made a context; False if it did so before."""
        period = self._turn_to(now)
        if validator in self._spent:
            return False
        self._spent[validator] = period
        return True

    def _turn_to(self, now: float) -> int:
        """Forget what is too old; return the period that it is now."""
        period = int(now // VALIDATOR_MIN_LIFETIME)
        if self._secrets.keys() - {period, period - 1}:
            self._secrets = {one: secret for one, secret in self._secrets.items() if one >= period - 1}
        # A validator may be spent in the period after its own, and is refused for its age after that one.
        while self._spent and next(iter(self._spent.values())) < period - 1:
            del self._spent[next(iter(self._spent))]
        return period

    def _sign(self, question: Question, nonce: int, period: int) -> bytes:
        return hmac.digest(self._secrets[period], nonce.to_bytes(4) + question.encode(), hashlib.sha256)[
            :VALIDATOR_OCTETS
        ]
