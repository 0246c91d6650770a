"""What an edge lets pass between hosts that speak HIP themselves (`verify`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hip.keys import ecdsa, eddsa, eddsa448
from hip.network import A1, A2, ALICE, B1, BOB, EASY, Network, message_of

from wayname.edge.hip.inspection import Inspection
from wayname.hip.errors import MessageError, ProofError
from wayname.hip.identities import Identity
from wayname.hip.messages import Kind, with_checksum
from wayname.wire.ipv6 import HIP, UDP, Packet


class Checked(Network):
    """Two hosts, and an inspection that all their packets pass."""

    def __init__(self, *, hides: bool = True, identities: tuple[Identity, Identity] = (ALICE, BOB)) -> None:
        self.inspection = Inspection()
        self.judged: list[tuple[Kind, bool]] = []
        self.passed: list[Packet] = []
        super().__init__(replace(EASY, hides_identity=hides), identities=identities)

    def inject(self, packet: Packet) -> None:
        proven = self.inspection.check(packet) is not None
        self.judged.append((message_of(packet).kind, proven))
        self.passed.append(packet)
        super().inject(packet)

    def of_kind(self, kind: Kind) -> Packet:
        return next(packet for packet in self.passed if message_of(packet).kind is kind)


def signed_wrong(packet: Packet) -> Packet:
    """Return a message whose signature is another; its last octets may be padding."""
    payload = packet.payload[:-12] + bytes([packet.payload[-12] ^ 1]) + packet.payload[-11:]
    return replace(packet, payload=with_checksum(payload, packet.source, packet.destination))


def test_what_is_proven_is_known_from_when_the_key_was_seen() -> None:
    way = Checked().established()
    assert isinstance(way, Checked)
    # The initiator hides who it is.
    assert way.judged[:4] == [(Kind.I1, False), (Kind.R1, True), (Kind.I2, False), (Kind.R2, True)]
    assert (way.inspection.key_of(BOB.hit), way.inspection.key_of(ALICE.hit)) == (BOB.host, None)


@pytest.mark.parametrize("identities", [(ALICE, BOB), (eddsa(1), eddsa448(2))])
def test_what_does_not_hide_is_proven_at_once(identities: tuple[Identity, Identity]) -> None:
    way = Checked(hides=False, identities=identities).established()
    assert isinstance(way, Checked)
    assert way.judged[2] == (Kind.I2, True)
    way.move(way.a, A1, A2)
    way.drive(5.0)
    assert {proven for kind, proven in way.judged if kind is Kind.UPDATE} == {True}


@pytest.mark.parametrize("kind", [Kind.R1, Kind.I2, Kind.R2])
def test_a_signature_that_is_wrong_is_found(kind: Kind) -> None:
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    with pytest.raises(ProofError, match="the signature is not one of"):
        way.inspection.check(signed_wrong(way.of_kind(kind)))


def test_an_identity_that_is_another_s_is_found() -> None:
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    i2 = way.of_kind(Kind.I2)
    other = ecdsa(7).hit.packed
    payload = i2.payload[:8] + other + i2.payload[24:]
    with pytest.raises(ProofError, match=f"the identity in it is that of {ALICE.hit}, not of {ecdsa(7).hit}"):
        way.inspection.check(replace(i2, payload=with_checksum(payload, i2.source, i2.destination)))


@pytest.mark.parametrize(
    "packet",
    [
        Packet(A1, B1, HIP, b""),
        Packet(A1, B1, HIP, bytes(40)),
        Packet(A1, B1, UDP, bytes(40)),
    ],
)
def test_what_is_no_hip_packet_is_found(packet: Packet) -> None:
    with pytest.raises(MessageError):
        Inspection().check(packet)


def test_the_hosts_that_were_not_seen_for_longest_are_forgotten() -> None:
    inspection = Inspection(most=2)
    inspection.know(ALICE.host)
    inspection.know(BOB.host)
    inspection.know(ALICE.host)
    inspection.know(ecdsa(7).host)
    assert (inspection.key_of(ALICE.hit), inspection.key_of(BOB.hit)) == (ALICE.host, None)
