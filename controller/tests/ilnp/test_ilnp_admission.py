"""How sessions come to stand and end: the three messages, the three cases of sockets, what is lost on the way."""

from __future__ import annotations

import random

import pytest
from ilnp.network import (
    A1,
    A2,
    A_NID,
    B1,
    B2,
    B_NID,
    HERE,
    M_NID,
    THERE,
    A,
    B,
    Network,
    Never,
    crossed,
    data,
    gones,
    host,
    listed,
    ups,
)
from two_sides import START

from wayname.ilnp.config import IDLE_TIME, NonceUse
from wayname.ilnp.cookies import PERIOD
from wayname.ilnp.endpoint import Endpoint
from wayname.ilnp.handshake import Control, Handshake
from wayname.ilnp.nonce import nonce_of
from wayname.ilnp.outputs import Changed, Event, Kind, Send, Up
from wayname.ilnp.policies import Resources
from wayname.ilnp.settings import HOLD_DOWN_TIME, NONCE_TIME, WITHOUT_ILNP_TIME, Settings
from wayname.ilnp.states import State
from wayname.ilnp.vectors import Vector
from wayname.wire.icmpv6 import Message
from wayname.wire.ipv6 import Packet

LADDER = [
    "A1 --REQUEST-> B1",
    "B1 --REQUEST_AND_ACKNOWLEDGE-> A1",
    "A1 --ACKNOWLEDGE-> B1",
]


def test_three_messages_make_a_session() -> None:
    network = Network()
    network.connect(network.a)
    assert network.run(0.5) == LADDER
    assert network.agree()
    (up,) = network.a.take()
    assert isinstance(up, Up)
    assert up.session.names == A
    assert (up.session.source, up.session.destination) == (A1, B1)
    assert (up.session.local_identity, up.session.peer_identity) == (HERE.address, THERE.address)
    assert [one.locator for one in up.session.known] == [B1]
    assert up.session.bears_nonce
    assert all(nonce_of(packet) is not None for packet in network.seen)


def test_the_responder_keeps_nothing_before_the_third_message() -> None:
    network = Network()
    network.connect(network.a)
    network.step(START + 1)
    assert (len(network.b.endpoint.cache), network.b.endpoint.next_timer(), network.b.outputs) == (0, None, [])


def test_a_peer_that_says_something_confirms_the_session() -> None:
    network = Network()
    network.establish()
    assert network.a.entry().state is State.ESTABLISHED
    assert network.run(20) == []


def test_a_silent_peer_is_asked_once_more() -> None:
    network = Network()
    network.connect(network.a)
    assert network.run(5) == [*LADDER, "timer", "A1 --QUESTION-> B1", "B1 --ACKNOWLEDGE-> A1"]
    assert network.a.entry().state is State.ESTABLISHED


def test_a_question_makes_up_for_a_lost_acknowledgement() -> None:
    network = Network()
    network.connect(network.a)
    for _ in range(2):
        network.step(START + 1)
    network.under_way.clear()
    assert len(network.b.endpoint.cache) == 0
    assert network.run(5) == ["timer", "A1 --QUESTION-> B1", "B1 --ACKNOWLEDGE-> A1"]
    assert network.agree()


def test_requests_go_round_the_locators_of_the_peer_and_then_it_is_left_alone() -> None:
    network = Network()
    network.b.works.clear()
    network.connect(network.a, listed(B1, B2))
    arrows = [arrow for arrow in network.run(30) if arrow != "timer"]
    assert arrows == ["A1 --REQUEST-> B1", "A1 --REQUEST-> B2"] * 2
    assert [words for words in network.a.events(Kind.UNANSWERED) if "4 requests" in words]
    network.connect(network.a)
    assert network.under_way == []
    network.run(HOLD_DOWN_TIME)
    network.connect(network.a)
    assert len(network.under_way) == 1


def test_neither_socket_connected_never_makes_a_session() -> None:
    network = Network()
    for number in range(100):
        network.inject(data(HERE, THERE, number.to_bytes(12)))
        network.inject(data(THERE, HERE, number.to_bytes(12)))
    network.run(5)
    assert (len(network.a.endpoint.cache), len(network.b.endpoint.cache)) == (0, 0)
    assert all(isinstance(output, Event) and output.kind is Kind.DROPPED for output in network.b.outputs)


def test_one_socket_connected_asks_the_other_ends_policy() -> None:
    network = Network(policies=[Never()])
    network.connect(network.a)
    network.run(30)
    assert (len(network.a.endpoint.cache), len(network.b.endpoint.cache)) == (0, 0)
    assert "not today" in network.b.events(Kind.REFUSED)[0]


def test_both_sockets_connected_is_for_no_policy_to_refuse() -> None:
    network = Network(policies=[Never()])
    network.connect(network.a)
    network.connect(network.b)
    network.run(30)
    assert network.agree()
    assert network.a.entry().state is network.b.entry().state is State.ESTABLISHED


def test_no_policy_refuses_a_proof_when_both_sockets_are_connected_by_then() -> None:
    used = [0.0]
    network = Network(policies=[Resources(lambda: used[0])])
    network.connect(network.a)
    network.step(START + 1)
    used[0] = 1.0
    network.b.endpoint.connect(THERE, HERE, network.now)
    network.run(1)
    assert ups(network.b) == 1
    network.collect()
    network.run(20)
    assert network.agree()


def test_a_policy_may_change_its_mind_before_the_proof() -> None:
    used = [0.0]
    network = Network(policies=[Resources(lambda: used[0])])
    network.connect(network.a)
    network.step(START + 1)
    used[0] = 1.0
    network.run(30)
    assert (len(network.a.endpoint.cache), len(network.b.endpoint.cache)) == (0, 0)
    assert "100% of the resources are used" in network.b.events(Kind.REFUSED)[0]


def test_no_policy_refuses_a_peer_that_lost_its_session() -> None:
    used = [0.0]
    network = Network(policies=[Resources(lambda: used[0])])
    network.establish()
    used[0] = 1.0
    network.restart(network.a, host(A_NID, A1))
    network.connect(network.a)
    network.run(5)
    assert network.agree()


def test_a_peer_that_opened_tcp_is_for_the_policies_to_grant() -> None:
    network = Network(policies=[Never()])
    network.b.endpoint.connect(THERE, HERE, network.now, opened_here=False)
    network.collect()
    assert (network.under_way, network.b.endpoint.places) == ([], 0)
    assert "not today" in network.b.events(Kind.REFUSED)[0]
    network.connect(network.b)
    network.run(1)
    assert network.agree()


def test_requests_that_cross_lead_to_one_session() -> None:
    network = Network()
    network.connect(network.a)
    network.connect(network.b)
    network.run(30)
    assert network.agree()
    assert ups(network.a) == ups(network.b) == 1


def test_connected_sockets_to_the_same_peer_share_a_session() -> None:
    network = Network()
    network.establish()
    network.connect(network.a)
    network.connect(network.b)
    assert network.run(5) == []


def test_a_request_that_comes_late_is_answered_with_the_nonces_that_stand() -> None:
    network = Network()
    network.establish()
    request = network.seen[0]
    network.run(5 * PERIOD)
    network.inject(request)
    assert network.run(1) == LADDER[:2]
    answer = Message.decode(network.seen[-1])
    entry = network.b.entry()
    expected = Handshake(Control.REQUEST_AND_ACKNOWLEDGE, entry.nonce_to_peer, entry.nonce_from_peer)
    assert Handshake.decode(answer.code, answer.body) == expected


def test_a_peer_that_lost_the_session_gets_another_one_in_its_place() -> None:
    network = Network()
    network.establish()
    before = crossed(network.b.entry())
    network.restart(network.a, host(A_NID, A1))
    network.connect(network.a)
    network.run(5)
    assert network.agree()
    assert crossed(network.b.entry()) != before
    assert ups(network.b) == 1


def test_a_session_that_is_discarded_may_be_asked_for_again() -> None:
    network = Network()
    network.establish()
    network.a.endpoint.discard(A, network.now)
    network.b.endpoint.discard(B, network.now)
    network.collect()
    assert gones(network.a) == gones(network.b) == ["it is not wanted any more"]
    network.connect(network.b)
    network.run(5)
    assert network.agree()


def test_a_wish_that_is_given_up_leaves_nothing() -> None:
    network = Network()
    network.connect(network.a)
    network.a.endpoint.discard(A, network.now)
    network.run(5)
    assert len(network.a.endpoint.cache) == 0
    assert "an answer to nothing that was asked" in network.a.events(Kind.FORGED)[0]
    network.a.endpoint.discard(A, network.now)


def test_an_idle_session_is_collected() -> None:
    network = Network()
    network.establish()
    network.run(IDLE_TIME - 10)
    network.a.endpoint.heard(A, network.now, B1)
    network.run(20)
    assert gones(network.b) == [f"nothing passed for {IDLE_TIME:g} seconds"]
    assert (len(network.a.endpoint.cache), len(network.b.endpoint.cache)) == (1, 0)
    network.run(IDLE_TIME)
    assert (len(network.a.endpoint.cache), network.a.endpoint.next_timer()) == (0, None)
    network.a.endpoint.heard(A, network.now, B1)


def test_a_session_that_the_peer_never_confirms_is_given_up() -> None:
    network = Network()
    network.connect(network.a)
    for _ in range(2):
        network.step(START + 1)
    network.b.works.clear()
    network.run(30)
    assert gones(network.a) == ["the peer never confirmed it"]


def unrecognised(network: Network, source: Vector, quoted: Packet) -> Packet:
    """Return what a host without ILNP answers."""
    body = (42).to_bytes(4) + quoted.encode()
    return Message(4, 2, body).packet(source.address, quoted.source)


def test_a_peer_without_ilnp_says_so_and_is_left_alone() -> None:
    network = Network()
    network.connect(network.a)
    request = network.under_way.pop()[1]
    network.inject(unrecognised(network, THERE, request))
    network.run(WITHOUT_ILNP_TIME - 10)
    assert network.a.events(Kind.WITHOUT_ILNP)
    network.connect(network.a)
    assert network.under_way == []
    network.run(20)
    network.connect(network.a)
    assert len(network.under_way) == 1


def test_the_nonce_leaves_the_packets_when_it_is_wanted_at_first_only() -> None:
    network = Network(settings=Settings(nonce_use=NonceUse.AT_FIRST))
    network.establish()
    assert network.a.entry().bears_nonce
    network.run(NONCE_TIME)
    (changed,) = network.a.take()
    assert isinstance(changed, Changed)
    assert not changed.session.bears_nonce
    network.say(network.a)
    network.run(1)
    assert network.b.accepted() == 1


def test_what_a_caller_may_not_do() -> None:
    endpoint = Endpoint(random.Random(1), START)
    with pytest.raises(ValueError, match="no host of this edge"):
        endpoint.connect(HERE, THERE, START)
    endpoint.serve(host(A_NID, A1), START)
    endpoint.serve(host(B_NID, B1), START)
    with pytest.raises(ValueError, match="a host of this edge as well"):
        endpoint.connect(HERE, THERE, START)


def test_a_host_that_is_withdrawn_takes_its_sessions_and_wishes_along() -> None:
    network = Network()
    network.establish()
    network.a.endpoint.connect(HERE, Vector(B1, M_NID), network.now)
    network.a.endpoint.withdraw(A_NID, network.now)
    network.under_way.clear()
    network.collect()
    assert gones(network.a) == ["its host is gone"]
    assert network.a.endpoint.next_timer() is None
    network.say(network.b)
    network.run(1)
    assert "packets alone make none" in network.a.events(Kind.DROPPED)[0]
    # Its locator is nobody's now, so that a peer may have it.
    network.a.endpoint.serve(host(A_NID, A2), network.now)
    network.a.endpoint.connect(Vector(A2, A_NID), Vector(A1, M_NID), network.now)
    with pytest.raises(ValueError, match="no host of this edge"):
        network.a.endpoint.withdraw(M_NID, network.now)


class Zeros(random.Random):
    """Gives zeros first."""

    def __init__(self, many: int) -> None:
        super().__init__(1)
        self.many = many

    def randbytes(self, n: int) -> bytes:
        self.many -= 1
        return bytes(n) if self.many >= 0 else super().randbytes(n)


def test_no_nonce_is_zero() -> None:
    endpoint = Endpoint(Zeros(2), START)
    endpoint.serve(host(A_NID, A1), START)
    endpoint.connect(HERE, THERE, START)
    (request,) = endpoint.take_outputs()
    assert isinstance(request, Send)
    assert any(nonce_of(request.packet) or b"")


def test_names_are_told_as_the_dns_writes_them() -> None:
    assert str(A) == "0000:00ff:fe00:000a with 0000:00ff:fe00:000b"
