"""Copies of packets that may be lost: the last ones, and no more than there is room for."""

from __future__ import annotations

from ipaddress import IPv6Address

from wayname.edge.boundary import PacketIn
from wayname.edge.sessions.held import MOST_IN_ALL, MOST_OF_SESSION, Held
from wayname.shim6.context import ContextName


def name(number: int) -> ContextName:
    return ContextName(IPv6Address(number), IPv6Address("2001:db8::1"))


def packet(number: int) -> PacketIn:
    return PacketIn(number.to_bytes(4), 15, 1, 10)


def test_the_last_ones_of_a_session_come_back_once() -> None:
    held = Held()
    for number in range(MOST_OF_SESSION + 10):
        held.keep(name(1), packet(number), float(number))
    held.keep(name(2), packet(0), 0.0)
    assert held.take(name(1), 100.0) == [packet(number) for number in range(100, MOST_OF_SESSION + 10)]
    assert held.take(name(1), 0.0) == []
    assert held.take(name(2), 0.0) == [packet(0)]


def test_a_session_that_was_quiet_for_longest_makes_room() -> None:
    held = Held()
    sessions = MOST_IN_ALL // MOST_OF_SESSION
    for session in range(sessions + 1):
        for number in range(MOST_OF_SESSION):
            held.keep(name(session), packet(number), 1.0)
    assert held.take(name(0), 0.0) == []
    assert all(len(held.take(name(session), 0.0)) == MOST_OF_SESSION for session in range(1, sessions + 1))
