"""Which provider serves which bucket of flows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from wayname.pipeline.borders import BUCKETS

NONE = 0
Weights = tuple[tuple[int, int], ...]  # numbers of providers, and their weights


def homes(weights: Weights) -> list[int]:
    """Return the home of each bucket, by weight; a weight of 0 has none."""
    return list(islice(_turns(tuple(each for each in weights if each[1])), BUCKETS))


def serving(at_home: list[int], weights: Weights, working: Collection[int]) -> list[int]:
    """Return who serves each bucket now: its home if that works, else the others by weight.

    Where all that have a weight failed, those of weight 0 serve.
    """
    left = tuple((number, weight) for number, weight in weights if number in working and weight)
    spare = tuple((number, 1) for number, weight in weights if number in working and not weight)
    turns = _turns(left or spare)
    return [home if home in working else next(turns, NONE) for home in at_home]


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
