"""What is said about messages that are dropped: NOTIFY to peers, ICMPv6 to others (RFC 7401, sections 4.3 and 5.4)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hip.network import A1, A2, ALICE, B1, BOB, Network, message_of, resealed

from wayname.hip.admission_control import LONGER_OF_STRANGERS as LONGER
from wayname.hip.ciphers import Cipher
from wayname.hip.errors import NotifyType
from wayname.hip.esp.suites import SuiteId
from wayname.hip.framing import frame, places
from wayname.hip.messages import HEADER_OCTETS, Kind, Message, encode, with_checksum, with_length
from wayname.hip.outputs import Send
from wayname.hip.parameters import (
    DhGroupList,
    HipCipher,
    HipMac,
    Notification,
    Parameter,
    Seq,
    Solution,
)
from wayname.hip.proofs import sign
from wayname.hip.settings import Settings
from wayname.hip.transports import EspInfo, EspTransform, TransportFormatList
from wayname.wire import icmpv6
from wayname.wire.ipv6 import HEADER_BYTES, HIP, ICMPV6, Packet

ESP = Settings(least_difficulty=1, formats=(EspTransform.number,))


def sent(network: Network) -> list[Packet]:
    """Return what B sent since the last call."""
    return [one.packet for one in network.b.endpoint.take_outputs() if isinstance(one, Send)]


def notified(network: Network) -> list[Notification]:
    """Return what B told by NOTIFY, which goes to A1 and is signed."""
    packets = sent(network)
    assert {(one.source, one.destination) for one in packets} <= {(B1, A1)}
    return [note for one in packets for note in message_of(one).all(Notification)]


def pointed_at(network: Network, packet: Packet) -> int | None:
    """Return the octet of a HIP packet that B's ICMPv6 error about it points at."""
    network.b.endpoint.receive(packet, network.now)
    errors = [one for one in sent(network) if one.next_header == ICMPV6]
    if not errors:
        return None
    (error,) = errors
    message = icmpv6.Message.decode(error)
    assert (error.source, error.destination, message.type, message.code) == (B1, packet.source, 4, 0)
    assert packet.encode().startswith(message.body[4:])
    return int.from_bytes(message.body[:4]) - HEADER_BYTES


def from_a(octets: bytes) -> Packet:
    """Return octets as they go from A to B, their checksum right."""
    return Packet(A1, B1, HIP, with_checksum(octets, A1, B1))


def i2_of(network: Network) -> Packet:
    """Return A's I2, which is on its way."""
    network.connect(network.a)
    network.step()
    network.step()
    return network.under_way[0][1]


def test_another_version_is_told_where_the_version_stands() -> None:
    octets = bytearray(encode(Message(Kind.I1, ALICE.hit, BOB.hit, (DhGroupList((8,)),))))
    octets[3] = 0x11
    assert pointed_at(Network(), from_a(bytes(octets))) == 3


def test_a_wrong_checksum_is_told_to_nobody() -> None:
    octets = bytearray(encode(Message(Kind.I1, ALICE.hit, BOB.hit, (DhGroupList((8,)),))))
    octets[3] = 0x11
    packet = from_a(bytes(octets))
    assert pointed_at(Network(), replace(packet, payload=packet.payload[:-1] + b"\1")) is None


def test_a_puzzle_that_is_not_solved_is_told_where_the_solution_stands() -> None:
    network = Network()
    i2 = i2_of(network)
    solution = message_of(i2).need(Solution)
    wrong = replace(solution, solution=bytes(len(solution.solution)), difficulty=solution.difficulty)
    at = next(place.at for place in places(i2.payload, HEADER_OCTETS) if place.number == Solution.number)
    assert pointed_at(network, resealed(network, network.a, i2, replace(wrong, random=bytes(48)))) == at + 8 + 48
    # What B points at is J.
    assert i2.payload[at + 8 + 48 :].startswith(solution.solution)


@pytest.mark.parametrize("kind", Kind)
def test_who_has_no_association_is_told_so_if_it_needs_one(kind: Kind) -> None:
    unknown = pointed_at(Network(), from_a(encode(Message(kind, ALICE.hit, BOB.hit, (DhGroupList((8,)),)))))
    nobody = pointed_at(Network(), from_a(encode(Message(kind, BOB.hit, ALICE.hit, (DhGroupList((8,)),)))))
    needs_one = kind in (Kind.UPDATE, Kind.CLOSE, Kind.CLOSE_ACK)
    assert (unknown, nobody) == ((8, 24) if needs_one else (None, None))


def test_errors_of_icmpv6_are_bounded() -> None:
    network = Network()
    update = from_a(encode(Message(Kind.UPDATE, ALICE.hit, BOB.hit, (Seq(0),))))
    for _ in range(500):
        network.b.endpoint.receive(update, network.now)
    # They are longer than what they are about: by no more octets than are rationed, and one error.
    errors = sent(network)
    longer = len(errors) * (len(errors[0].payload) - len(update.payload))
    assert 0 < longer < LONGER.burst + len(errors[0].payload)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ((HipCipher((Cipher.AES_256_CBC, Cipher.AES_128_CBC)),), NotifyType.INVALID_HIP_CIPHER_CHOSEN),
        ((HipCipher((Cipher.NULL,)),), NotifyType.INVALID_HIP_CIPHER_CHOSEN),
        ((TransportFormatList((EspTransform.number, 4093)),), NotifyType.INVALID_SYNTAX),
        (
            (EspTransform((SuiteId.AES_GCM_16, SuiteId.AES_128_CBC_HMAC_SHA_256)),),
            NotifyType.INVALID_ESP_TRANSFORM_CHOSEN,
        ),
        ((EspTransform((SuiteId.NULL_HMAC_SHA_256,)),), NotifyType.INVALID_ESP_TRANSFORM_CHOSEN),
        ((EspInfo(160, 7, 0x10000),), NotifyType.INVALID_SYNTAX),
        ((EspInfo(160, 0, 255),), NotifyType.INVALID_SYNTAX),
        ((EspInfo(159, 0, 0x10000),), NotifyType.INVALID_SYNTAX),
    ],
)
def test_an_i2_that_chooses_what_it_may_not_is_told_so(parameters: tuple[Parameter, ...], told: NotifyType) -> None:
    network = Network(ESP)
    i2 = i2_of(network)
    assert message_of(i2).need(EspInfo).keymat_index == 160
    network.b.endpoint.receive(resealed(network, network.a, i2, *parameters), network.now)
    assert [one.kind for one in notified(network)] == [told]
    assert len(network.b.endpoint.associations) == 0
    # The puzzle is good for another try.
    network.drive(1.0)
    assert network.association(network.b).transport is not None


def test_an_i2_with_a_wrong_mac_is_told_so_after_its_puzzle() -> None:
    network = Network()
    i2 = i2_of(network)
    octets = bytearray(i2.payload)
    octets[next(place.at for place in places(i2.payload, HEADER_OCTETS) if place.number == HipMac.number) + 5] ^= 1
    network.b.endpoint.receive(from_a(bytes(octets)), network.now)
    assert [one.kind for one in notified(network)] == [NotifyType.HIP_MAC_FAILED]


def test_an_i2_is_not_told_of_anything_before_its_puzzle() -> None:
    network = Network()
    i2 = i2_of(network)
    critical = with_length(i2.payload[:HEADER_OCTETS] + frame(301, b"?"))
    network.b.endpoint.receive(from_a(critical), network.now)
    assert sent(network) == []


def test_a_peer_is_told_what_was_wrong_once_a_second_where_it_is_known_to_be() -> None:
    network = Network().established()
    # From elsewhere: what is forged makes nobody send anything there.
    update = encode(Message(Kind.UPDATE, ALICE.hit, BOB.hit, (Seq(0), HipMac(bytes(48)))))
    forged = Packet(A2, B1, HIP, with_checksum(update, A2, B1))
    for _ in range(50):
        network.b.endpoint.receive(forged, network.now)
    assert notified(network) == [Notification(NotifyType.HIP_MAC_FAILED)]
    network.now += 1.0
    network.b.endpoint.receive(forged, network.now)
    assert len(notified(network)) == 1


def test_a_peer_is_told_which_critical_parameter_is_not_understood() -> None:
    network = Network().established()
    octets = with_length(encode(Message(Kind.UPDATE, ALICE.hit, BOB.hit)) + frame(301, b"?"))
    network.b.endpoint.receive(from_a(octets), network.now)
    kind = NotifyType.UNSUPPORTED_CRITICAL_PARAMETER_TYPE
    assert notified(network) == [Notification(kind, (301).to_bytes(2))]


def test_a_peer_that_says_what_it_must_not_is_told_so() -> None:
    network = Network(ESP).established()
    network.move(network.a, A2)
    update = network.under_way.pop()[1]
    wrong = resealed(network, network.a, update, EspInfo(300, 0x77777, 0x88888))
    network.b.endpoint.receive(replace(wrong, source=A1, payload=with_checksum(wrong.payload, A1, B1)), network.now)
    assert [one.kind for one in notified(network)] == [NotifyType.INVALID_SYNTAX]
    network.now += 1.0
    without = resealed(network, network.a, update, without=(Seq,))
    network.b.endpoint.receive(replace(without, source=A1, payload=with_checksum(without.payload, A1, B1)), network.now)
    assert [one.kind for one in notified(network)] == [NotifyType.INVALID_SYNTAX]
    network.now += 1.0
    close = resealed(network, network.a, from_a(encode(Message(Kind.CLOSE, ALICE.hit, BOB.hit))))
    network.b.endpoint.receive(close, network.now)
    assert [one.kind for one in notified(network)] == [NotifyType.INVALID_SYNTAX]
    assert network.association(network.b).transport is not None


def test_a_flood_of_notifies_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network().established()
    checked: list[int] = []
    monkeypatch.setattr("wayname.hip.endpoint.check_signature", lambda *_: checked.append(1))
    notify = from_a(encode(Message(Kind.NOTIFY, ALICE.hit, BOB.hit, (Notification(44),))))
    for _ in range(200):
        network.b.endpoint.receive(notify, network.now)
    assert len(checked) == 5
    network.now += 2.0
    for _ in range(200):
        network.b.endpoint.receive(notify, network.now)
    assert len(checked) == 7
    assert network.association(network.b).transport is not None


def test_what_nobody_knows_of_is_told_as_it_came() -> None:
    network = Network().established()
    before = network.association(network.b).state
    network.inject(from_a(sign(Message(Kind.NOTIFY, ALICE.hit, BOB.hit, (Notification(9999, b"why"),)), ALICE)))
    network.drive(1.0)
    assert network.b.events() == [f"{ALICE.hit} says notification 9999 ({b'why'.hex()})"]
    assert network.association(network.b).state is before
