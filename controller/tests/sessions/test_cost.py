"""A session costs an edge the same, however many there are."""

from __future__ import annotations

import random
from ipaddress import IPv6Address
from statistics import median

import pytest
from sessions.pair import Side
from work import steps_of

from wayname.edge.boundary import Event
from wayname.session.keys import SessionKey
from wayname.session.session import Session
from wayname.session.watched_sessions import SESSIONS_A_TURN
from wayname.shim6.context import option_of
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import I1, I2, R1, TAG_BITS, decode, encode
from wayname.wire.shim6.options import ResponderValidator

FEW, MANY, SOME = 10, 70, 9


class Server:
    """An edge whose host is asked by strangers, each once."""

    def __init__(self) -> None:
        self.side = Side(1, 'security = "none"')
        self.now = 100.0
        self.side.start(self.now)
        self.rng = random.Random(1)
        # Events that tell of sessions that nobody watches.
        self.unwatched = 0

    def exchange(self, number: int) -> int:
        """Let a stranger set up a context; return the steps from its I2 until all is carried out."""
        peer = IPv6Address(f"2001:db8:ffff::{number:x}")
        tag, nonce = self.rng.getrandbits(TAG_BITS), self.rng.getrandbits(32)
        self._receive(self._packet(peer, encode(I1(tag, nonce))))
        r1 = decode(self.side.ways.sent.pop().payload)
        assert isinstance(r1, R1)
        validator = option_of(r1.options, ResponderValidator)
        assert validator is not None
        i2 = self._packet(peer, encode(I2(tag, nonce, r1.responder_nonce, (validator,))))
        self.now += 0.05
        steps = steps_of(lambda: self._receive(i2))
        self.side.ways.sent.clear()
        return steps

    def _packet(self, peer: IPv6Address, payload: bytes) -> Packet:
        return Packet(peer, self.side.host, SHIM6, payload)

    def _receive(self, packet: Packet) -> None:
        assert self.side.sessions is not None
        self.side.sessions.packet(packet, self.now)
        taken = self.side.outputs.take()
        self.unwatched += sum(isinstance(each, Event) and each.kind == "session.unwatched" for each in taken)


def test_an_i2_costs_the_same_with_many_sessions() -> None:
    server = Server()
    numbers = iter(range(1, 10_000))

    def cost() -> float:
        return median(server.exchange(next(numbers)) for _ in range(SOME))

    for _ in range(FEW):
        server.exchange(next(numbers))
    with_few = cost()
    for _ in range(MANY):
        server.exchange(next(numbers))
    assert server.side.sessions is not None
    assert len(list(server.side.sessions)) == FEW + SOME + MANY
    assert cost() <= with_few


def test_a_next_hop_keeps_others_waiting_for_a_turn_however_many_sessions_it_concerns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    sessions = server.side.sessions
    assert sessions is not None
    looked_at: list[SessionKey] = []
    failover = sessions._failover
    real = failover.next_hops_changed

    def look(session: Session, now: float) -> None:
        looked_at.append(session.name)
        real(session, now)

    monkeypatch.setattr(failover, "next_hops_changed", look)

    def let_a_next_hop_change() -> int:
        looked_at.clear()
        steps = steps_of(lambda: sessions.next_hops_changed(server.now))
        while (due := sessions.next_timer()) is not None and due <= server.now:
            sessions.handle_timer(server.now, 0.0)
        assert sorted(looked_at) == sorted(session.name for session in sessions)
        return steps

    for number in range(1, SESSIONS_A_TURN + FEW):
        server.exchange(number)
    with_few = let_a_next_hop_change()
    for number in range(SESSIONS_A_TURN + FEW, 2 * SESSIONS_A_TURN + FEW):
        server.exchange(number)
    assert let_a_next_hop_change() < with_few * 1.2


def test_sessions_beyond_those_that_the_switch_watches_stand_and_an_event_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wayname.session.numbers.WATCHED_SESSIONS", 4)
    monkeypatch.setattr("wayname.session.watched_sessions.WATCHED_SESSIONS", 4)
    server = Server()
    for number in range(1, 7):
        server.exchange(number)
    assert server.side.sessions is not None
    assert sorted(session.number for session in server.side.sessions) == [1, 2, 3, 4, 5, 6]
    assert server.unwatched == 1
