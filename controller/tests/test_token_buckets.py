"""Token buckets by prefix: what one of them gets, what all of them get, and that nobody can make room."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

from wayname.token_buckets import PrefixTokenBuckets, Rate

ONE, SAME_SITE, OTHER = (IPv6Address(text) for text in ("2001:db8:1::1", "2001:db8:1:ffff::2", "2001:db8:2::1"))


OF_PREFIX, IN_ALL, NO_LIMIT = Rate(2, 10), Rate(100, 1000), Rate(1e9, 1e9)


def buckets(in_all: Rate = IN_ALL) -> PrefixTokenBuckets:
    """Return full buckets."""
    return PrefixTokenBuckets(random.Random(1), OF_PREFIX, in_all)


def test_a_prefix_gets_a_burst_and_then_its_rate() -> None:
    limit = buckets()
    assert [limit.may(ONE, 0.0) for _ in range(20)].count(True) == 10
    # Another address of the same site shares what it has; another site does not.
    assert not limit.may(SAME_SITE, 0.0)
    assert limit.may(OTHER, 0.0)
    assert [limit.may(ONE, 3.0) for _ in range(20)].count(True) == 6
    # A pause gives no more than the burst.
    assert [limit.may(ONE, 1000.0) for _ in range(20)].count(True) == 10


def test_all_prefixes_together_get_no_more_than_is_for_all() -> None:
    limit = buckets(in_all=Rate(5, 50))
    sites = [IPv6Address(int(ONE) + (number << 80)) for number in range(5000)]
    assert sum(limit.may(each, 0.0) for each in sites) == 50
    assert sum(limit.may(each, 2.0) for each in sites) == 10


def test_other_prefixes_do_not_make_a_prefix_forgotten() -> None:
    limit = buckets(in_all=NO_LIMIT)
    for _ in range(10):
        limit.take(ONE, 0.0)
    for number in range(50_000):
        limit.may(IPv6Address(int(ONE) + (number << 80)), 0.0)
    assert not limit.may(ONE, 0.0)


def test_what_is_taken_beyond_what_is_there_is_paid_back() -> None:
    limit = buckets()
    limit.take(ONE, 0.0, 30)
    assert not limit.is_open(ONE, 10.0)
    assert limit.is_open(ONE, 10.5)


def test_a_clock_that_stands_still_or_goes_back_gives_nothing() -> None:
    limit = buckets()
    limit.take(ONE, 100.0, 10)
    assert not limit.is_open(ONE, 100.0)
    assert not limit.is_open(ONE, 50.0)
