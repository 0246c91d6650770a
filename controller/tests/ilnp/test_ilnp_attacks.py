"""What attackers try, and that it changes nothing: guesses, forgeries, replays, identifiers claimed twice."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ilnp.attackers import ELSEWHERE, GUESS, attack, nonce_given, standing, state_of
from ilnp.network import (
    A1,
    A2,
    A_NID,
    B1,
    B2,
    B_NID,
    HERE,
    M1,
    M_NID,
    THERE,
    A,
    B,
    Network,
    data,
    handshake,
    host,
    listed,
    update,
    ups,
)
from two_sides import START

from wayname.ilnp.cookies import PERIOD
from wayname.ilnp.endpoint import SeenFlow
from wayname.ilnp.handshake import Control, Handshake
from wayname.ilnp.locator_update import Listed, LocatorUpdate, Operation
from wayname.ilnp.nonce import nonce_of, with_nonce
from wayname.ilnp.outputs import Event, Kind, Send
from wayname.ilnp.settings import Settings
from wayname.ilnp.states import Segment
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.wire.icmpv6 import Message
from wayname.wire.ipv6 import Packet


@pytest.mark.parametrize("source", [THERE, ELSEWHERE], ids=["from a locator of the peer", "from elsewhere"])
def test_a_forged_locator_update(source: Vector) -> None:
    network = standing()
    (event,) = attack(network, update(source, HERE, listed(M1), GUESS))
    assert (event.kind, event.is_security) == (Kind.FORGED, True)
    network.now += 2
    (event,) = attack(network, update(source, HERE, listed(M1), None))
    assert "without a nonce" in event.words
    network.now += 2
    short = network.a.entry().nonce_from_peer[:4]
    assert attack(network, update(source, HERE, listed(M1), short))[0].kind is Kind.FORGED


def test_a_locator_update_with_the_nonce_of_the_other_direction() -> None:
    network = standing()
    assert attack(network, update(THERE, HERE, listed(M1), network.a.entry().nonce_to_peer))[0].kind is Kind.FORGED


def test_a_locator_update_of_no_session_and_to_no_host() -> None:
    network = standing()
    nonce = network.a.entry().nonce_from_peer
    assert attack(network, update(Vector(M1, M_NID), HERE, listed(M1), nonce))[0].kind is Kind.FORGED
    assert attack(network, update(THERE, Vector(A1, M_NID), listed(M1), nonce))[0].kind is Kind.DROPPED


def test_a_peer_cannot_claim_a_locator_of_ours() -> None:
    network = standing()
    (event,) = attack(network, update(THERE, HERE, listed(A1), network.a.entry().nonce_from_peer))
    assert event.kind is Kind.CLAIMED
    assert "which is ours" in event.words


def test_a_locator_update_from_where_it_does_not_list() -> None:
    network = standing()
    (event,) = attack(network, update(ELSEWHERE, HERE, listed(B2), network.a.entry().nonce_from_peer))
    assert "which it does not list" in event.words


def test_a_forged_acknowledgement_does_not_end_the_telling() -> None:
    network = standing()
    network.b.works.clear()
    network.move(network.a, host(A_NID, A2))
    at = Vector(A2, A_NID)
    told = network.a.entry().told
    assert attack(network, update(THERE, at, told.listed, GUESS, Operation.ACKNOWLEDGEMENT))[0].kind is Kind.FORGED
    nonce = network.a.entry().nonce_from_peer
    network.now += 0.01
    before = told.state
    network.a.endpoint.receive(update(THERE, at, listed(A1), nonce, Operation.ACKNOWLEDGEMENT), network.now)
    assert network.a.entry().told.state is before
    # Who was told says so: then it does.
    network.now += 0.01
    network.a.endpoint.receive(update(THERE, at, told.listed, nonce, Operation.ACKNOWLEDGEMENT), network.now)
    assert network.a.entry().told.state is not before


@pytest.mark.parametrize("later", [1, 15, 3600])
def test_a_locator_update_of_before_a_move_changes_nothing_whenever_it_is_played_again(later: float) -> None:
    network = Network(settings=Settings(idle=None), hosts=(host(A_NID, A1), host(B_NID, B1, B2)))
    network.establish()
    network.run(5)
    for _ in range(20):
        network.move(network.b, host(B_NID, B2))
        network.run(12)
        network.move(network.b, host(B_NID, B1, B2))
        network.run(12)
    network.move(network.b, host(B_NID, B2))
    network.run(later)
    *earlier, last = told_by(network, B_NID)
    assert len(earlier) > 40
    assert state_of(network.a)[3] == (B2,)
    for packet in earlier:
        (event,) = attack(network, packet)
        assert event.kind is Kind.REPLAYED
        network.now += 2
    network.a.endpoint.receive(last, network.now)
    assert [type(output) for output in network.a.endpoint.take_outputs()] == [Send], (
        "the last one is acknowledged again"
    )


def told_by(network: Network, nid: NID) -> list[Packet]:
    """Return the Locator Updates of a host that differ, in order."""
    told = dict.fromkeys(packet.encode() for packet in network.seen if packet.upper_layer().data[:1] == bytes([156]))
    packets = [Packet.decode(octets) for octets in told]
    return [one for one in packets if Vector.of(one.source).nid == nid and one.upper_layer().data[5] == 1]


class Foreign:
    """A peer that has read RFC 6743 and no more: it numbers nothing, and acknowledges at the locator where it is."""

    def __init__(self) -> None:
        self.network = standing()
        self.endpoint = self.network.a.endpoint
        self.nonce = self.network.a.entry().nonce_from_peer
        self.at = B1
        self.asked = 0
        self.acknowledged: list[L64] = []

    def tell(self, locator: L64) -> None:
        """Let a list of one locator arrive from there, whoever sends it, and a second pass."""
        self._arrive(locator, listed(locator), Operation.ADVERTISEMENT)
        for _ in range(10):
            self.network.now += 0.1
            self.endpoint.handle_timer(self.network.now)
            self._answer()

    def _answer(self) -> None:
        for output in self.endpoint.take_outputs():
            if isinstance(output, Send):
                at = Vector.of(output.packet.destination).locator
                message = Message.decode(output.packet)
                told = LocatorUpdate.decode(message.code, message.body)
                if told.operation is Operation.ACKNOWLEDGEMENT:
                    self.acknowledged.append(at)
                    continue
                self.asked += 1
                if at == self.at:
                    self._arrive(at, told.listed, Operation.ACKNOWLEDGEMENT)

    def _arrive(self, locator: L64, told: tuple[Listed, ...], operation: Operation) -> None:
        self.endpoint.receive(update(Vector(locator, B_NID), HERE, told, self.nonce, operation), self.network.now)


def test_a_peer_that_numbers_nothing_is_believed_to_be_back_only_if_it_is_there() -> None:
    peer = Foreign()
    for peer.at in (B1, B2):
        peer.tell(peer.at)
    assert (peer.network.a.entry().destination, peer.asked, peer.acknowledged) == (B2, 0, [B1, B2])
    for _ in range(50):
        # Played again, by somebody who is not there.
        peer.tell(B1)
        assert peer.network.a.entry().destination == B2
    assert peer.asked <= 2 * 50
    assert peer.acknowledged == [B1, B2]
    peer.at = B1
    peer.tell(B1)
    assert peer.network.a.entry().destination == B1
    peer.tell(B1)
    assert peer.acknowledged == [B1, B2, B1]


@pytest.mark.parametrize("control", list(Control))
def test_guessed_nonces_in_a_handshake(control: Control) -> None:
    for destination in (GUESS, standing().a.entry().nonce_to_peer[::-1]):
        network = standing()
        (event,) = attack(network, handshake(THERE, HERE, Handshake(control, GUESS, destination)))
        assert event.kind is Kind.FORGED
    empty = Network()
    empty.inject(handshake(THERE, HERE, Handshake(control, GUESS, GUESS)))
    empty.run(5)
    assert len(empty.a.endpoint.cache) == 0
    assert empty.a.events(Kind.FORGED)


@pytest.mark.parametrize("control", list(Control))
def test_a_nonce_of_ours_in_the_name_of_a_peer_whose_own_is_another(control: Control) -> None:
    network = standing()
    message = Handshake(control, GUESS, network.a.entry().nonce_to_peer)
    (event,) = attack(network, handshake(THERE, HERE, message))
    assert "whose source nonce is not the peer's" in event.words


def test_a_handshake_whose_packet_bears_another_nonce_or_none() -> None:
    network = standing()
    entry = network.a.entry()
    right = Handshake(Control.ACKNOWLEDGE, entry.nonce_from_peer, entry.nonce_to_peer)
    assert "not that of the message" in attack(network, handshake(THERE, HERE, right, GUESS))[0].words
    network.now += 2
    bare = Message(160, 0, right.encode()).packet(THERE.address, HERE.address)
    assert "without a nonce" in attack(network, bare)[0].words


def test_short_nonces_are_guessed_at_random_in_vain() -> None:
    network = Network(settings=Settings(nonce_octets=4))
    rng = random.Random(5)
    for _ in range(3000):
        guess = Handshake(Control.ACKNOWLEDGE, rng.randbytes(3) + b"\1", rng.randbytes(3) + b"\1")
        network.a.endpoint.receive(handshake(THERE, HERE, guess), network.now)
    outputs = network.a.endpoint.take_outputs()
    assert len(network.a.endpoint.cache) == 0
    assert len(outputs) == 1


def recorded() -> tuple[Network, list[Packet]]:
    """Return a network in which a session stood and is over, and the three messages that made it."""
    network = Network()
    network.connect(network.a)
    network.run(0.5)
    messages = list(network.seen)
    assert len(messages) == 3
    network.a.endpoint.discard(A, network.now)
    network.b.endpoint.discard(B, network.now)
    network.collect()
    network.a.take()
    network.b.take()
    return network, messages


@pytest.mark.parametrize("later", [0.0, PERIOD, 2 * PERIOD, 100 * PERIOD])
def test_a_replayed_acknowledgement_makes_no_session(later: float) -> None:
    network, (_, _, acknowledgement) = recorded()
    network.run(later)
    network.inject(acknowledgement)
    network.run(5)
    assert (len(network.b.endpoint.cache), ups(network.b)) == (0, 0)
    assert network.b.events(Kind.REPLAYED) or later >= PERIOD
    assert network.b.events(Kind.REPLAYED) or network.b.events(Kind.FORGED)


def test_a_replayed_request_and_a_replayed_answer_make_no_session() -> None:
    network, (request, answer, _) = recorded()
    network.inject(request)
    network.inject(answer)
    network.run(5)
    assert (len(network.a.endpoint.cache), len(network.b.endpoint.cache)) == (0, 0)
    assert network.a.events(Kind.FORGED)


def test_messages_replayed_while_the_session_stands_change_nothing() -> None:
    network = Network()
    network.connect(network.a)
    network.run(5)
    before = state_of(network.a), state_of(network.b)
    for packet in list(network.seen) * 3:
        network.inject(packet)
    network.run(20)
    assert (state_of(network.a), state_of(network.b)) == before
    assert ups(network.a) == ups(network.b) == 1


def test_a_nonce_that_was_given_out_serves_nobody_else() -> None:
    network = Network()
    network.connect(network.a)
    for _ in range(2):
        network.step(START + 1)
    acknowledgement = network.under_way.pop()[1]
    body = Message.decode(acknowledgement).body
    message = Handshake.decode(0, body)
    for thief in (Vector(M1, A_NID), Vector(A1, M_NID), Vector(A2, A_NID)):
        network.b.endpoint.receive(handshake(thief, THERE, message), network.now)
        assert len(network.b.endpoint.cache) == 0
    network.b.endpoint.receive(acknowledgement, network.now)
    assert len(network.b.endpoint.cache) == 1


def test_the_naive_policy_gives_a_session_to_whoever_claims_it() -> None:
    network = Network(settings=Settings(naive=True))
    network.establish()
    network.b.endpoint.receive(data(Vector(M1, A_NID), THERE, GUESS), network.now)
    assert network.b.entry().nonce_from_peer == GUESS


def test_packets_without_a_nonce_from_a_locator_that_is_not_the_peers() -> None:
    network = standing()
    assert attack(network, data(ELSEWHERE, HERE))[0].kind is Kind.FORGED
    network.a.endpoint.receive(data(THERE, HERE), network.now)
    network.collect()
    assert network.a.accepted() == 1


def test_an_icmp_error_in_the_name_of_the_peer_needs_its_nonce() -> None:
    network = standing()
    error = Message(1, 0, bytes(4)).packet(THERE.address, HERE.address)
    assert attack(network, error)[0].kind is Kind.FORGED
    network.a.endpoint.receive(with_nonce(error, network.a.entry().nonce_from_peer), network.now)
    network.collect()
    assert network.a.accepted() == 1


def test_an_icmp_error_that_says_a_peer_has_no_ilnp_must_quote_our_request() -> None:
    network = Network()
    network.connect(network.a)
    request = network.under_way[0][1]
    assert nonce_of(request) is not None
    forged = handshake(HERE, THERE, Handshake(Control.REQUEST, GUESS))
    for quoted in (forged, data(HERE, THERE, GUESS)):
        error = Message(4, 2, (42).to_bytes(4) + quoted.encode()).packet(THERE.address, HERE.address)
        network.a.endpoint.receive(error, network.now)
    other = Message(4, 2, (40).to_bytes(4) + request.encode()).packet(THERE.address, HERE.address)
    network.a.endpoint.receive(other, network.now)
    network.run(5)
    assert network.agree()
    assert not network.a.events(Kind.WITHOUT_ILNP)


def test_an_identifier_in_use_is_not_given_to_a_second_site() -> None:
    network = standing()
    (event,) = attack(network, handshake(ELSEWHERE, HERE, Handshake(Control.REQUEST, GUESS)))
    assert event.kind is Kind.CLAIMED
    flow = SeenFlow(HERE, ELSEWHERE, GUESS, GUESS[::-1], (Segment.SYN, Segment.SYN_ACK, Segment.ACK), False)
    before = state_of(network.a)
    network.now += 2
    network.a.endpoint.tcp(flow, network.now)
    network.collect()
    assert len(network.a.events(Kind.CLAIMED)) == 1
    assert state_of(network.a) == before


def test_a_proof_from_elsewhere_does_not_take_over_what_came_to_stand_meanwhile() -> None:
    network = Network()
    first = Handshake(Control.REQUEST, GUESS)
    network.a.endpoint.receive(handshake(ELSEWHERE, HERE, first), network.now)
    (answer,) = network.a.endpoint.take_outputs()
    given = nonce_given(answer)
    network.establish()
    (event,) = attack(network, handshake(ELSEWHERE, HERE, Handshake(Control.ACKNOWLEDGE, GUESS, given)))
    assert event.kind is Kind.CLAIMED


def test_an_identifier_that_we_ask_for_is_not_given_to_another_site() -> None:
    network = Network()
    network.b.works.clear()
    network.connect(network.a)
    network.a.endpoint.receive(handshake(ELSEWHERE, HERE, Handshake(Control.REQUEST, GUESS)), network.now)
    (event,) = network.a.endpoint.take_outputs()
    assert isinstance(event, Event)
    assert event.kind is Kind.CLAIMED


def test_an_identifier_of_a_host_here_cannot_come_from_elsewhere() -> None:
    network = standing()
    (event,) = attack(network, handshake(Vector(M1, A_NID), HERE, Handshake(Control.REQUEST, GUESS)))
    assert event.kind is Kind.CLAIMED


@pytest.mark.parametrize("locator", [0, 0xFE80_0000_0000_0000, 0xFF02_0000_0000_0000])
def test_requests_from_addresses_that_nobody_has(locator: int) -> None:
    network = Network()
    source = Vector(L64(locator), M_NID)
    network.a.endpoint.receive(handshake(source, HERE, Handshake(Control.REQUEST, GUESS)), network.now)
    network.collect()
    assert "no address that packets come from" in network.a.events(Kind.DROPPED)[0]


def test_nothing_at_all_can_be_said_by_garbage() -> None:
    network = standing()
    rng = random.Random(7)
    whole = [packet for packet in network.seen if packet.upper_layer().number == 58]
    for _ in range(2000):
        octets = bytearray(rng.choice(whole).encode())
        for _ in range(rng.randrange(1, 4)):
            octets[rng.randrange(40, len(octets))] ^= 1 << rng.randrange(8)
        cut = octets[: rng.randrange(41, len(octets) + 1)] if rng.random() < 0.3 else octets
        cut[4:6] = (len(cut) - 40).to_bytes(2)
        before = state_of(network.a), state_of(network.b)
        for side in (network.a, network.b):
            side.endpoint.receive(Packet.decode(bytes(cut)), network.now)
        assert (state_of(network.a), state_of(network.b)) == before
    assert len(network.a.endpoint.cache) == len(network.b.endpoint.cache) == 1


@given(st.sampled_from((1, 4, 156, 160)), st.integers(0, 2), st.binary(max_size=80), st.sampled_from((4, 12, None)))
def test_messages_that_say_anything_at_all_raise_nothing_and_change_nothing(
    kind: int, code: int, body: bytes, size: int | None
) -> None:
    network = standing()
    packet = Message(kind, code, body).packet(THERE.address, HERE.address)
    before = state_of(network.a)
    network.a.endpoint.receive(packet if size is None else with_nonce(packet, GUESS[:size]), network.now)
    assert state_of(network.a) == before


@given(st.integers(0, 255), st.binary(max_size=80))
def test_packets_of_anything_at_all_raise_nothing(next_header: int, payload: bytes) -> None:
    network = Network(settings=Settings(naive=True))
    network.a.endpoint.receive(Packet(THERE.address, HERE.address, next_header, payload), network.now)
    assert len(network.a.endpoint.cache) <= 1
