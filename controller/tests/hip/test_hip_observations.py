"""What an edge learns of the sessions of hosts that speak HIP themselves, and what attackers cannot make it learn."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from hip.network import A1, A2, A3, B1, B2, Network, message_of

from wayname.hip.association import Esp
from wayname.hip.edge.inspection import HipInspection
from wayname.hip.edge.observations import (
    MOST_ASSOCIATIONS,
    MOST_OF_PREFIX,
    MOST_SEEN,
    OLD_SPI_TIME,
    Observations,
    Observed,
    proven,
)
from wayname.hip.errors import ProofError
from wayname.hip.messages import HEADER_OCTETS, Kind, with_checksum
from wayname.hip.settings import Settings
from wayname.hip.transports import EspTransform
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import HIP, Packet

OPEN = Settings(least_difficulty=1, formats=(EspTransform.number,), hides_identity=False)
HIDDEN = replace(OPEN, hides_identity=True)
VICTIM = IPv6Address("2001:db8:bad::1")


class Way(Network):
    """Two hosts, and an edge that all their packets pass."""

    def __init__(self, settings: Settings = OPEN) -> None:
        self.inspection, self.observations = HipInspection(random.Random(1)), Observations()
        self.passed: list[Packet] = []
        super().__init__(settings)

    def inject(self, packet: Packet) -> None:
        self.look_at(packet)
        super().inject(packet)

    def look_at(self, packet: Packet) -> None:
        """Let a packet pass the edge, whoever sent it."""
        self.passed.append(packet)
        checked = self.inspection.check(packet, self.now)
        if checked is not None:
            # A is behind one link, B and all others behind another.
            self.observations.receive(*checked, packet, packet.source in (A1, A2, A3), self.now)

    def of_kind(self, kind: Kind) -> list[Packet]:
        return [packet for packet in self.passed if message_of(packet).kind is kind]

    @property
    def observed(self) -> Observed | None:
        return self.observations.observed(frozenset(self.names))

    def spis(self) -> list[tuple[int, ...]]:
        """Return the SPIs that A chose, and those of B."""
        assert self.observed is not None
        return [self.observed.side(hit).spis for hit in self.names]

    def locators(self) -> list[set[IPv6Address]]:
        """Return where A is for certain, and where B is."""
        assert self.observed is not None
        return [set(proven(self.observed.side(hit).locators, self.now)) for hit in self.names]

    def chosen(self) -> list[tuple[int, ...]]:
        """Return what the hosts themselves have."""
        ends = [self.association(side).transport for side in (self.a, self.b)]
        return [(end.spi,) for end in ends if isinstance(end, Esp)]


def changed(packet: Packet, source: IPv6Address, destination: IPv6Address) -> Packet:
    """Return the same message between other addresses: nothing that is signed says which they were."""
    return Packet(source, destination, HIP, with_checksum(packet.payload, source, destination))


def test_an_exchange_tells_the_spis_and_where_it_went() -> None:
    way = Way()
    way.established()
    assert way.spis() == way.chosen()
    assert way.locators() == [{A1}, {B1}]


def test_locators_count_when_their_host_answered_from_there() -> None:
    way = Way()
    way.established()
    way.dead = {A3}
    way.move(way.a, A1, A2, A3)
    assert way.locators() == [{A1}, {B1}]
    way.drive(5.0)
    assert way.locators() == [{A1, A2}, {B1}]
    way.move(way.a, A2)
    way.drive(5.0)
    assert way.locators() == [{A2}, {B1}]


def test_new_spis_stand_beside_the_old_ones_for_a_while() -> None:
    way = Way()
    way.established()
    before = way.chosen()
    way.a.endpoint.rekey(way.names, way.now)
    way.collect()
    way.drive(1.0)
    assert way.spis() == [new + old for new, old in zip(way.chosen(), before, strict=True)]
    way.observations.take_changes()
    way.observations.handle_timer(way.now + OLD_SPI_TIME)
    assert way.spis() == way.chosen()
    assert list(way.observations.take_changes()) == [frozenset(way.names)]


def test_the_end_is_what_both_say() -> None:
    way = Way()
    way.established()
    way.a.endpoint.disconnect(way.names, way.now)
    way.collect()
    assert way.observed is not None
    way.drive(1.0)
    assert way.observed is None
    assert way.observations.take_changes() == {frozenset(way.names): None}


def test_hosts_that_hide_who_they_are_have_no_session_here() -> None:
    way = Way(HIDDEN)
    way.established()
    assert len(way.of_kind(Kind.I2)) == 1
    assert way.observed is None


@pytest.mark.parametrize("kind", [Kind.I2, Kind.R2, Kind.UPDATE, Kind.CLOSE])
def test_what_is_forged_is_dropped_and_tells_nothing(kind: Kind) -> None:
    way = Way()
    way.established()
    way.move(way.a, A1, A2)
    way.drive(5.0)
    way.a.endpoint.disconnect(way.names, way.now)
    way.collect()
    packet = way.of_kind(kind)[0]
    before = way.spis(), way.locators()
    # An octet of the signature, which is the last thing in it, is another.
    forged = replace(packet, payload=packet.payload[:-12] + bytes([packet.payload[-12] ^ 1]) + packet.payload[-11:])
    with pytest.raises(ProofError):
        way.look_at(changed(forged, packet.source, packet.destination))
    with pytest.raises(DecodeError):
        way.look_at(forged)
    assert (way.spis(), way.locators()) == before


def test_a_replayed_exchange_takes_nothing_back() -> None:
    way = Way()
    way.established()
    way.a.endpoint.rekey(way.names, way.now)
    way.collect()
    way.drive(1.0)
    before = way.spis(), way.locators()
    for packet in (*way.of_kind(Kind.I2), *way.of_kind(Kind.R2), *way.of_kind(Kind.UPDATE)):
        way.look_at(packet)
        assert (way.spis(), way.locators()) == before


def test_a_replayed_end_ends_nothing() -> None:
    way = Way()
    way.established()
    way.a.endpoint.disconnect(way.names, way.now)
    way.collect()
    way.drive(1.0)
    ends = [*way.of_kind(Kind.CLOSE), *way.of_kind(Kind.CLOSE_ACK)]
    way.drive(2000.0)
    way.connect(way.a)
    way.drive(5.0)
    assert way.spis() == way.chosen()
    for packet in ends:
        way.look_at(packet)
    assert way.observed is not None


def test_an_answer_to_an_exchange_by_another_way_begins_nothing() -> None:
    way = Way()
    way.connect(way.a)
    while not way.of_kind(Kind.I2):
        way.step()
    i2 = way.of_kind(Kind.I2)[0]
    way.look_at(changed(i2, VICTIM, B1))
    way.look_at(i2)
    way.drive(5.0)
    assert way.locators() == [{A1}, {B1}]
    way = Way()
    way.connect(way.a)
    while not way.of_kind(Kind.R2):
        way.step()
    way.look_at(changed(way.of_kind(Kind.R2)[0], B1, VICTIM))
    assert way.locators() == [{A1}, {B1}]


def test_a_victim_is_no_locator_however_messages_are_sent_again() -> None:
    way = Way()
    way.established()
    way.dead = {VICTIM}
    # A says itself that it is where the victim is, and another locator of its own.
    way.move(way.a, A1, A2, VICTIM)
    way.drive(10.0)
    assert way.locators()[0] == {A1, A2}
    asked = [packet for packet in way.of_kind(Kind.UPDATE) if packet.source == B1]
    answers = [packet for packet in way.of_kind(Kind.UPDATE) if packet.source in (A1, A2)]
    # What B asked of other locators is sent to the victim, and what A answered from there.
    for packet in asked:
        way.look_at(changed(packet, B1, VICTIM))
    for packet in answers:
        way.look_at(changed(packet, VICTIM, B1))
    assert way.locators()[0] == {A1, A2}


def test_an_earlier_set_of_locators_does_not_come_back() -> None:
    way = Way()
    way.established()
    way.move(way.a, A1, A2)
    way.drive(5.0)
    told = way.of_kind(Kind.UPDATE)
    way.move(way.a, A1)
    way.drive(5.0)
    for packet in told:
        way.look_at(packet)
    assert way.locators() == [{A1}, {B1}]


def test_what_was_written_down_is_known_and_does_not_count_again() -> None:
    way = Way()
    way.established()
    way.move(way.b, B1, B2)
    way.drive(5.0)
    assert way.observed is not None
    before, seen = way.observed, way.observations.seen(frozenset(way.names))
    for side in before.sides:
        side.numbers.clear()
        side.refuse_old()
    way.observations = Observations()
    way.observations.recall(before, seen)
    told = way.spis(), way.locators()
    for packet in list(way.passed):
        way.look_at(packet)
    assert (way.spis(), way.locators()) == told
    assert way.observations.take_changes() == {}


def test_no_more_is_remembered_than_fits() -> None:
    way = Way()
    for _ in range(MOST_SEEN + 2):
        way.established()
        way.a.endpoint.disconnect(way.names, way.now)
        way.collect()
        way.drive(2000.0)
    assert len(way.observations.seen(frozenset(way.names))) == MOST_SEEN


def test_whoever_plays_both_hosts_from_one_side_begins_nothing() -> None:
    way = Way()
    way.connect(way.a)
    while not way.of_kind(Kind.R2):
        way.step()
    [i2], [r2] = way.of_kind(Kind.I2), way.of_kind(Kind.R2)
    way.observations = Observations()
    for packet in (i2, r2):
        checked = way.inspection.check(packet, way.now)
        assert checked is not None
        way.observations.receive(*checked, packet, 2, way.now)
    assert way.observed is None
    # By the other link it is an answer.
    checked = way.inspection.check(r2, way.now)
    assert checked is not None
    way.observations.receive(*checked, r2, 3, way.now)
    assert way.observed is not None


def test_messages_between_hosts_that_nobody_knows_end_no_association() -> None:
    way = Way()
    way.established()
    way.observations.take_changes()
    [i2] = way.of_kind(Kind.I2)
    message = message_of(i2)
    for number in range(MOST_ASSOCIATIONS + MOST_OF_PREFIX):
        # Signatures are for the inspection; here all of them are right.
        for kind in (Kind.I2, Kind.NOTIFY):
            invented = replace(message, kind=kind, receiver=IPv6Address(int(way.names.peer) ^ (number + 1)))
            source = IPv6Address(int(VICTIM) + (number << 80))
            octets = number.to_bytes(HEADER_OCTETS)
            way.observations.receive(invented, octets, replace(i2, source=source), 7, way.now)
    assert way.observations.take_changes() == {}
    assert way.observed is not None
    assert len(way.observations._newcomers) == MOST_ASSOCIATIONS
