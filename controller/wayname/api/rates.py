"""How often somebody may do something: a token bucket for each, in memory that does not grow."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from wayname.token_buckets import Rate

MOST_KEYS = 1024


class RateLimiter:
    """Buckets by key, and one for all of them; of very many, the one that was used longest ago is forgotten."""

    def __init__(self, of_one: Rate, of_all: Rate) -> None:
        self._of_one, self._of_all = of_one, of_all
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._all = of_all.burst, 0.0

    def __len__(self) -> int:
        return len(self._buckets)

    def may(self, key: Hashable, now: float) -> bool:
        """Take a token if there is one; tell whether there was."""
        tokens = _left(self._buckets.pop(key, (self._of_one.burst, now)), self._of_one, now)
        tokens_of_all = _left(self._all, self._of_all, now)
        may = tokens >= 1 and tokens_of_all >= 1
        self._buckets[key] = tokens - may, now
        self._all = tokens_of_all - may, now
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        return may


def _left(bucket: tuple[float, float], rate: Rate, now: float) -> float:
    tokens, then = bucket
    return min(rate.burst, tokens + max(0.0, now - then) * rate.per_second)
