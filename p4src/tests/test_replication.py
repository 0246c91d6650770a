"""Packets that go in several copies at once, by a path each; the receiving edge takes the first that comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from carriers import ipv6
from numbered_switch import Numbered, NumberedSession, NumberedSwitch, Peer, read, with_option
from ordered_switch import BUFFERED, OrderedSession, order_option
from replicated_packets import Replica, bears_order, replicas
from schedule_site import ACK, CLOSE, SCHEDULE, TCP, PathOf, Schedule, datagram, segment
from session_site import HOLD, LOCAL, OUR_TAG, REMOTE, SEND_TIMEOUT, SESSION, between, from_host, in_by, with_header
from site_switch import MAIN

from small_site import CPU
from wayname.p4_constants import Drop, SessionMode

MILLISECOND, SECOND = 1_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
PATHS = [PathOf(delay * MILLISECOND, OCTET) for delay in (10, 15, 40)]
TWICE = Schedule(PATHS, feedback=CLOSE, tolerance=5 * MILLISECOND, probe_interval=10 * SECOND, copies=2)
UDP, ESP = 17, 50
EXPEDITED = 46  # DSCP of RFC 3246
DATAGRAM = ipv6(UDP, bytes(8), REMOTE, LOCAL)
SEGMENT = ipv6(TCP, segment(0, 0, 900, ACK, (1000, 80)), LOCAL, REMOTE)
PURE_ACK = ipv6(TCP, segment(0, 5, 0, ACK, (1000, 80)), LOCAL, REMOTE)
PACKETS = [ipv6(UDP, bytes(60), LOCAL, REMOTE), ipv6(ESP, bytes(60), LOCAL, REMOTE), PURE_ACK, SEGMENT]
Make = Callable[[Schedule], NumberedSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: NumberedSwitch(schedule, backend=request.param)


def sent(switch: NumberedSwitch, time: int, packet: bytes | None = None) -> list[Replica]:
    """The copies in which a packet of the host goes, in the order of their slots."""
    return replicas(switch.frames(time, packet or datagram(1000)))


# Sent.


def test_each_packet_goes_by_the_two_paths_that_deliver_it_first(make: Make) -> None:
    switch = make(TWICE)
    packets = [sent(switch, number * SECOND) for number in range(5)]
    for number, copies in enumerate(packets):
        first, second = copies
        assert (first.slot, second.slot) == (0, 1)
        assert first.payload == second.payload == datagram(1000)[40:]
        for copy in copies:
            assert copy.sequence == (packets[0][copy.slot].sequence + number) % (1 << 24), "a number of its path"
            assert copy.order == (packets[0][0].order + number) % (1 << 32), "one order for both"
            assert (copy.copies, copy.wait) == (2, 0)


def test_a_copy_waits_at_its_path_as_any_packet_does(make: Make) -> None:
    """The first path is full for 100 ms after 100 packets at once: later copies go by the others."""
    switch = make(TWICE)
    slots = [tuple(copy.slot for copy in sent(switch, 0)) for _ in range(100)]
    assert slots[0] == (0, 1)
    assert {(0, 1), (0, 2), (1, 2)} == set(slots)


@pytest.mark.parametrize(("copies", "slots"), [(3, [0, 1, 2]), (8, [0, 1, 2])])
def test_there_are_as_many_as_are_wanted_and_no_more_than_open_paths(make: Make, copies: int, slots: list[int]) -> None:
    switch = make(replace(TWICE, copies=copies))
    for time in range(3):
        found = sent(switch, time * SECOND)
        assert [copy.slot for copy in found] == slots
        assert len({copy.order for copy in found}) == 1


@pytest.mark.parametrize("packet", PACKETS)
def test_packets_of_any_kind_do(make: Make, packet: bytes) -> None:
    assert [copy.payload for copy in sent(make(TWICE), 0, packet)] == [packet[40:]] * 2


def test_of_one_open_path_there_is_one_copy(make: Make) -> None:
    (alone,) = sent(make(replace(TWICE, slots=1 << 2)), 0)
    assert alone.slot == 2


def test_a_session_whose_peer_has_not_agreed_goes_in_one_copy_without_order(make: Make) -> None:
    switch = make(replace(TWICE, copies=1))
    (frame,) = switch.frames(0, datagram(1000))
    assert not bears_order(frame)


def counted(copy: Replica) -> Numbered:
    """A copy as its peer counts it."""
    return Numbered(copy.slot, True, copy.slot, copy.sequence, None, copy.payload)


def test_a_closed_path_has_no_copy_and_is_probed_beside_the_last_one(make: Make) -> None:
    switch, peer = make(replace(TWICE, probe_interval=SECOND)), Peer()
    packets = [counted(sent(switch, number * 2 * MILLISECOND)[0]) for number in range(10)]
    for time, heard in ((20 * MILLISECOND, packets[0]), (40 * MILLISECOND, packets[9])):
        peer.hears(time, heard)
        switch.reports(time, peer.report(0), time)
    assert [(each.kind, each.place) for each in switch.path_events()] == [("lost", 0)]
    assert [copy.slot for copy in sent(switch, 41 * MILLISECOND)] == [1, 2]
    frames = switch.frames(3 * SECOND, datagram(1000))
    assert [copy.slot for copy in replicas(frames)] == [1, 2]
    (probe,) = [read(frame) for frame in frames if not bears_order(frame)]
    assert (probe.slot, probe.packet, probe.counted) == (0, b"", True)


@pytest.mark.parametrize("packet", PACKETS)
def test_segments_with_data_wait_for_the_slowest_path_where_the_peer_puts_them_in_order(
    make: Make, packet: bytes
) -> None:
    switch = make(TWICE)
    assert [copy.wait for copy in sent(switch, 0, packet)] == [0, 0]
    switch.use(OrderedSession())
    waits = 40 * MILLISECOND if packet == SEGMENT else 0
    assert [copy.wait for copy in sent(switch, SECOND, packet)] == [waits] * 2


def test_the_controller_holds_nothing_that_another_path_has(make: Make) -> None:
    """It would hold each packet of a host that sends few; a packet has one clone in a pass."""
    for slots, to_controller in ((0, 0), (1, 1)):
        switch = make(replace(TWICE, slots=slots))
        switch.use(NumberedSession(mode=SCHEDULE | SessionMode.NUMBER | HOLD, watched=True))
        ports = [port for port, _ in switch.at(SEND_TIMEOUT, 1, bytes(from_host(datagram(1000))))]
        assert ports.count(CPU) == to_controller
        assert len(ports) == 2


def test_a_capture_of_the_host_takes_no_copy_away(make: Make) -> None:
    switch = make(replace(TWICE, copies=3))
    switch.add("ingress_mirror", "mirror_ingress", {"port": 1}, {})
    outputs = switch.at(0, 1, bytes(from_host(datagram(1000))))
    assert len(replicas(frame for port, frame in outputs if port != CPU)) == 3
    assert [port for port, _ in outputs].count(CPU) == 1


def test_one_flow_of_a_session_may_go_in_copies(make: Make) -> None:
    """Both edges know it by a policy; the others of its session go once."""
    switch = make(replace(TWICE, copies=1))
    switch.use(NumberedSession(mode=SCHEDULE | SessionMode.NUMBER | SessionMode.PREFER))
    switch.police(dscp=EXPEDITED)
    switch.add("preferred_paths", "replicate_flow", {"session": SESSION, "policy": 1}, {"copies": 3})
    other = ipv6(UDP, bytes(60), LOCAL, REMOTE)
    named = (int.from_bytes(other[:4]) | EXPEDITED << 22).to_bytes(4) + other[4:]
    assert [copy.slot for copy in sent(switch, 0, named)] == [0, 1, 2]
    assert sent(switch, SECOND, other) == []
    assert len(switch.frames(SECOND, other)) == 1


# Received.


@pytest.fixture(params=[MAIN, BUFFERED], ids=["without buffers", "with buffers"])
def receiver(request: pytest.FixtureRequest) -> NumberedSwitch:
    return NumberedSwitch(replace(TWICE, copies=1), program=request.param)


def comes(
    switch: NumberedSwitch, time: int, by: int, order: int, *, sequence: int = 1, tag: int = OUR_TAG
) -> list[int]:
    """The ports that a copy of the peer leaves by."""
    outputs = switch.comes(time, by, order_option(by, sequence, order, 0, copies=2), DATAGRAM, tag)
    return [port for port, _ in outputs if port != CPU]


def eliminated(switch: NumberedSwitch) -> int:
    return switch.counted("ingress_drops", Drop.ELIMINATED)


@pytest.mark.parametrize("begins", [0, 1000, 2**32 - 5])
def test_the_host_gets_the_first_copy_of_each_at_once(receiver: NumberedSwitch, begins: int) -> None:
    """One path is behind by ten packets and the other one loses one: what comes is waited for by nobody."""
    packets, behind, lost = 40, 10, 20
    for number in range(packets + behind):
        if number < packets and number != lost:
            assert comes(receiver, number, 0, begins + number, sequence=1 + number) == [1]
        if number >= behind:
            first = [1] if number - behind == lost else []
            assert comes(receiver, number, 1, begins + number - behind, sequence=number) == first
    assert eliminated(receiver) == packets - 1
    assert receiver.counted("ingress_drops", Drop.CAME_TWICE) == 0


def test_what_is_dropped_came_by_its_path_all_the_same(receiver: NumberedSwitch) -> None:
    for number in range(10):
        for by in (0, 1):
            comes(receiver, number, by, 100 + number, sequence=1 + number)
    reports = [receiver.numbers(time * 5 * MILLISECOND).report for time in (1, 2)]
    assert {(each.slot, each.newest, each.received) for each in reports if each} == {(0, 10, 10), (1, 10, 10)}


def test_nobody_takes_the_place_of_a_copy_that_is_to_come(receiver: NumberedSwitch) -> None:
    """Who sees no packet knows neither the tag nor the locators that prove it; who repeats one is too late."""
    put = order_option(1, 1, 100, 0, copies=2)
    receiver.comes(0, 1, put, DATAGRAM, tag=OUR_TAG ^ 1)
    elsewhere = with_header(between(DATAGRAM, REMOTE, LOCAL), OUR_TAG)
    without_tag = bytes([UDP]) + put[1:]
    for forged in (with_option(elsewhere, put), with_option(DATAGRAM, without_tag)):
        receiver.at(0, 4, bytes(in_by(4, forged)))
    assert comes(receiver, 1, 1, 100) == [1]
    assert eliminated(receiver) == 0
    for time in (2, 3, SECOND):
        assert comes(receiver, time, 0, 100) == []
    assert eliminated(receiver) == 3
    assert comes(receiver, SECOND, 0, 101) == [1]


def test_an_edge_that_has_one_path_left_drops_the_second_copy_too(receiver: NumberedSwitch) -> None:
    receiver.use(NumberedSession(mode=SessionMode.NUMBER))
    assert comes(receiver, 0, 0, 100) == [1]
    assert comes(receiver, 0, 1, 100) == []


def test_what_has_one_copy_is_counted_as_sent_again(receiver: NumberedSwitch) -> None:
    for _ in range(2):
        receiver.comes(0, 0, order_option(0, 1, 100, 0), DATAGRAM)
    assert eliminated(receiver) == 0
    assert receiver.counted("ingress_drops", Drop.CAME_TWICE) == 1
