"""The codec of HIP beside layers of scapy that were written from the RFCs apart from it, and what it refuses."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hip import scapy_hip as other
from hypothesis import given
from hypothesis import strategies as st
from scapy.packet import Packet

from wayname.hip.errors import CriticalError, MessageError
from wayname.hip.framing import frame
from wayname.hip.locator_set import Locator, LocatorSet, UnknownLocator
from wayname.hip.messages import (
    HEADER_OCTETS,
    Kind,
    Message,
    covered,
    decode,
    decode_parameters,
    encode,
    encode_parameters,
    own_octets,
    with_checksum,
    with_length,
    without_initiator,
)
from wayname.hip.parameters import (
    Ack,
    Certificate,
    DhGroupList,
    DiffieHellman,
    EchoRequestSigned,
    EchoRequestUnsigned,
    EchoResponseSigned,
    EchoResponseUnsigned,
    Encrypted,
    HipCipher,
    HipMac,
    HipMac2,
    HipSignature,
    HipSignature2,
    HitSuiteList,
    HostId,
    Notification,
    Parameter,
    Puzzle,
    R1Counter,
    Seq,
    Solution,
)
from wayname.hip.path_reports import AddedPathReports, SignedPathReports
from wayname.hip.transports import EspInfo, EspTransform, Tagged, TransportFormatList
from wayname.wire.errors import DecodeError

A, B = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
HIT_A, HIT_B = IPv6Address("2001:20::1"), IPv6Address("2001:20::2")
I, J = bytes(range(32)), bytes(range(32, 64))  # noqa: E741  (as the RFC names them)

PARAMETERS: list[tuple[Parameter, Packet]] = [
    (EspInfo(72, 0, 0xDEADBEEF), other.EspInfo(index=72, old=0, new=0xDEADBEEF)),
    (R1Counter(1 << 40, 7), other.R1Counter(reserved=7, counter=1 << 40)),
    (LocatorSet(()), other.LocatorSet()),
    (
        LocatorSet((Locator(A, None, 120, True), Locator(B, 0x01020304, 3600, False, 2))),
        other.LocatorSet(
            locators=[
                other.Locator(lifetime=120, preferred=1, address=str(A)),
                other.Locator(traffic=2, kind=1, words=5, lifetime=3600, spi=b"\1\2\3\4", address=str(B)),
            ]
        ),
    ),
    (Puzzle(10, 38, b"op", I), other.Puzzle(k=10, lifetime=38, opaque=b"op", i=I)),
    (Solution(10, b"op", I, J), other.Solution(k=10, opaque=b"op", i=I, j=J)),
    (Seq(0xFFFFFFFF), other.Seq(update=0xFFFFFFFF)),
    (Ack((1, 2, 3)), other.Ack(updates=[1, 2, 3])),
    (DhGroupList((8, 7, 3)), other.DhGroupList(groups=[8, 7, 3])),
    (DiffieHellman(8, b"value" * 9), other.DiffieHellman(group=8, value=b"value" * 9)),
    (HipCipher((4, 2)), other.HipCipher(ciphers=[4, 2])),
    (Encrypted(b"hidden"), other.Encrypted(data=b"hidden")),
    (HostId(7, b"key" * 5), other.HostId(algorithm=7, key=b"key" * 5)),
    (
        HostId(5, b"key", 1, b"\1a\0"),
        other.HostId(algorithm=5, key=b"key", kind=1, name_size=3, domain=b"\1a\0"),
    ),
    (HitSuiteList((1, 2)), other.HitSuiteList(suites=[0x10, 0x20])),
    (Certificate(b"certificate"), other.Certificate(data=b"certificate")),
    (Notification(24, b"why"), other.Notification(kind=24, data=b"why")),
    (EchoRequestSigned(b"echo"), other.EchoRequestSigned(data=b"echo")),
    (EchoResponseSigned(b"echo" * 2), other.EchoResponseSigned(data=b"echo" * 2)),
    (TransportFormatList((4095, 41562)), other.TransportFormatList(formats=[4095, 41562])),
    (EspTransform((8, 9, 13)), other.EspTransform(suites=[8, 9, 13])),
    (SignedPathReports(1, eliminates=True), other.SignedPathReports(version=1, more=b"\0\1")),
    (Tagged((1 << 47) - 1), other.Tagged(tag=(1 << 47) - 1)),
    (HipMac(b"m" * 32), other.HipMac(data=b"m" * 32)),
    (HipMac2(b"m" * 48), other.HipMac2(data=b"m" * 48)),
    (HipSignature2(7, b"s" * 96), other.HipSignature2(algorithm=7, signature=b"s" * 96)),
    (HipSignature(5, b"s" * 256), other.HipSignature(algorithm=5, signature=b"s" * 256)),
    (AddedPathReports(2, puts_in_order=True), other.AddedPathReports(version=2, more=b"\1")),
    (EchoResponseUnsigned(b""), other.EchoResponseUnsigned(data=b"")),
    (EchoRequestUnsigned(b"echoes"), other.EchoRequestUnsigned(data=b"echoes")),
]
EVERY = [one for one, _ in PARAMETERS]


def on_the_wire(message: Message) -> bytes:
    """Return a message as it goes from A to B."""
    return with_checksum(encode(message), A, B)


def raw(*framed: bytes, kind: int = Kind.NOTIFY) -> bytes:
    """Return a packet with parameters as they are given."""
    head = bytes([59, 0, kind, 0x21, 0, 0, 0, 0]) + HIT_A.packed + HIT_B.packed
    return with_checksum(with_length(head + b"".join(framed)), A, B)


@pytest.mark.parametrize(("ours", "theirs"), PARAMETERS, ids=lambda one: type(one).__name__)
def test_parameters_are_as_the_rfcs_have_them(ours: Parameter, theirs: Packet) -> None:
    assert frame(ours.number, ours.contents()) == bytes(theirs)
    assert decode_parameters(bytes(theirs)) == (ours,)


@pytest.mark.parametrize("kind", Kind)
def test_packets_are_as_the_rfc_has_them(kind: Kind) -> None:
    distinct = list({type(ours): (ours, theirs) for ours, theirs in PARAMETERS}.values())
    message = Message(kind, HIT_A, HIT_B, tuple(ours for ours, _ in distinct), 1)
    theirs = other.HIP(
        kind=kind, sender=str(HIT_A), receiver=str(HIT_B), controls=1, parameters=[theirs for _, theirs in distinct]
    ).between(A.packed, B.packed)
    assert on_the_wire(message) == theirs
    assert decode(theirs, A, B) == message


def test_the_checksum_is_that_of_the_rfc() -> None:
    # Appendix C.1.
    octets = on_the_wire(Message(Kind.I1, HIT_A, HIT_B, (DhGroupList((3, 4, 8)),)))
    assert (len(octets), octets[1], octets[4:6]) == (48, 5, bytes.fromhex("1a5e"))


def test_parameters_stand_in_order_whatever_the_order_they_are_given_in() -> None:
    assert encode_parameters(reversed(EVERY[4:8])) == encode_parameters(EVERY[4:8])


@pytest.mark.parametrize(
    ("octets", "complaint"),
    [
        (b"", "at least 40 octets, not 0"),
        (raw()[:39], "at least 40 octets, not 39"),
        (b";\2" + raw()[2:], "at least 40 octets, not 24"),
        (raw(frame(385, bytes(4)))[:-8], "of 40 octets says that it has 48"),
        (raw(frame(385, bytes(4)), frame(385, bytes(4))), "parameter 385 stands twice"),
        (raw(frame(449, bytes(4)), frame(385, bytes(4))), "parameter 385 stands behind 449"),
        (raw(kind=5), "type 5 are not known"),
        (raw((385).to_bytes(2) + (40).to_bytes(2) + bytes(4)), "parameter 385 ends behind the packet"),
        (raw(frame(65, bytes(11))), "ESP_INFO has 12 octets, not 11"),
        (raw(frame(129, bytes(13))), "R1_COUNTER has 12 octets, not 13"),
        (raw(frame(257, bytes(4))), "PUZZLE has at least 5 octets, not 4"),
        (raw(frame(321, bytes(13))), "does not hold I and J of one length"),
        (raw(frame(449, b"")), "an ACK of 0 octets"),
        (raw(frame(449, bytes(6))), "an ACK of 6 octets"),
        (raw(frame(511, b"")), "DH_GROUP_LIST has at least 1 octets"),
        (raw(frame(513, b"\x08\0\5abc")), "DIFFIE_HELLMAN has 5 octets, not 3"),
        (raw(frame(579, bytes(3))), "3 octets of HIP_CIPHER are no whole numbers"),
        (raw(frame(641, bytes(4))), "ENCRYPTED has at least 5 octets"),
        (raw(frame(705, b"\0\x09\0\0\0\7key")), "what HOST_ID holds has 9 octets, not 3"),
        (raw(frame(715, b"\x11")), "lower four bits"),
        (raw(frame(832, bytes(3))), "NOTIFICATION has at least 4 octets"),
        (raw(frame(193, bytes(7))), "too few for a locator"),
        (raw(frame(193, b"\0\0\4\0" + bytes(4))), "a locator ends 16 octets behind its LOCATOR_SET"),
        (raw(frame(193, b"\0\1\4\0\0\0\0\1" + bytes(16))), "a locator of type 1 has 20 octets, not 16"),
        (raw(frame(193, b"\0\0\4\0" + bytes(20))), "a locator without a lifetime"),
        (raw(frame(41562, bytes(6))), "a tag has 8 octets, not 6"),
        (raw(frame(61697, b"\0\5")), "a signature has at least 3 octets"),
    ],
)
def test_what_is_malformed_is_refused_with_a_reason(octets: bytes, complaint: str) -> None:
    with pytest.raises(MessageError, match=complaint):
        decode(octets, A, B)


def test_a_wrong_checksum_and_a_wrong_version_are_refused() -> None:
    octets = bytearray(raw())
    octets[39] ^= 1
    with pytest.raises(MessageError, match="checksum"):
        decode(bytes(octets), A, B)
    octets = bytearray(raw())
    octets[3] = 0x11
    with pytest.raises(MessageError, match="HIP version 1, not 2"):
        decode(with_checksum(bytes(octets), A, B), A, B)


def test_what_is_unknown_is_left_out_unless_it_is_critical() -> None:
    known = frame(385, bytes(4))
    assert decode(raw(frame(300, b"data"), known), A, B).parameters == (Seq(0),)
    with pytest.raises(CriticalError) as refusal:
        decode(raw(frame(301, b"data"), known), A, B)
    assert refusal.value.number == 301


def test_padding_and_reserved_bits_are_not_looked_at() -> None:
    octets = bytearray(raw(frame(511, b"\x08")))
    octets[3] |= 0x0E
    octets[6:8] = b"\xff\xff"
    octets[-3:] = b"\1\2\3"
    message = decode(with_checksum(bytes(octets), A, B), A, B)
    assert (message.parameters, message.controls) == ((DhGroupList((8,)),), 1)


@pytest.mark.parametrize("next_header", [59, 6])
def test_what_follows_the_packet_is_ignored(next_header: int) -> None:
    octets = bytearray(raw(frame(385, bytes(4))))
    octets[0] = next_header
    packet = with_checksum(bytes(octets), A, B)
    assert own_octets(packet + b"more") == packet
    assert decode(packet + b"more", A, B).need(Seq) == Seq(0)


def test_more_than_six_ciphers_are_cut() -> None:
    assert decode_parameters(frame(579, bytes(range(16)))) == (HipCipher((1, 0x203, 0x405, 0x607, 0x809, 0xA0B)),)


def test_locators_of_other_types_are_kept_as_they_are() -> None:
    octets = b"\0\7\2\1\0\0\0\1" + b"whatever"
    (locators,) = decode_parameters(frame(193, octets))
    assert locators == LocatorSet((UnknownLocator(7, True, octets),))
    assert locators.contents() == octets


def test_a_mac_covers_what_stands_before_it_and_the_length_up_to_there() -> None:
    head = Message(Kind.CLOSE, HIT_A, HIT_B, (EchoRequestSigned(b"echo"),))
    whole = Message(
        Kind.CLOSE, HIT_A, HIT_B, (EchoRequestSigned(b"echo"), HipMac(bytes(32)), HipSignature(7, bytes(96)))
    )
    assert covered(on_the_wire(whole), HipMac.number) == encode(head)
    assert len(covered(on_the_wire(whole), HipSignature.number)) == len(encode(head)) + 40


def test_an_r1_is_signed_without_what_is_made_out_to_the_initiator() -> None:
    r1 = encode(Message(Kind.R1, HIT_A, HIT_B, (R1Counter(5), Puzzle(10, 38, b"op", I), HipCipher((4,)))))
    other_r1 = encode(Message(Kind.R1, HIT_A, HIT_A, (R1Counter(5), Puzzle(10, 38, b"qr", J), HipCipher((4,)))))
    assert without_initiator(r1) == without_initiator(other_r1)
    harder = encode(Message(Kind.R1, HIT_A, HIT_B, (R1Counter(5), Puzzle(11, 38, b"op", I), HipCipher((4,)))))
    assert without_initiator(r1) != without_initiator(harder)


@given(st.lists(st.sampled_from(EVERY), unique_by=lambda one: one.number), st.sampled_from(Kind))
def test_whatever_is_written_is_read(parameters: list[Parameter], kind: Kind) -> None:
    message = Message(kind, HIT_A, HIT_B, tuple(sorted(parameters, key=lambda one: one.number)))
    assert decode(on_the_wire(message), A, B) == message


@given(st.binary(max_size=200), st.sampled_from(sorted(one.number for one in EVERY)))
def test_any_octets_are_read_or_refused(octets: bytes, number: int) -> None:
    for packet in (octets, raw(frame(number, octets))):
        try:
            message = decode(packet, A, B)
        except DecodeError:
            continue
        assert decode(on_the_wire(message), A, B) == message
        assert len(packet) >= HEADER_OCTETS
