"""What an edge lets pass between hosts that speak HIP themselves (`verify`)."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hip.keys import ecdsa, eddsa, eddsa448
from hip.network import A1, A2, ALICE, B1, BOB, EASY, Network, message_of

from wayname.hip.edge.inspection import (
    MOST_OF_PREFIX,
    OF_HOST,
    STRANGERS_IN_ALL,
    HipInspection,
    HipRateLimitError,
    UnknownKeyError,
)
from wayname.hip.errors import MessageError, ProofError
from wayname.hip.identities import Identity
from wayname.hip.messages import Kind, Message, with_checksum
from wayname.hip.parameters import Notification
from wayname.hip.proofs import sign
from wayname.wire.ipv6 import HIP, UDP, Packet


class Checked(Network):
    """Two hosts, and an inspection that all their packets pass."""

    def __init__(self, *, hides: bool = True, identities: tuple[Identity, Identity] = (ALICE, BOB)) -> None:
        self.inspection = HipInspection(random.Random(1))
        self.judged: list[tuple[Kind, bool]] = []
        self.passed: list[Packet] = []
        super().__init__(replace(EASY, hides_identity=hides), identities=identities)

    def inject(self, packet: Packet) -> None:
        proven = self.inspection.check(packet, self.now) is not None
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


def test_who_hides_in_one_exchange_is_known_from_another() -> None:
    """The initiator answered somebody else before, by an R1 with her key in it."""
    way = Checked()
    other = Checked(identities=(ecdsa(7), ALICE)).established()
    assert isinstance(other, Checked)
    way.inspection.check(other.of_kind(Kind.R1), way.now)
    way.established()
    way.move(way.a, A1, A2)
    way.drive(5.0)
    assert way.judged[2] == (Kind.I2, True)
    assert {proven for kind, proven in way.judged if kind is Kind.UPDATE} == {True}


@pytest.mark.parametrize("kind", [Kind.R1, Kind.I2, Kind.R2])
def test_a_signature_that_is_wrong_is_found(kind: Kind) -> None:
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    with pytest.raises(ProofError, match="the signature is not one of"):
        way.inspection.check(signed_wrong(way.of_kind(kind)), way.now)


def test_an_identity_that_is_another_s_is_found() -> None:
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    i2 = way.of_kind(Kind.I2)
    other = ecdsa(7).hit.packed
    payload = i2.payload[:8] + other + i2.payload[24:]
    with pytest.raises(ProofError, match=f"the identity in it is that of {ALICE.hit}, not of {ecdsa(7).hit}"):
        way.inspection.check(replace(i2, payload=with_checksum(payload, i2.source, i2.destination)), way.now)


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
        HipInspection(random.Random(1)).check(packet, 0.0)


def notify(sender: Identity, receiver: IPv6Address, source: IPv6Address, signer: Identity | None = None) -> Packet:
    """Return a NOTIFY with its sender's identity in it, signed."""
    parameters = (Notification(44), sender.host)
    octets = sign(Message(Kind.NOTIFY, sender.hit, receiver, parameters), signer or sender)
    return Packet(source, B1, HIP, with_checksum(octets, source, B1))


def test_keys_that_anybody_makes_do_not_make_that_of_a_host_with_a_session_forgotten() -> None:
    """Ten thousand signed by themselves, from one prefix and more."""
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    way.inspection.pin((ALICE.hit, BOB.hit))
    host = ecdsa(7, ec.SECP256R1)
    for number in range(3 * MOST_OF_PREFIX):
        # Each is another host: what is signed is not looked at here, but what room it gets.
        way.inspection.know(replace(host.host, key=host.host.key[:-2] + number.to_bytes(2)), A1)
    assert (way.inspection.key_of(BOB.hit), way.inspection.key_of(ALICE.hit)) == (BOB.host, ALICE.host)
    way.move(way.a, A1, A2)
    update = way.of_kind(Kind.UPDATE)
    with pytest.raises(ProofError, match="the signature is not one of"):
        way.inspection.check(signed_wrong(update), way.now)
    # When the session is over they are newcomers again, whom those do not crowd out either.
    way.inspection.unpin((ALICE.hit, BOB.hit))
    assert (way.inspection.key_of(BOB.hit), way.inspection.key_of(ALICE.hit)) == (BOB.host, ALICE.host)


def test_a_notify_makes_no_key_known() -> None:
    inspection = HipInspection(random.Random(1))
    assert inspection.check(notify(ALICE, BOB.hit, A1), 0.0) is not None
    assert inspection.key_of(ALICE.hit) is None
    with pytest.raises(ProofError):
        inspection.check(notify(ALICE, BOB.hit, A1, ecdsa(7)), 0.0)


def test_an_update_of_a_host_whose_key_is_not_known_does_not_pass() -> None:
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    way.move(way.a, A1, A2)
    with pytest.raises(UnknownKeyError):
        HipInspection(random.Random(1)).check(way.of_kind(Kind.UPDATE), way.now)


def test_what_strangers_sign_is_looked_at_at_a_rate_and_known_hosts_are_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    way.inspection.pin((ALICE.hit, BOB.hit))
    way.now += 100.0
    looked_at: list[int] = []
    monkeypatch.setattr("wayname.hip.edge.inspection.check_signature", lambda *_: looked_at.append(1))
    # From one prefix, then from all there are.
    for number in range(2000):
        source = IPv6Address(int(A1) + (number << 80) * (number >= 1000))
        with suppress(HipRateLimitError):
            way.inspection.check(notify(ecdsa(7), BOB.hit, source), way.now)
    assert len(looked_at) == STRANGERS_IN_ALL.burst
    monkeypatch.undo()
    way.move(way.a, A1, A2)
    assert way.judged[-1] == (Kind.UPDATE, True)


def test_what_is_forged_in_the_name_of_a_host_is_read_at_a_rate_of_its_own() -> None:
    way = Checked(hides=False).established()
    assert isinstance(way, Checked)
    way.inspection.pin((ALICE.hit, BOB.hit))
    way.now += 100.0
    forged = signed_wrong(way.of_kind(Kind.I2))
    for _ in range(int(OF_HOST.burst)):
        with pytest.raises(ProofError):
            way.inspection.check(forged, way.now)
    with pytest.raises(HipRateLimitError):
        way.inspection.check(forged, way.now)
    # The other host has its own.
    assert way.inspection.check(way.of_kind(Kind.R1), way.now) is not None
