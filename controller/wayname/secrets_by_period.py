"""Secrets that serve for a period of time each: what lets a responder keep nothing of whom it answered.

Those of this period and of the one before are kept, so what was signed is known again for one period at least and two
at most. What may serve only once is noted for as long.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Mapping

SECRET_OCTETS = 32


class SecretsByPeriod:
    """Gives secrets, and remembers what was spent while they live."""

    def __init__(self, rng: random.Random, seconds: float, root: bytes | None = None) -> None:
        self._rng = rng
        # With a root the secrets are the same for whoever knows it and has the same clock: the next program, too.
        self._root = root
        self._seconds = seconds
        self._secrets: dict[int, bytes] = {}
        self._period: int | None = None
        self._spent: dict[bytes, int] = {}

    def current(self, now: float) -> tuple[int, bytes]:
        """Return the period that it is now, and its secret."""
        period = self._turn_to(now)
        if period not in self._secrets:
            self._secrets[period] = self._make(period)
        return period, self._secrets[period]

    def known(self, now: float) -> Mapping[int, bytes]:
        """Return the secrets that still count, by period."""
        period = self._turn_to(now)
        if self._root is not None:
            self._secrets = {one: self._secrets.get(one) or self._make(one) for one in (period - 1, period)}
        return self._secrets

    def is_spent(self, once: bytes) -> bool:
        """Tell whether something served already."""
        return once in self._spent

    def spend(self, once: bytes, now: float) -> bool:
        """Take note that something served; False if it did so before."""
        period = self._turn_to(now)
        if once in self._spent:
            return False
        self._spent[once] = period
        return True

    def count_spent(self, now: float) -> int:
        """Return of how many things it is known that they served."""
        self._turn_to(now)
        return len(self._spent)

    def _make(self, period: int) -> bytes:
        if self._root is None:
            return self._rng.randbytes(SECRET_OCTETS)
        return hmac.digest(self._root, str(period).encode(), hashlib.sha256)

    def _turn_to(self, now: float) -> int:
        """Forget what is too old; return the period that it is now."""
        period = int(now // self._seconds)
        if period == self._period:
            return period
        self._period = period
        if self._secrets.keys() - {period, period - 1}:
            self._secrets = {one: secret for one, secret in self._secrets.items() if one >= period - 1}
        # It may be spent in the period after its own, and is refused for its age after that one.
        while self._spent and next(iter(self._spent.values())) < period - 1:
            del self._spent[next(iter(self._spent))]
        return period
