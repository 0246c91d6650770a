"""Each packet by the path that delivers it first, against a model in exact fractions; and the other policies."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from carriers import ipv6
from schedule_feedback import Make
from schedule_model import FastestFirst, Path, RoundRobin
from schedule_site import MOST_PATHS, PathOf, Schedule, inverse_rate
from session_cases import DATAGRAM
from session_site import LOCAL, REMOTE

pytest_plugins = ["schedule_fixtures"]

MILLISECOND, MBIT = 1_000, 1_000_000
# Half of the smallest part of a time, once a packet.
ROUNDED = Fraction(1, 1 << 17)


def path(milliseconds: int, mbits: int) -> PathOf:
    return PathOf(milliseconds * MILLISECOND, inverse_rate(mbits * MBIT))


def model_of(schedule: Schedule) -> FastestFirst:
    return FastestFirst([Path(Fraction(each.delay), each.exact) for each in schedule.paths])


@pytest.mark.parametrize("seed", range(4))
def test_every_packet_goes_by_the_path_that_delivers_it_first(make: Make, seed: int) -> None:
    lot = random.Random(seed)
    paths = [path(lot.randint(1, 200), lot.randint(1, 1000)) for _ in range(lot.randint(2, MOST_PATHS))]
    schedule = Schedule(paths, framing=lot.choice([0, 8, 62]))
    switch, model = make(schedule), model_of(schedule)
    capacity = sum(1 / each.exact for each in paths)
    time = 0
    for number in range(250):
        octets = lot.choice([40, 576, 1250, 1500, 9000, lot.randint(40, 9000)])
        # Bursts, then the pace that all paths carry, now and then a pause.
        time += lot.choice([0, 0, int(octets / capacity), lot.randint(0, 3 * int(octets / capacity) + 2)])
        now, on_wire = Fraction(switch.begin // 1000 + time), octets + schedule.framing
        chosen = switch.sends_octets(time, octets)
        choices = model.choices(now, on_wire, slack=2 * number * ROUNDED)
        assert chosen in choices, f"packet {number}: {chosen} and not {choices}"
        model.send(now, on_wire, chosen)


def test_ties_go_to_the_earliest_last_arrival_then_to_the_packet_sent_first(make: Make) -> None:
    # Times of whole microseconds, so that fractions decide nothing.
    paths = [PathOf(1000, 1 << 24), PathOf(1000, 1 << 24), PathOf(900, 1 << 24), PathOf(1100, 1 << 23)]
    schedule = Schedule(paths)
    switch, model = make(schedule), model_of(schedule)
    lot = random.Random(1)
    time, tied = 0, 0
    for _ in range(300):
        time += lot.choice([0, 0, 0, 100, 10_000])
        now = Fraction(switch.begin // 1000 + time)
        octets = lot.choice([100, 200])
        choices = model.choices(now, octets)
        tied += len(choices) > 1
        assert switch.sends_octets(time, octets) == choices[0]
        model.send(now, octets, choices[0])
    assert tied > 100


def test_a_saturated_schedule_delivers_in_order_and_uses_all_paths(make: Make) -> None:
    schedule = Schedule([path(10, 2), path(30, 4), path(5, 5)])
    switch, model = make(schedule), model_of(schedule)
    arrivals: list[Fraction] = []
    shares = Counter[int]()
    for _ in range(300):
        now = Fraction(switch.begin // 1000)
        chosen = switch.sends_octets(0, 1250)
        arrivals.append(model.paths[chosen].delivery(now, 1250))
        model.send(now, 1250, chosen)
        shares[chosen] += 1
    assert arrivals == sorted(arrivals), "packets of one size are never reordered"
    assert [round(shares[place] / 300 * 11) for place in range(3)] == [2, 4, 5]


def test_a_pause_forgets_nothing_but_what_has_left(make: Make) -> None:
    switch = make(Schedule([path(10, 1), path(12, 1)]))
    # 1250 octets take 10 ms: the second path delivers the second packet in 22 ms, the first one in 30.
    assert [switch.sends_octets(time, 1250) for time in (0, 0, 0)] == [0, 1, 0]
    assert switch.sends_octets(8 * MILLISECOND, 1250) == 1
    assert switch.sends_octets(200 * MILLISECOND, 1250) == 0


def test_what_does_not_fit_into_a_queue_goes_where_there_is_room(make: Make) -> None:
    # 1250 octets take 10 ms: three fit, the one that is sent included.
    switch = make(Schedule([replace(path(10, 1), queue=30 * MILLISECOND), path(100, 1)]))
    assert [switch.sends_octets(0, 1250) for _ in range(5)] == [0, 0, 0, 1, 1]
    assert [switch.sends_octets(10 * MILLISECOND, 1250) for _ in range(2)] == [0, 1]


def test_where_no_queue_has_room_the_path_that_delivers_first_is_taken(make: Make) -> None:
    switch = make(Schedule([replace(path(each, 1), queue=20 * MILLISECOND) for each in (10, 100)]))
    assert [switch.sends_octets(0, 1250) for _ in range(8)] == [0, 0, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("start", [(1 << 48) - 5_000, (1 << 47) - 5_000])
def test_times_go_round_with_the_clock(make: Make, start: int) -> None:
    schedule = Schedule([path(10, 2), path(20, 4)])
    switch, model = make(schedule), model_of(schedule)
    switch.begin = start * 1_000
    time = 0
    for _ in range(60):
        chosen = switch.sends_octets(time, 1250)
        (expected, *_) = model.choices(Fraction(time + 1_000_000), 1250)
        assert chosen == expected
        model.send(Fraction(time + 1_000_000), 1250, chosen)
        time += 700


def test_a_new_generation_begins_anew_and_the_same_one_goes_on(make: Make) -> None:
    schedule = Schedule([path(10, 1), path(50, 1)])
    switch = make(schedule)
    assert [switch.sends_octets(0, 1250) for _ in range(5)] == [0, 0, 0, 0, 1]
    switch.reschedule(Schedule([path(10, 1), path(60, 1)]))
    assert switch.sends_octets(0, 1250) == 0, "four wait there: 60 ms, and 80 by the other"
    switch.reschedule(Schedule([path(10, 1), path(50, 1)], generation=2))
    assert [switch.sends_octets(0, 1250) for _ in range(5)] == [0, 0, 0, 0, 1]


def test_round_robin_shares_octets_by_capacity(make: Make) -> None:
    paths = [path(100, 2), path(1, 4), path(10, 5)]
    switch = make(Schedule(paths, policy="weighted_round_robin"))
    model = RoundRobin([each.exact for each in paths])
    lot = random.Random(2)
    octets = Counter[int]()
    for number in range(300):
        size = lot.choice([100, 1250, 1500])
        chosen = switch.sends_octets(number * 1_000, size)
        assert chosen == model.send(size)
        octets[chosen] += size
    whole = octets.total()
    assert [round(octets[place] / whole * 11) for place in range(3)] == [2, 4, 5]


def flow(number: int) -> bytes:
    ports = random.Random(number).randbytes(4)
    return ipv6(17, ports + DATAGRAM[4:], LOCAL, REMOTE)


@pytest.mark.parametrize("count", [2, 5, MOST_PATHS])
def test_a_flow_keeps_to_its_path(make: Make, count: int) -> None:
    switch = make(Schedule([path(1, 1)] * count, policy="per_flow"))
    first = [switch.goes_by(number, flow(number)) for number in range(96)]
    assert set(first) == set(range(count))
    assert [switch.goes_by(100 + number, flow(number)) for number in range(96)] == first


def test_one_path_for_all(make: Make) -> None:
    switch = make(Schedule([path(1, 1)] * 6, policy="per_flow"))
    switch.take_best_path(5)
    assert {switch.goes_by(time, flow(time)) for time in range(20)} == {5}


def test_a_session_without_a_schedule_goes_as_its_entry_says(make: Make) -> None:
    switch = make(Schedule([path(9, 1), path(1, 1)], session=99))
    assert {switch.sends_octets(time, 100) for time in range(5)} == {0}


def test_a_session_takes_only_the_slots_that_it_may(make: Make) -> None:
    paths = [path(1, 1), path(10, 1), path(10, 1)]
    switch = make(Schedule(paths, slots=0b110))
    assert [switch.sends_octets(0, 1250) for _ in range(4)] == [1, 2, 1, 2]
    switch = make(Schedule(paths, policy="weighted_round_robin", slots=0b101))
    assert {switch.sends_octets(0, 1250) for _ in range(20)} == {0, 2}
    switch = make(Schedule(paths, policy="per_flow", slots=0b110))
    assert {switch.goes_by(time, flow(time)) for time in range(40)} == {1, 2}


def test_a_session_that_may_not_take_the_best_path_goes_as_its_entry_says(make: Make) -> None:
    switch = make(Schedule([path(1, 1)] * 6, policy="per_flow", slots=0b11111))
    switch.take_best_path(5)
    assert {switch.goes_by(time, flow(time)) for time in range(20)} == {0}


def test_what_is_known_of_a_path_stays_when_a_session_leaves_another(make: Make) -> None:
    schedule = Schedule([path(10, 1), path(50, 1), path(10, 1)])
    switch = make(schedule)
    assert [switch.sends_octets(0, 1250) for _ in range(8)] == [0, 2] * 4
    switch.reschedule(replace(schedule, slots=0b011))
    assert [switch.sends_octets(0, 1250) for _ in range(3)] == [1, 0, 1]
