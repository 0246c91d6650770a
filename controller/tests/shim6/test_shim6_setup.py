"""Setting up contexts: the exchanges of RFC 5533, section 7, step by step."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address
from itertools import pairwise

import pytest
from shim6 import scapy_shim6 as other
from shim6.network import A1, A2, A3, B1, B2, A, B, Network, Side, host

from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import Context
from wayname.shim6.outputs import Dropped, Failed, Lost, PeerError, Ready, Received, Refused
from wayname.shim6.states import State, Trigger
from wayname.wire import icmpv6, ipv6
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.errors import ErrorCode
from wayname.wire.shim6.messages import I1, R2, Error, Keepalive, Message, UpdateRequest, decode, encode
from wayname.wire.shim6.options import ForkedInstance, UlidPair
from wayname.wire.shim6.payload import PayloadHeader


def context(side: Side, name: SessionKey) -> Context:
    """Return a context that must be there."""
    found = side.endpoint.contexts.named(name)
    assert found is not None
    return found


def shim6(source: IPv6Address, destination: IPv6Address, octets: bytes) -> Packet:
    """Return a packet with a Shim6 header."""
    return Packet(source, destination, ipv6.SHIM6, octets)


def last_message(network: Network) -> Message:
    """Return the message that was sent last."""
    return decode(network.under_way[-1][1].payload)


def established(seed: int = 1) -> Network:
    """Return a network whose context A1, B1 stands."""
    network = Network(seed)
    network.establish(network.a, A)
    network.drive()
    assert network.a.take() == [Ready(A)]
    assert network.b.take() == [Ready(B)]
    return network


def assert_joined(network: Network) -> None:
    """Check that both ends have the context, each with the other's tag and locators."""
    a, b = context(network.a, A), context(network.b, B)
    assert (a.state, b.state) == (State.ESTABLISHED, State.ESTABLISHED)
    assert (a.peer_tag, b.peer_tag) == (b.tag, a.tag)
    assert (a.known.locators, b.known.locators) == (frozenset({B1, B2}), frozenset({A1, A2}))
    assert network.a.endpoint.next_timer() is None
    assert network.b.endpoint.next_timer() is None


def i2_of(network: Network) -> Packet:
    """Return the I2 of a set-up that is not delivered yet."""
    network.establish(network.a, A)
    assert network.step() == "A1 --I1-> B1"
    assert network.step() == "B1 --R1-> A1"
    return network.under_way.pop()[1]


def test_four_messages_make_a_context() -> None:
    network = Network()
    network.establish(network.a, A)
    assert context(network.a, A).state is State.I1_SENT
    assert network.step() == "A1 --I1-> B1"
    # The responder keeps nothing of an I1.
    assert len(network.b.endpoint.contexts) == 0
    assert network.b.endpoint.next_timer() is None
    assert network.step() == "B1 --R1-> A1"
    assert context(network.a, A).state is State.I2_SENT
    assert network.step() == "A1 --I2-> B1"
    assert network.b.take() == [Ready(B)]
    assert network.step() == "B1 --R2-> A1"
    assert network.a.take() == [Ready(A)]
    assert network.step() is None
    assert_joined(network)


def test_crossing_i1s_are_answered_with_r2() -> None:
    network = Network()
    network.establish(network.a, A)
    network.establish(network.b, B)
    assert network.step() == "A1 --I1-> B1"
    assert network.step() == "B1 --I1-> A1"
    assert network.step() == "B1 --R2-> A1"
    assert network.step() == "A1 --R2-> B1"
    assert network.step() is None
    assert_joined(network)


def test_crossing_i1_and_i2() -> None:
    network = Network()
    network.establish(network.a, A)
    assert network.step() == "A1 --I1-> B1"
    network.establish(network.b, B)
    assert network.step() == "B1 --R1-> A1"
    assert network.step() == "B1 --I1-> A1"
    assert network.step() == "A1 --I2-> B1"
    assert network.step() == "A1 --R2-> B1"
    assert network.step() == "B1 --R2-> A1"
    assert network.step() is None
    assert_joined(network)


def test_crossing_i2s() -> None:
    network = Network()
    network.establish(network.a, A)
    assert network.step() == "A1 --I1-> B1"
    network.establish(network.b, B)
    network.swap()
    # B's I1 comes before A's R1 is used, so B gets R2; A's is lost, and both go on by themselves.
    assert network.step() == "B1 --I1-> A1"
    assert network.step() == "B1 --R1-> A1"
    assert network.lose() == "A1 --R2-x B1"
    assert network.step() == "A1 --I2-> B1"
    assert network.step() == "B1 --R2-> A1"
    assert network.step() is None
    assert_joined(network)


@pytest.mark.parametrize("lost", range(4))
def test_each_lost_message_is_made_good(lost: int) -> None:
    network = Network()
    network.establish(network.a, A)
    for _ in range(lost):
        network.step()
    assert network.lose() == ["A1 --I1-x B1", "B1 --R1-x A1", "A1 --I2-x B1", "B1 --R2-x A1"][lost]
    began = network.now
    assert network.step() == "A timer"
    assert 2.0 <= network.now - began <= 6.0
    repeated = ["A1 --I1-> B1", "A1 --I1-> B1", "A1 --I2-> B1", "A1 --I2-> B1"][lost]
    assert network.step() == repeated
    network.drive()
    assert_joined(network)


def test_an_i1_that_was_delayed_finds_the_context_and_gets_r2() -> None:
    network = Network()
    network.establish(network.a, A)
    i1 = network.under_way[0][1]
    network.drive()
    network.inject(i1)
    assert network.step() == "A1 --I1-> B1"
    assert network.step() == "B1 --R2-> A1"
    assert network.step() is None
    assert_joined(network)


def test_i1s_back_off_and_end() -> None:
    network = Network()
    network.establish(network.a, A)
    sent = [network.now]
    for _ in range(4):
        assert network.lose() == "A1 --I1-x B1"
        assert network.step() == "A timer"
        sent.append(network.now)
    for number, (one, next_one) in enumerate(pairwise(sent)):
        assert 0.5 * 4 * 2**number <= next_one - one <= 1.5 * 4 * 2**number
    assert network.lose() == "A1 --I1-x B1"
    assert network.step() == "A timer"
    assert network.a.take() == [Failed(A, State.E_FAILED)]
    failed = network.now
    # Nobody is asked again for a minute.
    network.establish(network.a, A)
    assert not network.under_way
    assert network.step() == "A timer"
    assert network.now - failed == 60.0
    assert len(network.a.endpoint.contexts) == 0
    network.establish(network.a, A)
    network.drive()
    assert_joined(network)


def test_i2s_end_in_i1s_and_those_end_too() -> None:
    network = Network()
    network.establish(network.a, A)
    i1s = i2s = 0
    while network.a.take() != [Failed(A, State.E_FAILED)]:
        if network.under_way and (arrow := network.under_way[0][1].payload[2]) == 3:
            network.lose()
            i2s += 1
            continue
        i1s += network.step() == "A1 --I1-> B1"
        assert arrow in (1, 2, 3)
    assert (i1s, i2s) == (5, 15)
    assert len(network.b.endpoint.contexts) == 0


def test_a_peer_without_shim6_is_left_alone_for_ten_minutes() -> None:
    network = Network()
    network.establish(network.a, A)
    i1 = network.under_way.pop()[1]
    about_i1 = icmpv6.Message(icmpv6.PARAMETER_PROBLEM, 1, (6).to_bytes(4) + i1.encode())
    network.inject(about_i1.packet(B1, A1))
    at, packet = network.under_way.pop()
    network.now = at
    network.a.endpoint.receive(packet, network.now)
    network.collect()
    assert network.a.take() == [Failed(A, State.NO_SUPPORT)]
    began = network.now
    assert network.step() == "A timer"
    assert network.now - began == pytest.approx(600.0)
    assert len(network.a.endpoint.contexts) == 0


def test_an_icmp_error_about_an_i1_that_we_did_not_send_is_not_believed() -> None:
    network = Network()
    network.establish(network.a, A)
    sent = last_message(network)
    assert isinstance(sent, I1)
    for forged in (replace(sent, tag=sent.tag ^ 1), replace(sent, initiator_nonce=sent.initiator_nonce ^ 1)):
        quoted = shim6(A1, B1, encode(forged))
        error = icmpv6.Message(icmpv6.PARAMETER_PROBLEM, 1, (6).to_bytes(4) + quoted.encode())
        network.a.endpoint.receive(error.packet(B1, A1), network.now)
        network.collect()
        (dropped,) = network.a.take()
        assert isinstance(dropped, Dropped)
    assert context(network.a, A).state is State.I1_SENT


def test_who_failed_still_answers() -> None:
    network = Network()
    network.establish(network.a, A)
    while not network.a.take():
        network.under_way.clear()
        network.step()
    assert context(network.a, A).state is State.E_FAILED
    network.establish(network.b, B)
    assert network.drive(60.0)[:4] == ["B1 --I1-> A1", "A1 --R1-> B1", "B1 --I2-> A1", "A1 --R2-> B1"]
    assert_joined(network)


def test_a_context_that_the_receiver_lost_is_recovered() -> None:
    network = established()
    old = context(network.b, B).tag
    network.b.endpoint.discard(B, network.now)
    network.collect()
    assert network.b.take() == [Lost(B, Trigger.DISCARD)]
    network.inject(shim6(A2, B2, PayloadHeader(6, old).encode() + b"segment"))
    assert network.step() == "A2 --payload-> B2"
    assert len(network.b.endpoint.contexts) == 0
    assert network.step() == "B2 --R1bis-> A2"
    assert context(network.a, A).state is State.I2BIS_SENT
    assert network.step() == "A2 --I2bis-> B2"
    assert network.step() == "B2 --R2-> A2"
    assert network.step() is None
    assert_joined(network)
    assert context(network.b, B).tag != old
    assert network.a.take() == [Ready(A)]


def test_a_context_that_the_sender_lost_is_made_anew() -> None:
    network = established()
    old = context(network.b, B)
    network.restart(network.a)
    network.establish(network.a, A)
    assert network.step() == "A1 --I1-> B1"
    # The tag is another one, so the old context stays as it is until I2 proves something.
    assert network.step() == "B1 --R1-> A1"
    assert old.peer_tag != context(network.a, A).tag
    assert network.step() == "A1 --I2-> B1"
    assert network.step() == "B1 --R2-> A1"
    assert_joined(network)
    assert network.b.take() == [Ready(B)]


def test_recovery_ends_in_a_new_set_up() -> None:
    network = established()
    network.restart(network.b)
    tag = context(network.a, A).peer_tag
    assert tag is not None
    network.inject(shim6(A1, B1, PayloadHeader(6, tag).encode()))
    assert network.step() == "A1 --payload-> B1"
    assert network.step() == "B1 --R1bis-> A1"
    for _ in range(2):
        assert network.lose() == "A1 --I2bis-x B1"
        assert network.step() == "A timer"
    assert network.a.take() == []
    assert network.lose() == "A1 --I2bis-x B1"
    assert network.step() == "A timer"
    assert network.a.take() == [Lost(A, Trigger.OUT_OF_TRIES)]
    assert network.step() == "A1 --I1-> B1"
    network.drive()
    assert_joined(network)


def test_a_tag_that_the_peer_uses_again_ends_the_old_context() -> None:
    network = established()
    stale = context(network.a, A)
    network.restart(network.b)
    # B, which lost the context, gives its tag to another pair of identities.
    name = SessionKey(A1, B2)
    network.a.endpoint.establish(name, network.now)
    network.collect()
    asked = last_message(network)
    network.under_way.clear()
    assert isinstance(asked, I1)
    assert stale.peer_tag is not None
    r2 = R2(stale.peer_tag, asked.initiator_nonce, host(B1, B2).options)
    network.inject(shim6(B2, A1, encode(r2)))
    assert network.step() == "B2 --R2-> A1"
    assert network.a.take() == [Lost(A, Trigger.CONFUSED), Ready(name)]
    assert network.a.endpoint.contexts.named(A) is None


def test_other_locators_than_the_identities() -> None:
    network = Network()
    network.a.endpoint.establish(A, network.now, Pair(A2, B2))
    network.collect()
    message = last_message(network)
    assert isinstance(message, I1)
    assert message.options == (UlidPair(A1, B1),)
    assert network.drive() == ["A2 --I1-> B2", "B2 --R1-> A2", "A2 --I2-> B2", "B2 --R2-> A2"]
    assert_joined(network)
    assert context(network.b, B).pair == Pair(B2, A2)


def test_forked_contexts_stand_side_by_side() -> None:
    network = established()
    forked = A._replace(instance=7)
    network.establish(network.a, forked)
    message = last_message(network)
    assert isinstance(message, I1)
    assert message.options == (ForkedInstance(7),)
    network.drive()
    assert network.a.take() == [Ready(forked)]
    assert context(network.b, B._replace(instance=7)).peer_tag == context(network.a, forked).tag
    assert_joined(network)


def test_messages_within_a_context_are_handed_on() -> None:
    network = established()
    keepalive = Keepalive(context(network.b, B).tag)
    network.inject(shim6(A2, B1, encode(keepalive)))
    assert network.step() == "A2 --KEEPALIVE-> B1"
    assert network.b.take() == [Received(B, keepalive, Pair(B1, A2))]
    # A stale tag, or a locator that the peer never told of.
    for source, tag in ((A1, keepalive.tag ^ 1), (A3, keepalive.tag)):
        network.inject(shim6(source, B1, encode(UpdateRequest(tag, 1))))
        network.step()
        assert network.lose().startswith("B1 --R1bis-x A")
    assert_joined(network)


def test_a_packet_before_r2_tells_that_r2_was_lost() -> None:
    network = Network()
    network.inject(i2_of(network))
    assert network.step() == "A1 --I2-> B1"
    assert network.lose() == "B1 --R2-x A1"
    keepalive = Keepalive(context(network.a, A).tag)
    network.inject(shim6(B1, A1, encode(keepalive)))
    assert network.step() == "B1 --KEEPALIVE-> A1"
    assert network.a.take() == [Received(A, keepalive, Pair(A1, B1))]
    assert network.step() == "A1 --I2-> B1"
    assert network.step() == "B1 --R2-> A1"
    assert_joined(network)


def test_what_cannot_be_processed_is_answered_and_the_error_finds_its_context() -> None:
    network = Network()
    network.establish(network.a, A)
    new = other.I1(initiator_tag=context(network.a, A).tag, options=[other.Unknown(critical=1)])
    network.under_way.clear()
    network.inject(shim6(A1, B1, bytes(new)))
    assert network.step() == "A1 --I1-> B1"
    assert network.step() == "B1 --ERROR-> A1"
    assert network.a.take() == [PeerError(A, ErrorCode.CRITICAL_OPTION, 40 + 16)]
    assert not network.under_way


def test_an_error_is_never_answered() -> None:
    network = established()
    unknown = shim6(A1, B1, bytes(other.I1(number=99)))
    for about in (unknown.encode(), unknown.encode()[:50], b"", bytes(100)):
        network.inject(shim6(B1, A1, encode(Error(0, 42, about))))
        assert network.step() == "B1 --ERROR-> A1"
        (dropped,) = network.a.take()
        assert isinstance(dropped, Dropped)
    assert not network.under_way


@pytest.mark.parametrize(
    ("source", "destination"),
    [
        (IPv6Address("::"), B1),
        (IPv6Address("ff02::1"), B1),
        (A1, IPv6Address("ff02::1")),
        (A1, IPv6Address("2001:db8:9::9")),
    ],
)
def test_addresses_of_nobody_are_dropped(source: IPv6Address, destination: IPv6Address) -> None:
    network = Network()
    network.b.endpoint.receive(shim6(source, destination, encode(I1(1, 2))), network.now)
    (dropped,) = network.b.endpoint.take_outputs()
    assert isinstance(dropped, Dropped)


def test_commands_out_of_order_are_refused() -> None:
    network = established()
    network.establish(network.a, A)
    assert network.a.take() == [Refused(A, State.ESTABLISHED, Trigger.ESTABLISH)]
    with pytest.raises(ValueError, match="no host of this edge"):
        network.a.endpoint.establish(B, network.now)
    network.a.endpoint.discard(A._replace(instance=5), network.now)
    assert network.a.endpoint.take_outputs() == []
