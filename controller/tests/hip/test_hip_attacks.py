"""What must fail: replays, forgeries, floods, and locators that are somebody else's."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from hip.keys import ecdsa
from hip.network import A1, A2, ALICE, B1, BOB, EASY, Network, anybody, message_of

from wayname.hip import exchange
from wayname.hip.admission_control import LONGER
from wayname.hip.association import LocalHost, Names, Tags
from wayname.hip.endpoint import Endpoint
from wayname.hip.errors import NotifyType
from wayname.hip.framing import places
from wayname.hip.groups import KeyPair
from wayname.hip.identities import Identity
from wayname.hip.messages import HEADER_OCTETS, Kind, Message, encode, with_checksum
from wayname.hip.outputs import Failed, Send, Up
from wayname.hip.parameters import (
    DhGroupList,
    DiffieHellman,
    Encrypted,
    HipSignature,
    Notification,
    Puzzle,
    Solution,
)
from wayname.hip.settings import Settings
from wayname.hip.states import State
from wayname.session.keys import Pair
from wayname.wire.ipv6 import HIP, Packet

VICTIM = IPv6Address("2001:db8:dead::1")
MALLORY = ecdsa(66)


def spoilt(packet: Packet, at: int) -> Packet:
    """Return a packet with one bit changed, its checksum right."""
    octets = bytearray(packet.payload)
    octets[at] ^= 1
    return replace(packet, payload=with_checksum(bytes(octets), packet.source, packet.destination))


def place(packet: Packet, number: int) -> int:
    """Return where the contents of a parameter begin."""
    return next(at + 4 for kind, at, _ in places(packet.payload, HEADER_OCTETS) if kind == number)


def at_i2(network: Network) -> Packet:
    """Return A's I2, which is on its way."""
    network.connect(network.a)
    network.step()
    network.step()
    return network.under_way[0][1]


def test_a_forged_i2_makes_no_association_and_the_right_one_still_does() -> None:
    network = Network()
    i2 = at_i2(network)
    for number in (Solution.number, DiffieHellman.number, Encrypted.number, HipSignature.number):
        network.b.endpoint.receive(spoilt(i2, place(i2, number) + 5), network.now)
    assert len(network.b.endpoint.associations) == 0
    network.b.endpoint.take_outputs()
    network.drive(1.0)
    assert network.association(network.b).transport is not None


def test_a_replayed_i2_changes_nothing() -> None:
    network = Network()
    i2 = at_i2(network)
    network.drive(40.0)
    before = network.association(network.b).transport
    network.b.take()
    network.b.endpoint.receive(i2, network.now)
    assert [type(one) for one in network.b.endpoint.take_outputs()] == [Send]
    assert network.association(network.b).transport == before
    # A sets up anew; then the old one is no repetition but a replay.
    network.restart(network.a)
    network.connect(network.a)
    network.drive(40.0)
    stands = network.association(network.b).transport
    assert stands != before
    network.b.endpoint.receive(i2, network.now)
    assert network.association(network.b).transport == stands
    assert not [one for one in network.b.endpoint.take_outputs() if isinstance(one, Send | Up)]


def test_an_i2_from_elsewhere_does_not_fit_its_puzzle() -> None:
    network = Network()
    i2 = at_i2(network)
    moved = replace(i2, source=VICTIM, payload=with_checksum(i2.payload, VICTIM, B1))
    network.b.endpoint.receive(moved, network.now)
    network.collect()
    assert "not ours" in network.b.events()[0]
    assert len(network.b.endpoint.associations) == 0


def test_a_flood_of_i2s_costs_hashes_and_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(Settings(least_difficulty=16))
    i2 = at_i2(network)
    at = place(i2, Solution.number)
    dear: list[str] = []
    monkeypatch.setattr(exchange.Exchange, "_secure", lambda *_: dear.append("keys"))
    monkeypatch.setattr(exchange, "check_signature", lambda *_: dear.append("signature"))
    rng = random.Random(5)
    for _ in range(300):
        octets = bytearray(i2.payload)
        octets[at + 52 : at + 100] = rng.randbytes(48)
        packet = replace(i2, payload=with_checksum(bytes(octets), i2.source, i2.destination))
        network.b.endpoint.receive(packet, network.now)
    assert dear == []
    assert len(network.b.endpoint.associations) == 0
    assert network.b.endpoint.next_timer() is None
    assert network.b.endpoint._exchange._puzzles._secrets.count_spent(network.now) == 0
    network.collect()
    # One word a second about all of them.
    assert len(network.b.events()) == 1


def test_a_flood_of_i1s_costs_few_signatures_and_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    signed: list[int] = []
    sign = Identity.sign

    def counted(self: Identity, data: bytes) -> bytes:
        signed.append(1)
        return sign(self, data)

    monkeypatch.setattr(Identity, "sign", counted)
    for number in range(500):
        source = IPv6Address(int(VICTIM) + number)
        hit = IPv6Address(int(ALICE.hit) ^ number)
        i1 = encode(Message(Kind.I1, hit, BOB.hit, (DhGroupList((8, 7)),)))
        network.b.endpoint.receive(Packet(source, B1, HIP, with_checksum(i1, source, B1)), network.now)
    answers = [one for one in network.b.endpoint.take_outputs() if isinstance(one, Send)]
    assert len(signed) == 1
    # The victim's network is not flooded either: by no more octets than are rationed, and one message.
    longer = sum(len(one.packet.payload) - len(i1) for one in answers)
    assert LONGER.burst <= longer < LONGER.burst + len(answers[0].packet.payload)
    assert len(network.b.endpoint.associations) == 0


def test_a_solved_puzzle_buys_a_few_tries_only(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    i2 = at_i2(network)
    dear: list[int] = []
    shared_with = KeyPair.shared_with

    def counted(self: KeyPair, public: bytes) -> bytes:
        dear.append(1)
        return shared_with(self, public)

    monkeypatch.setattr(KeyPair, "shared_with", counted)
    for number in range(20):
        at = len(i2.payload) - 8 - number
        network.b.endpoint.receive(spoilt(i2, at if at > 0 else 0), network.now)
        network.b.endpoint.receive(spoilt(i2, place(i2, DiffieHellman.number) + 3 + number), network.now)
    assert len(dear) <= 4


def test_a_wrong_hit_is_found_out() -> None:
    # Mallory answers at B1 in Bob's name.
    network = Network(identities=(ALICE, MALLORY))
    names = Names(ALICE.hit, BOB.hit)
    network.b.endpoint._hosts[BOB.hit] = LocalHost(replace(MALLORY, hit=BOB.hit), (B1,))
    network.a.endpoint.connect(names, Pair(A1, B1), network.now)
    network.collect()
    network.drive(0.5)
    (event,) = network.a.events()
    assert f"the identity in R1 is that of {MALLORY.hit}, not of {BOB.hit}" in event
    network.drive(60.0)
    assert network.a.take() == [Failed(names)]


def test_an_initiator_with_another_hit_is_found_out() -> None:
    network = Network(identities=(replace(MALLORY, hit=ALICE.hit), BOB))
    network.connect(network.a)
    network.drive(0.5)
    (event,) = network.b.events()
    assert f"the identity in I2 is that of {MALLORY.hit}, not of {ALICE.hit}" in event
    assert len(network.b.endpoint.associations) == 0


def test_a_replayed_r1_with_an_old_counter_is_refused() -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    old = network.under_way[0][1]
    network.drive(1.0)
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    network.drive(1.0)
    network.now += 300.0
    network.drive(2000.0)
    network.connect(network.a)
    network.drive(1.0)
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    network.drive(1.0)
    network.connect(network.a)
    network.under_way.clear()
    network.a.events()
    network.a.endpoint.receive(old, network.now)
    network.collect()
    assert "was seen before" in network.a.events()[0]
    assert network.association(network.a).state is State.I1_SENT


def test_a_forged_r1_is_not_answered() -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    r1 = network.under_way.pop()[1]
    network.a.endpoint.receive(spoilt(r1, place(r1, DhGroupList.number)), network.now)
    network.collect()
    assert "signature is not one of" in network.a.events()[0]
    # Its puzzle is not signed: I may be changed, and then B does not know it.
    network.a.endpoint.receive(spoilt(r1, place(r1, Puzzle.number) + 9), network.now)
    network.collect()
    network.drive(0.5)
    assert "not ours" in network.b.events()[0]


def test_a_list_of_groups_that_was_cut_on_the_way_is_found_out() -> None:
    network = Network()
    network.connect(network.a)
    i1 = network.under_way.pop()[1]
    weak = encode(Message(Kind.I1, ALICE.hit, BOB.hit, (DhGroupList((3,)),)))
    network.inject(replace(i1, payload=with_checksum(weak, A1, B1)))
    network.drive(0.5)
    assert "R1 has Diffie-Hellman group 3; the best that both know is 8" in network.a.events()[0]


def test_nobody_is_asked_to_solve_for_ever() -> None:
    network = Network(EASY, Settings(least_difficulty=30, max_difficulty=30))
    network.connect(network.a)
    network.drive(0.5)
    assert "a puzzle of difficulty 30; more than 18" in network.a.events()[0]


def test_forged_and_replayed_updates_change_nothing() -> None:
    network = Network().established()
    network.move(network.a, A2)
    update = network.under_way[0][1]
    for number, at, end in places(update.payload, HEADER_OCTETS):
        for octet in (at + 4, end - 1):
            network.b.endpoint.receive(spoilt(update, octet), network.now)
            assert network.association(network.b).taken == {}, number
    # All of them together are worth one word to where A is known to be.
    (notify,) = (message_of(one.packet) for one in network.b.endpoint.take_outputs() if isinstance(one, Send))
    assert (notify.kind, notify.need(Notification).kind) == (Kind.NOTIFY, NotifyType.HIP_MAC_FAILED)
    network.drive(2.0)
    network.move(network.a, A1)
    network.drive(2.0)
    # The old one, from where A is not any more, is acknowledged as it was, and nothing else.
    network.b.endpoint.receive(update, network.now)
    assert len(network.b.endpoint.take_outputs()) == 1
    assert network.association(network.b).peer.current == A1


def test_an_update_of_an_earlier_association_is_nobodys() -> None:
    network = Network().established()
    network.move(network.a, A2)
    update = network.under_way[0][1]
    network.drive(2.0)
    network.restart(network.a)
    network.move(network.a, A1)
    network.connect(network.a)
    network.drive(40.0)
    network.b.events()
    network.b.endpoint.receive(update, network.now)
    network.collect()
    assert "MAC of UPDATE is wrong" in network.b.events()[0]
    assert network.association(network.b).peer.current == A1


def test_forged_and_replayed_closes_close_nothing() -> None:
    network = Network().established()
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    close = network.under_way.pop()[1]
    for _, at, end in places(close.payload, HEADER_OCTETS):
        network.b.endpoint.receive(spoilt(close, at + 4), network.now)
        network.b.endpoint.receive(spoilt(close, end - 1), network.now)
    assert network.association(network.b).state is State.ESTABLISHED
    network.restart(network.a)
    network.connect(network.a)
    network.drive(40.0)
    network.b.endpoint.receive(close, network.now)
    assert network.association(network.b).state is State.ESTABLISHED


def test_a_locator_that_is_a_victims_gets_a_few_questions_and_no_data() -> None:
    network = Network().established()
    names = Names(*reversed(network.names))
    network.dead = {VICTIM}
    network.move(network.a, A1, VICTIM)
    to_victim = network.drive(60.0).count(f"B1 --UPDATE-x {VICTIM}")
    assert to_victim == 4
    for number in range(200):
        network.move(network.a, A1, IPv6Address(int(VICTIM) + number))
        to_victim += sum(VICTIM.packed[:8] in packet.destination.packed for _, packet in network.under_way)
        network.drive(0.1)
    # Whatever is told how often: addresses of one network share what may go there.
    sent = [one for one in network.association(network.b).updates.values() if one.destination]
    assert len(sent) + to_victim < 700
    assert network.b.endpoint.way(names, 1000, network.now) == Pair(B1, A1)
    active = [one.address for one in network.association(network.b).peer.active(network.now)]
    assert active == [A1]


def test_an_answer_of_somebody_else_verifies_nothing() -> None:
    network = Network().established()
    network.dead = {VICTIM}
    network.move(network.a, A1, VICTIM)
    network.drive(1.0)
    nonce = network.association(network.b).peer.known[VICTIM].nonce
    assert len(nonce) == 16
    assert network.association(network.b).peer.verified(b"\0" * 16) is None
    assert network.association(network.b).peer.verified(b"") is None


@pytest.mark.parametrize("kind", [Kind.R1, Kind.R2, Kind.UPDATE, Kind.NOTIFY, Kind.CLOSE, Kind.CLOSE_ACK])
def test_what_nobody_waits_for_is_dropped(kind: Kind) -> None:
    network = Network()
    octets = with_checksum(encode(Message(kind, ALICE.hit, BOB.hit)), A1, B1)
    network.b.endpoint.receive(Packet(A1, B1, HIP, octets), network.now)
    network.collect()
    (event,) = network.b.events()
    assert "dropped" in event
    assert len(network.b.endpoint.associations) == 0


def test_packets_of_any_kind_leave_an_endpoint_well() -> None:
    network = Network().established()
    rng = random.Random(3)
    before = network.association(network.b).transport
    i1 = encode(Message(Kind.I1, ALICE.hit, BOB.hit, (DhGroupList((8,)),)))
    for _ in range(500):
        octets = bytearray(i1)
        octets[2] = rng.choice([1, 2, 3, 4, 16, 17, 18, 19])
        for _ in range(rng.randrange(4)):
            octets[rng.randrange(len(octets))] = rng.randrange(256)
        network.b.endpoint.receive(Packet(A1, B1, HIP, with_checksum(bytes(octets), A1, B1)), network.now)
    assert network.association(network.b).transport == before
    assert isinstance(before, Tags)


def test_two_hosts_of_one_end_do_not_mix() -> None:
    endpoint = Endpoint(random.Random(1), EASY, anybody)
    endpoint.serve(LocalHost(ALICE, (A1,)), 0.0)
    endpoint.serve(LocalHost(MALLORY, (A2,)), 0.0)
    endpoint.connect(Names(ALICE.hit, BOB.hit), Pair(A1, B1), 0.0)
    endpoint.connect(Names(MALLORY.hit, BOB.hit), Pair(A2, B1), 0.0)
    sources = [message_of(one.packet).sender for one in endpoint.take_outputs() if isinstance(one, Send)]
    assert sources == [ALICE.hit, MALLORY.hit]
