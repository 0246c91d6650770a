"""What RFC 7401 asks of each message of the base exchange, beside that it works."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from hip.keys import ecdsa, rsa_identity
from hip.network import A1, A2, ALICE, B1, BOB, EASY, Network, Side, anybody, message_of, resealed

from wayname.hip.association import LocalHost
from wayname.hip.endpoint import Endpoint
from wayname.hip.errors import MessageError
from wayname.hip.esp.suites import SuiteId
from wayname.hip.framing import frame
from wayname.hip.messages import Kind, Message, encode, with_checksum, with_length
from wayname.hip.outputs import Send
from wayname.hip.parameters import (
    Ack,
    DhGroupList,
    DiffieHellman,
    EchoRequestSigned,
    EchoRequestUnsigned,
    EchoResponseSigned,
    EchoResponseUnsigned,
    HitSuiteList,
    Parameter,
    R1Counter,
)
from wayname.hip.puzzles import Asked, Puzzles, solve
from wayname.hip.settings import Settings
from wayname.hip.states import State
from wayname.hip.suites import UNKNOWN_PEER, suite_of
from wayname.wire.ipv6 import HIP, Packet

ASKED = Asked(ALICE.hit, BOB.hit, A1, B1)


def i1(sender: IPv6Address, receiver: IPv6Address = BOB.hit) -> Packet:
    """Return an I1 to B."""
    return Packet(
        A1, B1, HIP, with_checksum(encode(Message(Kind.I1, sender, receiver, (DhGroupList((8, 7)),))), A1, B1)
    )


def answer(network: Network, packet: Packet) -> Message:
    """Return what B says first to a packet."""
    network.b.endpoint.receive(packet, network.now)
    sent = next(one.packet for one in network.b.endpoint.take_outputs() if isinstance(one, Send))
    return message_of(sent)


def with_unsigned(packet: Packet, *several: bytes) -> Packet:
    """Return a packet to which somebody on the way has added what is to come back."""
    framed = b"".join(frame(EchoRequestUnsigned.number, one) for one in several)
    octets = with_length(packet.payload + framed)
    return replace(packet, payload=with_checksum(octets, packet.source, packet.destination))


def echoed(message: Message) -> tuple[Parameter, ...]:
    """Return what comes back in an answer."""
    return tuple(one for one in message.parameters if isinstance(one, EchoResponseSigned | EchoResponseUnsigned))


def test_nobody_gets_the_same_puzzle_twice() -> None:
    puzzles = Puzzles(random.Random(1))
    made = {puzzles.make(ASKED, 4, 1000.0).random for _ in range(100)}
    assert len(made) == 100


def test_a_puzzle_of_an_earlier_period_is_none_of_this_one() -> None:
    puzzles, rng = Puzzles(random.Random(1)), random.Random(2)
    solution = solve(puzzles.make(ASKED, 2, 1000.0), ASKED, rng, 8)
    puzzles.check(ASKED, solution, 1100.0)
    # Two periods later the odd one is another one.
    puzzles.make(ASKED, 2, 1260.0)
    with pytest.raises(MessageError, match="too old"):
        puzzles.check(ASKED, solution, 1260.0)


def test_without_difficulty_any_solution_is_right() -> None:
    network = Network(Settings(least_difficulty=0))
    network.connect(network.a)
    network.drive(1.0)
    assert network.association(network.a).state is State.ESTABLISHED


def test_who_has_a_suite_that_is_not_known_reads_which_ones_are() -> None:
    stranger = IPv6Address(int(ALICE.hit) & ~(0xF << 96) | 9 << 96)
    r1 = answer(Network(), i1(stranger))
    assert (r1.kind, r1.receiver) == (Kind.R1, stranger)
    assert set(r1.need(HitSuiteList).suites) >= {1, 2}


def test_who_has_no_tag_is_not_answered() -> None:
    network = Network()
    network.b.endpoint.receive(i1(IPv6Address("2001:db8::1")), network.now)
    assert not [one for one in network.b.endpoint.take_outputs() if isinstance(one, Send)]


@pytest.mark.parametrize("number", [1, 2, 9])
def test_whoever_asks_nobody_in_particular_gets_his_own_suite_or_the_one_that_all_have(number: int) -> None:
    endpoint = Endpoint(random.Random(1), Settings(opportunistic=True), anybody)
    for identity in (ecdsa(3), rsa_identity()):
        endpoint.serve(LocalHost(identity, (B1,)), 0.0)
    sender = IPv6Address(int(ALICE.hit) & ~(0xF << 96) | number << 96)
    endpoint.receive(i1(sender, UNKNOWN_PEER), 0.0)
    (sent,) = (one.packet for one in endpoint.take_outputs() if isinstance(one, Send))
    assert suite_of(message_of(sent).sender) == (2 if number == 2 else 1)


def r1_for(network: Network, seed: int) -> Message:
    """Return the R1 that a new A gets."""
    network.restart(network.a, seed)
    network.connect(network.a)
    network.step()
    return message_of(network.under_way[0][1])


def test_a_diffie_hellman_value_that_served_is_offered_no_more() -> None:
    network = Network()
    first = r1_for(network, 5)
    network.drive(1.0)
    assert network.association(network.a).state is State.ESTABLISHED
    second = r1_for(network, 6)
    assert second.need(R1Counter).counter > first.need(R1Counter).counter
    assert second.need(DiffieHellman) != first.need(DiffieHellman)
    network.under_way.clear()
    # It did not serve: it is offered again, and signed once.
    third = r1_for(network, 7)
    assert third.need(DiffieHellman) == second.need(DiffieHellman)


def test_who_has_an_r1_already_may_answer_when_its_value_served() -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    late = network.under_way.pop()[1]
    # Somebody else is faster.
    other = Endpoint(random.Random(9), EASY, anybody)
    carol = ecdsa(3)
    other.serve(LocalHost(carol, (A2,)), network.now)
    b = network.b.endpoint
    network.a, alice = Side(other, carol, (A2,), EASY, anybody), network.a
    r1 = answer(network, replace(i1(carol.hit), source=A2, payload=with_checksum(i1(carol.hit).payload, A2, B1)))
    assert r1.need(DiffieHellman) == message_of(late).need(DiffieHellman)
    b._exchange._replies.served(r1.need(R1Counter), network.now)
    network.a = alice
    network.inject(late)
    network.drive(1.0)
    assert network.association(network.b).transport is not None


def test_what_is_to_come_back_comes_back_from_each_message() -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    # Of R1, as middleboxes ask.
    r1 = network.under_way.pop()[1]
    network.inject(with_unsigned(r1, b"one", b"two"))
    network.step()
    i2 = network.under_way.pop()[1]
    assert echoed(message_of(i2)) == (EchoResponseUnsigned(b"one"), EchoResponseUnsigned(b"two"))
    asking = with_unsigned(resealed(network, network.a, i2, EchoRequestSigned(b"signed")), b"three")
    network.inject(asking)
    network.step()
    r2 = message_of(network.under_way[0][1])
    assert (r2.kind, echoed(r2)) == (Kind.R2, (EchoResponseSigned(b"signed"), EchoResponseUnsigned(b"three")))
    network.drive(40.0)
    network.move(network.a, A2)
    network.inject(with_unsigned(network.under_way.pop()[1], b"four"))
    network.step()
    update = message_of(network.under_way[0][1])
    assert (update.need(Ack).updates, echoed(update)) == ((0,), (EchoResponseUnsigned(b"four"),))
    network.drive(5.0)
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    network.inject(with_unsigned(network.under_way.pop()[1], b"five"))
    network.step()
    close_ack = message_of(network.under_way[0][1])
    assert close_ack.kind is Kind.CLOSE_ACK
    assert echoed(close_ack)[1:] == (EchoResponseUnsigned(b"five"),)
    network.drive(1.0)
    assert len(network.a.endpoint.associations) == 0


def test_what_is_too_long_to_come_back_is_left_out_and_the_rest_is_answered() -> None:
    # B signs with 256 octets where A needs 96.
    network = Network(identities=(ALICE, rsa_identity())).established()
    update = resealed(network, network.a, update_of(network), EchoRequestSigned(bytes(1000)))
    told = answer(network, with_unsigned(update, bytes(2048 - len(update.payload) - 8)))
    assert (told.need(Ack).updates, echoed(told)) == ((0,), (EchoResponseSigned(bytes(1000)),))
    network = Network(identities=(ALICE, rsa_identity())).established()
    long = resealed(network, network.a, update_of(network), EchoRequestSigned(bytes(1750)))
    assert (answer(network, long).need(Ack).updates, echoed(answer(network, long))) == ((0,), ())


def update_of(network: Network) -> Packet:
    """Return an UPDATE of A, which is not on its way."""
    network.move(network.a, A2)
    return network.under_way.pop()[1]


def test_no_more_suites_are_offered_than_a_parameter_holds() -> None:
    with pytest.raises(ValueError, match="10 suites of ESP; 6 at most"):
        Settings(esp_suites=tuple(SuiteId))
