"""What wants to come in order waits at the edge while all paths are busy, and goes in the order in which it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from carriers import ipv6
from numbered_switch import read
from ordered_switch import DATA, EDGE, HOST, Ordered, OrderedSession, OrderedSwitch, read_order, to_peer
from schedule_site import ACK, CLOSE, TCP, PathOf, Schedule, datagram, paths_of, segment
from session_site import LOCAL, REMOTE, SESSION

from wayname.p4_constants import Drop

MILLISECOND, SECOND = 1_000, 1_000_000
UDP = 17
OCTET = 1 << 24  # a microsecond an octet
PATHS = [PathOf(10 * MILLISECOND, OCTET), PathOf(15 * MILLISECOND, OCTET)]
CLOSING = Schedule(PATHS, feedback=CLOSE, tolerance=50 * MILLISECOND, probe_interval=10 * SECOND)
# Of 1000 octets by two paths, in 45 ms; and in the 400 ms for which they may wait here.
AT_ONCE, QUEUED = range(80, 100), range(640, 810)
Make = Callable[[Schedule], OrderedSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: OrderedSwitch(schedule, backend=request.param)


def drops(switch: OrderedSwitch, why: Drop) -> int:
    return switch.counted("ingress_drops", why)


def leave(switch: OrderedSwitch, until: int) -> list[Ordered]:
    """What the switch sends by itself, a millisecond after the other."""
    begin = switch.time // MILLISECOND + 1
    steps = range(begin, until // MILLISECOND + 1)
    return [each for step in steps for each in to_peer(switch.passes(step * MILLISECOND))]


def test_packets_wait_at_the_edge_and_leave_in_order(make: Make) -> None:
    switch = make(CLOSING)
    went = [number for number in range(150) if switch.sends_segment(0, number)]
    assert went == list(range(len(went)))
    assert len(went) in AT_ONCE
    assert drops(switch, Drop.QUEUED) == 150 - len(went)
    later = leave(switch, SECOND)
    assert [each.segment for each in later] == list(range(len(went), 150))
    assert len({each.order for each in later}) == len(later)
    assert {each.slot for each in later} == {0, 1}


def test_what_would_wait_for_too_long_is_dropped(make: Make) -> None:
    switch = make(CLOSING)
    went = [number for number in range(1200) if switch.sends_segment(0, number)]
    assert drops(switch, Drop.QUEUED) == 1200 - len(went)
    later = leave(switch, SECOND)
    assert len(later) in QUEUED
    assert [each.segment for each in later] == list(range(len(went), len(went) + len(later)))
    assert drops(switch, Drop.QUEUE_FULL) == 1200 - len(went) - len(later)


def test_what_comes_later_waits_behind_them(make: Make) -> None:
    switch = make(CLOSING)
    went = [number for number in range(150) if switch.sends_segment(0, number)]
    assert switch.sends_segment(1, 150) == []
    assert [each.segment for each in leave(switch, SECOND)] == list(range(len(went), 151))
    assert len(switch.sends_segment(2 * SECOND, 151)) == 1, "nothing waits any more"


def test_datagrams_do_not_wait(make: Make) -> None:
    switch = make(CLOSING)
    for number in range(150):
        switch.sends_segment(0, number)
    assert switch.numbers(1, datagram(1000)).counted


OTHER = "2001:db8:f00::2"


def with_another_session(switch: OrderedSwitch) -> OrderedSwitch:
    """Its peer is another one, its schedule the same."""
    another = replace(OrderedSession(), number=SESSION + 1)
    for entry in (
        another.identities(),
        *paths_of(another.number),
        replace(CLOSING, session=another.number).of_session(),
    ):
        keys = {**entry.keys, "remote": OTHER} if entry.table == "identities" else entry.keys
        switch.add(entry.table, entry.action, keys, entry.parameters)
    return switch


def sends_to_the_other(switch: OrderedSwitch, time: int, number: int) -> list[bytes]:
    return switch.frames(time, ipv6(TCP, segment(number, 0, 1000 - 40 - DATA, ACK, (1000, 80)), LOCAL, OTHER))


def test_sessions_that_share_a_schedule_share_its_room(make: Make) -> None:
    """By turns, however much of each waits."""
    switch = with_another_session(make(CLOSING))
    begun = switch.orders(0, 0).order
    for number in range(300):
        switch.sends_segment(0, number + 1)
        sends_to_the_other(switch, 0, number)
    # Their orders begin at random.
    ours = [(each.order - begun) % 2**32 < 300 for each in leave(switch, 200 * MILLISECOND)]
    assert drops(switch, Drop.QUEUE_FULL) == 0
    assert len(ours) > 300
    assert abs(2 * sum(ours) - len(ours)) <= 1


def test_a_session_that_sends_little_does_not_wait_behind_all_of_another(make: Make) -> None:
    switch = with_another_session(make(CLOSING))
    went = [number for number in range(300) if switch.sends_segment(0, number)]
    leave(switch, 10 * MILLISECOND)
    assert sends_to_the_other(switch, 10 * MILLISECOND, 7) == []
    soon = [each.segment for each in leave(switch, 12 * MILLISECOND)]
    assert 7 in soon
    assert len(soon) < (300 - len(went)) / 4


def test_a_session_that_ends_in_its_turn_stops_others_for_a_moment_alone(make: Make) -> None:
    switch = with_another_session(make(CLOSING))
    for number in range(150):
        switch.sends_segment(0, number)
    for number in range(50):
        assert sends_to_the_other(switch, 0, number) == []
    switch.ends_session()
    for step in range(1, 111):
        switch.passes(step * MILLISECOND)
    now = [read_order(frame).segment for frame in sends_to_the_other(switch, 111 * MILLISECOND, 50)]
    assert now == list(range(51))


def test_what_waits_goes_as_others_do_once_its_session_has_no_order(make: Make) -> None:
    switch = make(CLOSING)
    went = [number for number in range(150) if switch.sends_segment(0, number)]
    switch.ends_session()
    outputs = [each for step in range(1, 1000) for each in switch.passes(step * MILLISECOND)]
    assert [port for port, _ in outputs if port != HOST] == [EDGE] * (150 - len(went))
    assert drops(switch, Drop.COPY_NEEDLESS) == 0


FAR = replace(CLOSING, paths=[PATHS[0], PathOf(110 * MILLISECOND, OCTET)])


def test_a_path_that_is_far_is_taken_once_packets_wait_for_as_long_as_it_takes_longer(make: Make) -> None:
    switch = make(FAR)
    for number in range(300):
        switch.sends_segment(0, number)
    begins = 100 * MILLISECOND - 45 * MILLISECOND  # the near one is busy for so long before they wait
    early, late = leave(switch, begins - 5 * MILLISECOND), leave(switch, begins + 50 * MILLISECOND)
    assert {each.slot for each in early} == {0}
    assert sum(each.slot for each in late) > 40, "a packet each millisecond"
    assert sum(1 - each.slot for each in late) > 40
    assert len({each.order for each in early + late}) == len(early) + len(late)


def test_a_path_that_is_far_stays_idle_while_few_packets_wait(make: Make) -> None:
    switch = make(FAR)
    for number in range(80):
        switch.sends_segment(0, number)
    assert {each.slot for each in leave(switch, SECOND)} == {0}


def quic(number: int, ports: tuple[int, int]) -> bytes:
    """A datagram that bears a number."""
    data = number.to_bytes(4) + bytes(1000 - 40 - 8 - 4)
    header = b"".join(each.to_bytes(2) for each in (*ports, 8 + len(data), 0))
    return ipv6(UDP, header + data, LOCAL, REMOTE)


@pytest.mark.parametrize("ports", [(50000, 443), (443, 50000)], ids=["to a server", "from a server"])
def test_quic_goes_in_order_as_tcp_does(make: Make, ports: tuple[int, int]) -> None:
    switch = make(CLOSING)
    went = [number for number in range(150) if switch.frames(0, quic(number, ports))]
    assert went == list(range(len(went)))
    assert len(went) in AT_ONCE
    later = leave(switch, SECOND)
    assert len({each.order for each in later}) == len(later) == 150 - len(went)


def test_other_datagrams_have_no_order(make: Make) -> None:
    switch = make(CLOSING)
    (frame,) = switch.frames(0, quic(0, (50000, 4433)))
    assert read(frame).counted
