"""What must fail of messages that are genuine, and come again, from elsewhere, or in numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from hip.network import A1, A2, B1, EASY, Network, message_of, resealed

from wayname.hip.framing import frame
from wayname.hip.locator_set import Locator, LocatorSet
from wayname.hip.messages import Kind, with_checksum, with_length
from wayname.hip.outputs import Send
from wayname.hip.parameters import EchoRequestUnsigned, Puzzle, Seq
from wayname.hip.peer_locators import MOST_LOCATORS
from wayname.hip.states import State
from wayname.wire.ipv6 import Packet

VICTIM = IPv6Address("2001:db8:dead::1")


def of_a(kind: Kind, network: Network, do: Callable[[], None]) -> Packet:
    """Return the first message of a kind that A sends when something is done; all goes on as it would."""
    seen: list[Packet] = []

    def look() -> None:
        seen.extend(packet for _, packet in network.under_way if message_of(packet).kind is kind)

    do()
    network.collect()
    look()
    network.drive(5.0, look)
    return next(one for one in seen if one.source in (A1, A2))


def from_victim(packet: Packet) -> Packet:
    """Return a packet as if the victim had sent it."""
    return replace(packet, source=VICTIM, payload=with_checksum(packet.payload, VICTIM, packet.destination))


def to_victim(network: Network) -> list[Packet]:
    """Return what B sent to the victim since the last call."""
    sent = [one.packet for one in network.b.endpoint.take_outputs() if isinstance(one, Send)]
    return [one for one in sent if one.destination == VICTIM]


@pytest.mark.parametrize("kind", [Kind.I2, Kind.UPDATE, Kind.CLOSE])
def test_what_comes_again_in_the_name_of_a_victim_floods_nobody(kind: Kind) -> None:
    network = Network()
    i2 = of_a(Kind.I2, network, lambda: network.connect(network.a))
    update = of_a(Kind.UPDATE, network, lambda: network.move(network.a, A1, A2))
    packet = {Kind.I2: i2, Kind.UPDATE: update}.get(kind) or of_a(
        Kind.CLOSE, network, lambda: network.a.endpoint.disconnect(network.names, network.now)
    )
    before = network.association(network.b).transport
    for _ in range(500):
        network.b.endpoint.receive(from_victim(packet), network.now)
    answers = to_victim(network)
    assert len(answers) <= 100
    # No more octets come than were sent.
    assert all(len(one.payload) <= len(packet.payload) for one in answers)
    assert network.association(network.b).transport == before


def test_what_is_asked_back_of_an_update_that_comes_again_is_not_sent() -> None:
    network = Network().established()
    update = of_a(Kind.UPDATE, network, lambda: network.move(network.a, A1, A2))
    asked = with_length(update.payload + frame(EchoRequestUnsigned.number, bytes(1000)))
    network.b.endpoint.receive(from_victim(replace(update, payload=asked)), network.now)
    (answer,) = to_victim(network)
    assert len(answer.payload) < len(update.payload)


@pytest.mark.parametrize("which", ["a", "b"])
def test_an_exchange_that_comes_again_changes_nothing_at_either_end(which: str) -> None:
    network = Network()
    seen: list[Packet] = []

    def look() -> None:
        seen.extend(packet for _, packet in network.under_way)

    network.connect(network.a)
    look()
    network.drive(40.0, look)
    side = getattr(network, which)
    before = network.association(side)
    transport, state, locators = before.transport, before.state, set(before.peer.known)
    for packet in seen:
        if packet.destination in side.locators:
            side.endpoint.receive(packet, network.now)
    after = network.association(side)
    assert (after.transport, after.state, set(after.peer.known)) == (transport, state, locators)
    assert state is State.ESTABLISHED


def test_an_end_that_comes_again_ends_nothing_that_came_after_it() -> None:
    network = Network().established()
    seen: list[Packet] = []

    def look() -> None:
        seen.extend(packet for _, packet in network.under_way)

    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    look()
    network.drive(5.0, look)
    assert {message_of(packet).kind for packet in seen} == {Kind.CLOSE, Kind.CLOSE_ACK}
    network.connect(network.a)
    network.drive(40.0)
    for packet in seen:
        for side in (network.a, network.b):
            side.endpoint.receive(packet, network.now)
    # Nor an end that is being asked for anew.
    network.a.endpoint.disconnect(network.names, network.now)
    network.a.endpoint.take_outputs()
    for packet in seen:
        network.a.endpoint.receive(packet, network.now)
    assert network.association(network.a).state is State.CLOSING
    assert network.association(network.b).state is State.ESTABLISHED


def test_a_flood_of_hard_puzzles_costs_no_signatures_and_no_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    r1 = network.under_way[0][1]
    at = r1.payload.index(message_of(r1).need(Puzzle).contents())
    octets = r1.payload[:at] + b"\xff" + r1.payload[at + 1 :]
    hard = replace(r1, payload=with_checksum(octets, B1, A1))
    dear: list[str] = []
    monkeypatch.setattr("wayname.hip.exchange.check_r1", lambda *_: dear.append("signature"))
    monkeypatch.setattr("wayname.hip.exchange.solve", lambda *_: dear.append("hashes"))
    for _ in range(100):
        network.a.endpoint.receive(hard, network.now)
    monkeypatch.undo()
    assert dear == []
    assert network.association(network.a).state is State.I1_SENT
    # The true one is answered as ever.
    network.drive(1.0)
    assert network.association(network.a).state is State.ESTABLISHED


def test_a_set_as_long_as_can_be_asks_no_more_than_a_few() -> None:
    network = Network(EASY).established()
    update = of_a(Kind.UPDATE, network, lambda: network.move(network.a, A1, A2))
    room = (2048 - len(update.payload)) // 24
    many = tuple(Locator(IPv6Address(int(VICTIM) + number)) for number in range(room))
    assert len(many) > 60
    network.inject(resealed(network, network.a, update, LocatorSet((Locator(A1), *many)), Seq(1)))
    asked = [one for one in network.drive(60.0) if "B1 --UPDATE->" in one and "dead" in one]
    assert len(network.association(network.b).peer.known) <= MOST_LOCATORS
    # The first question and three more to each of those that are kept.
    assert len(asked) <= 4 * MOST_LOCATORS
    assert [one.address for one in network.association(network.b).peer.active(network.now)] == [A1]
