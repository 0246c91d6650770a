"""What edges tell each other of path reports by HIP: under the signature of their hosts, or behind it on the way."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from hip.edges import HipSide
from hip.network import A1, ALICE, B1, B2, BOB, EASY, Network, message_of
from hip.test_hip_observations import OPEN, Way
from sessions.pair import PairOf

from wayname.edge.boundary import PacketIn
from wayname.edge.links import ReceivedPacket
from wayname.hip.association import LocalHost
from wayname.hip.edge import native_memory
from wayname.hip.edge.added_reports import with_reports
from wayname.hip.edge.observations import Observations
from wayname.hip.endpoint import BEFORE_HIP
from wayname.hip.framing import places
from wayname.hip.messages import HEADER_OCTETS, Kind, decode, own_octets, with_checksum, with_unsigned
from wayname.hip.parameters import EchoRequestUnsigned, HipSignature
from wayname.hip.path_reports import AddedPathReports, SignedPathReports
from wayname.hip.states import State
from wayname.p4_constants import Punt, SessionMode
from wayname.session.path_reports import VERSION
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import HIP, Packet
from wayname.wire.mac import Mac

TOLD = AddedPathReports(VERSION, eliminates=True)
NEWER = AddedPathReports(VERSION + 1, puts_in_order=True, eliminates=True)
NUMBERS = "\n".join(
    ["[[schedule]]", 'name = "sites"', 'source = "feedback"']
    + [f'[[schedule.path]]\nprovider = "{name}"\nbandwidth = 1_000_000\ndelay = 0.01' for name in "pq"]
)


# Edges that speak HIP for their hosts.


def exchanged(ours: SignedPathReports | None, theirs: SignedPathReports | None) -> tuple[Network, list[Packet]]:
    """An exchange between two hosts whose edges tell this, and its packets."""
    network, packets = Network(EASY), []
    for side, told in ((network.a, ours), (network.b, theirs)):
        side.endpoint.serve(LocalHost(side.identity, side.locators, told), network.now)
    network.connect(network.a)
    while network.association(network.a).state is not State.ESTABLISHED:
        packets += [packet for _, packet in network.under_way]
        network.step()
    return network, packets


def test_i2_and_r2_tell_it_and_each_end_knows_what_the_other_said() -> None:
    ours, theirs = SignedPathReports(VERSION), SignedPathReports(VERSION, puts_in_order=True)
    network, packets = exchanged(ours, theirs)
    told = {message_of(packet).kind: message_of(packet).find(SignedPathReports) for packet in packets}
    assert told == {Kind.I1: None, Kind.R1: None, Kind.I2: ours, Kind.R2: theirs}
    assert network.association(network.a).path_reports == theirs
    assert network.association(network.b).path_reports == ours


def test_who_says_nothing_of_it_is_heard_to_say_nothing() -> None:
    network, _ = exchanged(SignedPathReports(VERSION), None)
    assert network.association(network.a).path_reports is None
    assert network.association(network.b).path_reports == SignedPathReports(VERSION)


@pytest.mark.parametrize("kind", [Kind.I2, Kind.R2])
def test_nobody_on_the_way_can_change_what_is_signed(kind: Kind) -> None:
    _, packets = exchanged(SignedPathReports(VERSION), SignedPathReports(VERSION))
    [packet, *_] = [each for each in packets if message_of(each).kind is kind]
    way = Way(OPEN)
    [place] = [each for each in places(packet.payload, HEADER_OCTETS) if each.number == SignedPathReports.number]
    at = place.at + 4
    assert packet.payload[at] == VERSION
    changed = packet.payload[:at] + bytes([VERSION + 1]) + packet.payload[at + 1 :]
    forged = replace(packet, payload=with_checksum(changed, packet.source, packet.destination))
    way.inspection.know(ALICE.host, A1)
    way.inspection.know(BOB.host, B1)
    assert way.inspection.check(packet, 0.0) is not None
    with pytest.raises(ValueError, match="signature"):
        way.inspection.check(forged, 0.0)


def edges(first: str, second: str) -> PairOf[HipSide]:
    """Two edges whose hosts talk."""
    pair = PairOf(HipSide(1, first), HipSide(2, second))
    pair.talk()
    pair.drive(20)
    return pair


@pytest.mark.parametrize(("first", "second"), [(NUMBERS, NUMBERS), (NUMBERS, ""), ("", NUMBERS), ("", "")])
def test_sessions_are_numbered_where_both_edges_go_by_feedback(first: str, second: str) -> None:
    pair = edges(first, second)
    both = bool(first and second)
    for side in (pair.a, pair.b):
        assert side.only.numbered == side.only.takes_copies == both
        [identities] = side.entries("identities")
        assert bool(identities["mode"] & SessionMode.NUMBER) == both
        # A number without a header would prove nothing.
        assert bool(len(side.held) and "send_plain" in str(side.held)) != both


@pytest.mark.parametrize("which", ["a", "b"])
def test_a_controller_that_is_started_again_agrees_again(which: str) -> None:
    pair = edges(NUMBERS, NUMBERS)
    pair.restart(getattr(pair, which))
    pair.drive(60)
    pair.talk()
    pair.drive(60)
    assert pair.a.only.numbered
    assert pair.b.only.numbered


# Edges beside hosts that speak HIP themselves.


class Told(Way):
    """Two hosts; what passes from each gets what its edge tells, or nothing."""

    def __init__(self, ours: AddedPathReports | None, theirs: AddedPathReports | None) -> None:
        self.tells = {A1: ours, B1: theirs, B2: theirs}
        super().__init__(OPEN)

    def inject(self, packet: Packet) -> None:
        super().inject(told_by(packet, self.tells.get(packet.source)))

    def heard(self) -> list[AddedPathReports | None]:
        assert self.observed is not None
        return [self.observed.side(hit).path_reports for hit in self.names]


def told_by(packet: Packet, told: AddedPathReports | None) -> Packet:
    """The packet as an edge lets it pass."""
    octets = own_octets(packet.upper_layer(BEFORE_HIP).data)
    message = decode(octets, packet.source, packet.destination)
    if told is None:
        return packet
    frame = Frame(Mac(1), Mac(2), TYPE_IPV6, packet.encode())
    arrival = ReceivedPacket(PacketIn(frame.encode(), Punt.HIP_VERIFY, 1, 10), frame, packet, None)  # type: ignore[arg-type]
    longer, arrival = with_reports(message, octets, arrival, told)
    passed = Packet.decode(Frame.decode(arrival.original.payload).payload)
    assert passed == arrival.packet
    assert decode(passed.payload, packet.source, packet.destination) == longer
    return passed


def test_hosts_skip_what_edges_add_and_the_edges_know_what_both_told() -> None:
    way = Told(TOLD, NEWER)
    way.established()
    assert way.heard() == [TOLD, NEWER]
    assert {message_of(packet).kind for packet in way.passed if message_of(packet).find(AddedPathReports)} == {
        Kind.I2,
        Kind.R2,
    }


def test_an_edge_that_adds_nothing_is_known_not_to() -> None:
    way = Told(TOLD, None)
    way.established()
    assert way.heard() == [TOLD, None]


def test_an_update_tells_it_anew_and_one_without_it_takes_it_back() -> None:
    way = Told(TOLD, TOLD)
    way.established()
    for told in (NEWER, None):
        way.tells[B1] = way.tells[B2] = told
        way.observations.take_changes()
        way.move(way.b, *((B1, B2) if told else (B1,)))
        way.drive(5.0)
        assert way.heard() == [TOLD, told]
        assert frozenset(way.names) in way.observations.take_changes()


def test_what_passed_counts_no_more_whatever_stands_behind_its_signature() -> None:
    """Who recorded an exchange may write there what he likes."""
    way = Told(TOLD, TOLD)
    way.established()
    for kind in (Kind.I2, Kind.R2):
        for packet in way.of_kind(kind):
            way.look_at(told_by(packet, NEWER))
    assert way.heard() == [TOLD, TOLD]
    way.observations.take_changes()
    way.move(way.b, B1, B2)
    way.drive(5.0)
    for packet in way.of_kind(Kind.UPDATE):
        way.look_at(told_by(packet, NEWER))
    assert way.heard() == [TOLD, TOLD]


def test_it_stands_behind_the_signature_in_the_order_of_types_and_once() -> None:
    way = Told(TOLD, TOLD)
    way.established()
    [i2] = way.of_kind(Kind.I2)
    asked = EchoRequestUnsigned(b"a middlebox")
    octets = with_unsigned(with_unsigned(i2.payload, asked), NEWER)
    numbers = [each.number for each in places(octets, HEADER_OCTETS)]
    assert numbers[-3:] == [HipSignature.number, AddedPathReports.number, EchoRequestUnsigned.number]
    read = decode(with_checksum(octets, i2.source, i2.destination), i2.source, i2.destination)
    assert read.all(AddedPathReports) == (NEWER,), "in place of what stood there"
    packet = Packet(i2.source, i2.destination, HIP, with_checksum(octets, i2.source, i2.destination))
    assert way.inspection.check(packet, way.now) is not None


def test_what_was_told_is_written_down_with_the_session() -> None:
    way = Told(TOLD, None)
    way.established()
    assert way.observed is not None
    for side, told in zip(way.observed.sides, (TOLD, None), strict=True):
        written = native_memory._write_side(side)
        assert isinstance(written, dict)
        assert native_memory._read_side(written).path_reports == told
        del written["path_reports"]
        assert native_memory._read_side(written).path_reports is None, "as an earlier version wrote it"


def test_a_controller_that_knows_an_exchange_knows_what_was_told() -> None:
    way = Told(TOLD, NEWER)
    way.established()
    assert way.observed is not None
    before, seen = way.observed, way.observations.seen(frozenset(way.names))
    way.observations = Observations()
    way.observations.recall(before, seen)
    assert way.heard() == [TOLD, NEWER]
    assert IPv6Address(way.names.local) in {side.hit for side in before.sides}
