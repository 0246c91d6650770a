"""The synthetic week, and what is counted in it."""

from __future__ import annotations

import random
from itertools import pairwise

from bench.shim6.maintaining import COLLECTION, Count, lifetimes
from bench.shim6.week import DAY, HOUR, SERVERS, WEEK, Exchange, rate, visits

WEB = SERVERS[0]
VISIT = [Exchange(100, 101, 1500), Exchange(105, 106, 1500), Exchange(120, 121, 1500)]


def test_the_same_seed_makes_the_same_week() -> None:
    first, again, other = (list(visits(WEB, random.Random(seed), HOUR / 6)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(a[0].begins <= b[0].begins for a, b in pairwise(first))


def test_the_rate_follows_the_hour_and_the_day() -> None:
    friday, saturday, monday = (day * DAY + 16 * HOUR for day in (0, 1, 3))
    assert rate(WEB, friday) == rate(WEB, monday) == WEB.peak
    assert rate(WEB, saturday) == WEB.peak * WEB.weekend
    assert rate(WEB, 4 * HOUR) == WEB.peak * WEB.trough


def test_a_context_is_collected_after_its_time_and_set_up_anew() -> None:
    assert list(lifetimes(VISIT, 0, 0)) == [(100, 106 + COLLECTION), (120, 121 + COLLECTION)]


def test_a_trigger_waits_for_its_octets_and_counts_anew_after_a_collection() -> None:
    assert list(lifetimes(VISIT, 2000, 60)) == [(105, 106 + COLLECTION)]


def test_a_trigger_waits_for_its_seconds() -> None:
    talk = [Exchange(at, at + 1, 10) for at in range(0, 80, 5)]
    assert list(lifetimes(talk, 2000, 60)) == [(60, 76 + COLLECTION)]


def test_contexts_are_counted_second_by_second() -> None:
    count = Count()
    for begins, ends in ((1, 2.5), (2, 3), (WEEK - 1, WEEK + 5)):
        count.add(begins, ends)
    counts = count.by_second()
    assert (counts[:6], counts[-2:]) == ([0, 1, 2, 1, 0, 0], [0, 1])
