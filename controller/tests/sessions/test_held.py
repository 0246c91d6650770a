"""Copies of packets that may be lost: which go again, in which order, and no more than there is room for."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Interface

import pytest

from wayname.config.model import Interface
from wayname.edge.boundary import PacketIn
from wayname.edge.links import ReceivedPacket
from wayname.session.keys import SessionKey
from wayname.session.retransmit_buffer import (
    MOST_AGE,
    MOST_DATAGRAM_AGE,
    MOST_IN_ALL,
    MOST_OCTETS_IN_ALL,
    MOST_OCTETS_OF_SESSION,
    MOST_OF_SESSION,
    RetransmitBuffer,
)
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import UDP, Packet
from wayname.wire.mac import Mac

TCP = 6
SCTP = 132
HERE, THERE = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
INTERFACE = Interface(vlan=10, name="hosts", mac=Mac(1), addresses=(IPv6Interface("2001:db8::1/64"),))


def name(number: int) -> SessionKey:
    return SessionKey(IPv6Address(number), THERE)


def copy(number: int, next_header: int = TCP, octets: int = 4) -> ReceivedPacket:
    packet = Packet(HERE, THERE, next_header, b"")
    original = PacketIn(number.to_bytes(octets), 15, 1, 10)
    return ReceivedPacket(original, Frame(Mac(2), Mac(4), TYPE_IPV6, b""), packet, INTERFACE)


def again(held: RetransmitBuffer, session: int, unanswered: float, now: float) -> list[int]:
    return [int.from_bytes(each.payload) for each in held.again(name(session), unanswered, now)]


def test_what_was_sent_while_nobody_answered_goes_again_in_order() -> None:
    held = RetransmitBuffer()
    for number in range(10):
        held.keep(name(1), copy(number), float(number))
    held.keep(name(2), copy(99), 9.0)
    assert again(held, 1, 4.0, 10.0) == [6, 7, 8, 9]
    assert again(held, 2, 4.0, 10.0) == [99]


def test_what_was_under_way_when_the_path_failed_goes_again_too() -> None:
    held = RetransmitBuffer()
    for number, at in enumerate((0.0, 0.9, 1.1)):
        held.keep(name(1), copy(number), at)
    # The first packet without an answer left at 1.0; those shortly before it may have been lost as well.
    assert again(held, 1, 1.0, 2.0) == [1, 2]


def test_what_goes_again_in_vain_goes_once_more_by_the_next_path() -> None:
    held = RetransmitBuffer()
    held.keep(name(1), copy(7), 0.0)
    assert again(held, 1, 0.5, 0.5) == [7]
    assert again(held, 1, 0.5, 1.0) == [7]
    # Answered in the meantime, it is no more of what nobody answered.
    assert again(held, 1, 0.5, 9.0) == []


@pytest.mark.parametrize(("protocol", "goes_again"), [(TCP, True), (SCTP, True), (UDP, False), (58, False)])
def test_datagrams_that_are_stale_do_not_go_again(protocol: int, goes_again: bool) -> None:
    held = RetransmitBuffer()
    held.keep(name(1), copy(1, protocol), 1.0)
    held.keep(name(1), copy(2, protocol), 2.0 - MOST_DATAGRAM_AGE / 2)
    assert again(held, 1, 1.0, 2.0) == ([1, 2] if goes_again else [2])
    # Whoever takes datagrams may take one twice.
    assert again(held, 1, 1.0, 2.0) == ([1, 2] if goes_again else [])


def test_a_datagram_from_before_the_failure_does_not_go_again() -> None:
    held = RetransmitBuffer()
    held.keep(name(1), copy(1, UDP), 1.0)
    assert again(held, 1, 0.05, 1.06) == []


def test_a_segment_is_never_older_than_it_may_be() -> None:
    held = RetransmitBuffer()
    held.keep(name(1), copy(1), 0.0)
    held.keep(name(1), copy(2), 10.0)
    assert again(held, 1, float("inf"), 5.0 + MOST_AGE) == [2]


def test_a_session_keeps_its_last_packets() -> None:
    held = RetransmitBuffer()
    for number in range(MOST_OF_SESSION + 10):
        held.keep(name(1), copy(number), 1.0)
    assert again(held, 1, 1.0, 1.0) == list(range(10, MOST_OF_SESSION + 10))
    held.forget(name(1))
    octets = 1400
    for number in range(MOST_OF_SESSION):
        held.keep(name(1), copy(number, octets=octets), 1.0)
    assert len(again(held, 1, 1.0, 1.0)) == MOST_OCTETS_OF_SESSION // octets


@pytest.mark.parametrize("octets", [4, MOST_OCTETS_IN_ALL // MOST_IN_ALL * 2])
def test_a_session_that_was_quiet_for_longest_makes_room(octets: int) -> None:
    held = RetransmitBuffer()
    for_each = min(MOST_OF_SESSION, MOST_OCTETS_OF_SESSION // octets)
    sessions = min(MOST_IN_ALL, MOST_OCTETS_IN_ALL // octets) // for_each
    for session in range(sessions + 1):
        for number in range(for_each):
            held.keep(name(session), copy(number, octets=octets), 1.0)
    assert again(held, 0, 1.0, 1.0) == []
    assert all(len(again(held, session, 1.0, 1.0)) == for_each for session in range(1, sessions + 1))
