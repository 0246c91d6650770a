"""Buckets of flows: homes by weight, and nobody moves whose provider works."""

from __future__ import annotations

from collections import Counter

import pytest

from wayname.edge.nptv6.buckets import homes, serving
from wayname.p4_constants import HASH_BUCKETS_OF_POLICY


@pytest.mark.parametrize("weights", [((1, 1), (2, 1)), ((1, 3), (2, 1)), ((1, 2), (2, 5), (3, 1)), ((1, 1), (2, 0))])
def test_homes_are_shared_by_weight(weights: tuple[tuple[int, int], ...]) -> None:
    total = sum(weight for _, weight in weights)
    counted = Counter(homes(weights))
    assert counted.total() == HASH_BUCKETS_OF_POLICY
    for number, weight in weights:
        assert abs(counted[number] - HASH_BUCKETS_OF_POLICY * weight / total) < 1


def test_only_the_buckets_of_a_failed_provider_move_and_in_shares() -> None:
    weights = ((1, 1), (2, 1), (3, 2))
    at_home = homes(weights)
    now = serving(at_home, weights, {1, 3})
    assert [home for home, new in zip(at_home, now, strict=True) if home != new] == [2] * at_home.count(2)
    moved = Counter(new for home, new in zip(at_home, now, strict=True) if home == 2)
    assert abs(moved[3] - 2 * moved[1]) <= 2
    assert serving(at_home, weights, {1, 2, 3}) == at_home


def test_a_provider_without_weight_serves_when_no_other_works() -> None:
    weights = ((1, 1), (2, 1), (3, 0))
    at_home = homes(weights)
    assert set(serving(at_home, weights, {2, 3})) == {2}
    assert set(serving(at_home, weights, {3})) == {3}
    assert set(serving(at_home, weights, set())) == {0}
