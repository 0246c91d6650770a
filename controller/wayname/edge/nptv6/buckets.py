"""Which provider serves which bucket of flows."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from wayname.p4_constants import HASH_BUCKETS_OF_POLICY

NONE = 0
Weights = tuple[tuple[int, int], ...]  # numbers of providers, and their weights


# Who is dealt a provider first. A bucket is bits of a CRC, and those of connections that begin one after another differ
# in few bits (Linux gives them every second port): dealt by number, two providers would have all of them or none.
_DEALT = sorted(range(HASH_BUCKETS_OF_POLICY), key=lambda bucket: hashlib.sha256(bucket.to_bytes(2)).digest())


def homes(weights: Weights) -> list[int]:
    """Return the home of each bucket, by weight; a weight of 0 has none. Without any, no bucket has one."""
    turns = _turns(tuple(each for each in weights if each[1]))
    dealt = {bucket: next(turns, NONE) for bucket in _DEALT}
    return [dealt[bucket] for bucket in range(HASH_BUCKETS_OF_POLICY)]


def serving(at_home: list[int], weights: Weights, working: Collection[int]) -> list[int]:
    """Return who serves each bucket now: its home if that works, else the others by weight.

    Where all that have a weight failed, those of weight 0 serve.
    """
    left = tuple((number, weight) for number, weight in weights if number in working and weight)
    spare = tuple((number, 1) for number, weight in weights if number in working and not weight)
    turns = _turns(left or spare)
    moved = {bucket: next(turns, NONE) for bucket in _DEALT if at_home[bucket] not in working}
    return [moved.get(bucket, home) for bucket, home in enumerate(at_home)]


def _turns(weights: Weights) -> Iterator[int]:
    """Yield providers in turn, each as often as its weight says, as evenly as that goes."""
    credit = dict.fromkeys((number for number, _ in weights), 0)
    total = sum(weight for _, weight in weights)
    while weights:
        for number, weight in weights:
            credit[number] += weight
        chosen = max(credit, key=lambda number: credit[number])
        credit[chosen] -= total
        yield chosen
