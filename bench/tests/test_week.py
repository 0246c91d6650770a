"""The synthetic week, and what is counted in it."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from bench.shim6.maintaining import COLLECTION, Count
from bench.shim6.visited import Visited, packets
from bench.shim6.week import DAY, HOUR, SERVERS, WEEK, Exchange, arrivals, rate, visit

WEB = SERVERS[0]
# A controller that looks whether a packet was answered is the last that passes: a send timeout later.
LOOKS_AGAIN = 1.0
VISIT = [Exchange(0, 1, 1500), Exchange(5, 6, 1500), Exchange(120, 121, 1500)]


def test_the_same_seed_makes_the_same_week() -> None:
    first, again, other = (list(arrivals(WEB, random.Random(seed), HOUR / 6)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(a <= b for a, b in pairwise(first))
    assert visit(WEB, random.Random(1)) == visit(WEB, random.Random(1)) != visit(WEB, random.Random(2))


def test_packets_carry_an_exchange_and_keep_it_alive_to_its_end() -> None:
    assert list(packets(VISIT[:1])) == [(0, 1000), (0, 500)]
    long = list(packets([Exchange(7, 9.5, 312_500)]))
    assert [at for at, _ in long] == [0, 0, 0, 1, 2, 2.5]
    assert {octets for _, octets in long} == {1000}


def test_the_rate_follows_the_hour_and_the_day() -> None:
    friday, saturday, monday = (day * DAY + 16 * HOUR for day in (0, 1, 3))
    assert rate(WEB, friday) == rate(WEB, monday) == WEB.peak
    assert rate(WEB, saturday) == WEB.peak * WEB.weekend
    assert rate(WEB, 4 * HOUR) == WEB.peak * WEB.trough


@pytest.mark.parametrize(("octets", "begins"), [(1, 0.0), (2000, 5.0)])
def test_the_edge_has_a_session_from_its_trigger_to_its_collection(octets: int, begins: float) -> None:
    [[(up, down), *others]] = Visited(octets, COLLECTION, seed=1).lifetimes([VISIT])
    assert up == pytest.approx(begins, abs=0.3)
    assert COLLECTION <= down - 5 <= COLLECTION + LOOKS_AGAIN + 0.3
    # A peer that comes back later begins anew.
    assert len(others) == (1 if octets == 1 else 0)


def test_the_edge_has_a_session_after_its_seconds() -> None:
    talk = [Exchange(at, at + 1, 10) for at in range(0, 80, 5)]
    [[(up, down)]] = Visited(2000, COLLECTION, seed=1).lifetimes([talk])
    assert up == pytest.approx(60, abs=0.3)
    assert COLLECTION <= down - 75 <= COLLECTION + LOOKS_AGAIN + 0.3


def test_contexts_are_counted_second_by_second() -> None:
    count = Count()
    for begins, ends in ((1, 2.5), (2, 3), (WEEK - 1, WEEK + 5)):
        count.add(begins, ends)
    counts = count.by_second()
    assert (counts[:6], counts[-2:]) == ([0, 1, 2, 1, 0, 0], [0, 1])
