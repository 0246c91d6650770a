"""Messages of Shim6 that are wrong in some way, or new, or anything at all."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.packet import Packet
from shim6 import scapy_shim6 as other

from wayname.wire.checksum import internet_checksum
from wayname.wire.shim6.errors import AnsweredError, ErrorCode, MessageError
from wayname.wire.shim6.messages import (
    I1,
    I2,
    MOST_ERROR_OCTETS,
    R1,
    R2,
    Error,
    I2bis,
    Keepalive,
    Message,
    Probe,
    ProbeRecord,
    ProbeState,
    R1bis,
    UpdateAcknowledgement,
    UpdateRequest,
    decode,
    encode,
)
from wayname.wire.shim6.options import (
    CgaParameters,
    CgaSignature,
    ExactKeepaliveTimeout,
    ForkedInstance,
    KeepaliveTimeout,
    Locator,
    LocatorList,
    LocatorPreferences,
    PathReports,
    Preference,
    PreferenceFlag,
    ResponderValidator,
    UlidPair,
)
from wayname.wire.shim6.payload import PayloadHeader

TAG, NONCE = 0x7EDC_BA98_7654, 0xDEAD_BEEF
A1, B1 = IPv6Address("2001:db8:a::1"), IPv6Address("2001:db8:b::1")
FULL = I2(
    TAG,
    NONCE,
    1,
    (
        ResponderValidator(b"valid"),
        UlidPair(A1, B1),
        ForkedInstance(1),
        LocatorList(5, (Locator(A1, 1), Locator(B1, 2))),
        LocatorPreferences(5, (Preference(PreferenceFlag.BROKEN, 1, 2), Preference(PreferenceFlag(0), 3, 4))),
        CgaParameters(b"parameters"),
        CgaSignature(b"signature"),
        KeepaliveTimeout(5),
    ),
)
PROBE = Probe(TAG, ProbeState.INBOUND_OK, (ProbeRecord(A1, B1, 1),), (ProbeRecord(B1, A1, 2), ProbeRecord(B1, A1, 3)))


def sealed(octets: bytes) -> bytes:
    """Return octets as a message with the right length and checksum."""
    octets += bytes(-len(octets) % 8)
    octets = octets[:1] + bytes([len(octets) // 8 - 1]) + octets[2:4] + bytes(2) + octets[6:]
    return octets[:4] + internet_checksum(octets).to_bytes(2) + octets[6:]


@pytest.mark.parametrize(
    "message", [FULL, PROBE, I1(TAG, NONCE), Error(1, 2, bytes(8))], ids=lambda m: type(m).__name__
)
def test_a_message_cut_anywhere_is_refused(message: Message) -> None:
    octets = encode(message)
    for length in range(len(octets)):
        with pytest.raises(MessageError):
            decode(octets[:length])


def test_a_message_cut_anywhere_and_sealed_again_never_reads_as_the_whole() -> None:
    for message in (FULL, PROBE):
        octets = encode(message)
        for length in range(8, len(octets) - 7):
            try:
                read = decode(sealed(octets[:length]))
            except MessageError:
                continue
            assert read != message


@pytest.mark.parametrize("at", range(16))
def test_a_changed_bit_breaks_the_checksum(at: int) -> None:
    octets = bytearray(encode(I1(TAG, NONCE)))
    octets[at] ^= 0x10
    with pytest.raises(MessageError):
        decode(bytes(octets))


def test_octets_behind_the_message_are_ignored() -> None:
    assert decode(encode(Keepalive(TAG)) + b"anything") == Keepalive(TAG)


@pytest.mark.parametrize(
    ("at", "value", "reason"),
    [
        (0, 6, "no next header, but this one has 6"),
        (2, 0x80 | 66, "payload header"),
        (3, 0x01, "HIP"),
    ],
)
def test_what_is_no_control_message(at: int, value: int, reason: str) -> None:
    octets = bytearray(encode(Keepalive(TAG)))
    octets[at] = value
    with pytest.raises(MessageError, match=reason):
        decode(sealed(bytes(octets)))


def test_reserved_bits_are_ignored() -> None:
    layer = other.I2(
        reserved1=0x7F, r=1, initiator_tag=TAG, initiator_nonce=NONCE, responder_nonce=1, reserved2=0xFFFF_FFFF
    )
    assert decode(bytes(layer)) == I2(TAG, NONCE, 1)
    bis = other.I2bis(r=1, initiator_tag=TAG, reserved2=(1 << 49) - 1, packet_tag=5)
    assert decode(bytes(bis)) == I2bis(TAG, 0, 0, 5)


@pytest.mark.parametrize("number", [0, 7, 63, 69, 127])
def test_an_unknown_message_is_answered(number: int) -> None:
    with pytest.raises(AnsweredError) as caught:
        decode(bytes(other.I1(number=number)))
    assert (caught.value.code, caught.value.pointer) == (ErrorCode.UNKNOWN_MESSAGE, 2)


def keepalive_with(*options: Packet) -> bytes:
    """Return a keepalive, which no option has any business in."""
    return bytes(other.Keepalive(receiver_tag=TAG, options=list(options)))


def test_options_that_are_unknown_or_misplaced_are_skipped() -> None:
    assert decode(keepalive_with(other.Unknown(contents=b"new"), other.Forked(identifier=1))) == Keepalive(TAG)


@pytest.mark.parametrize("option", [other.Unknown(critical=1, contents=b"new"), other.Forked(critical=1)])
def test_critical_options_that_are_unknown_or_misplaced_are_answered(option: Packet) -> None:
    with pytest.raises(AnsweredError) as caught:
        decode(keepalive_with(other.Unknown(contents=b"0123"), option.copy()))
    assert (caught.value.code, caught.value.pointer) == (ErrorCode.CRITICAL_OPTION, 16 + 8)


def test_critical_options_that_are_known_are_read() -> None:
    layer = other.I1(initiator_tag=TAG, initiator_nonce=NONCE, options=[other.Forked(critical=1, identifier=9)])
    assert decode(bytes(layer)) == I1(TAG, NONCE, (ForkedInstance(9),))


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (other.Unknown(number=2, contents=b"1234"), "no number of locators"),
        (other.Unknown(number=2, contents=bytes(4) + b"\x01" + bytes(18)), "does not hold 1 locators"),
        (other.Unknown(number=3, contents=b"1234"), "no element length"),
        (other.Unknown(number=3, contents=bytes(6)), "no whole preferences"),
        (other.Unknown(number=3, contents=bytes(4) + b"\x03" + bytes(5)), "no whole preferences"),
        (other.Unknown(number=6, contents=bytes(35)), "36 octets, not 35"),
        (other.Unknown(number=7, contents=bytes(5)), "4 octets, not 5"),
        (other.Unknown(number=10, contents=bytes(2)), "4 octets, not 2"),
        (other.Unknown(length=5, contents=bytes(4)), "1 octets behind the message"),
    ],
)
def test_malformed_options_are_refused(option: Packet, reason: str) -> None:
    with pytest.raises(MessageError, match=reason):
        decode(bytes(other.I2(options=[option.copy()])))


def test_an_option_that_stands_twice_is_refused() -> None:
    with pytest.raises(MessageError, match="stands twice"):
        decode(encode(I1(TAG, NONCE, (ForkedInstance(1), ForkedInstance(2)))))


def test_probes_without_a_record_or_a_state_are_refused() -> None:
    with pytest.raises(MessageError, match="nothing of itself"):
        decode(bytes(other.Probe(receiver_tag=TAG)))
    with pytest.raises(MessageError, match="state 3"):
        decode(bytes(other.Probe(receiver_tag=TAG, state=3, sent=[other.ProbeRecord()])))


@pytest.mark.parametrize(
    "message",
    [
        I1(1 << 47, NONCE),
        Probe(TAG, ProbeState.EXPLORING, ()),
        Probe(TAG, ProbeState.EXPLORING, PROBE.sent * 16),
        UpdateRequest(TAG, NONCE, (LocatorList(1, (Locator(A1, 1),) * 130),)),
    ],
)
def test_what_does_not_fit_is_not_written(message: Message) -> None:
    with pytest.raises(MessageError):
        encode(message)


@pytest.mark.parametrize("length", [0, 1, 7, 9, 1232, 1233, 4000])
def test_an_error_message_holds_as_much_of_the_packet_as_may_be_sent(length: int) -> None:
    packet = bytes(number % 251 for number in range(length))
    octets = encode(Error(1, 40, packet))
    assert 16 <= len(octets) <= MOST_ERROR_OCTETS
    read = decode(octets)
    assert isinstance(read, Error)
    assert read.packet[:length] == packet[: len(read.packet)]
    assert len(read.packet) >= min(length, MOST_ERROR_OCTETS - 8)


addresses = st.integers(0, (1 << 128) - 1).map(IPv6Address)
tags = st.integers(0, (1 << 47) - 1)
words = st.integers(0, (1 << 32) - 1)
octets_of_options = st.binary(max_size=60)
validators = st.builds(ResponderValidator, octets_of_options)
contexts = [st.builds(UlidPair, addresses, addresses), st.builds(ForkedInstance, words)]
elements = [
    st.builds(Preference, st.integers(0, 255).map(PreferenceFlag)),
    st.builds(Preference, st.integers(0, 255).map(PreferenceFlag), st.integers(0, 255)),
    st.builds(Preference, st.integers(0, 255).map(PreferenceFlag), st.integers(0, 255), st.integers(0, 255)),
]
preferences = st.one_of([st.lists(element, max_size=9).map(tuple) for element in elements])
locator_lists = st.lists(st.builds(Locator, addresses, st.integers(0, 255)), max_size=9).map(tuple)
locator_options = [
    st.builds(LocatorList, words, locator_lists),
    st.builds(LocatorPreferences, words, preferences),
    st.builds(CgaParameters, octets_of_options),
    st.builds(CgaSignature, octets_of_options),
    st.builds(KeepaliveTimeout, st.integers(0, 0xFFFF)),
    st.builds(ExactKeepaliveTimeout, words),
    st.builds(PathReports, st.integers(0, 255), st.booleans(), st.booleans()),
]


def some_of(*options: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    """Each of the options at most once, in any order."""
    return st.lists(st.one_of(*options), unique_by=type, max_size=len(options)).map(tuple)


records = st.builds(ProbeRecord, addresses, addresses, words, words)
all_options = some_of(validators, *contexts, *locator_options)
messages = st.one_of(
    st.builds(I1, tags, words, some_of(*contexts)),
    st.builds(R1, words, words, some_of(validators)),
    st.builds(I2, tags, words, words, all_options),
    st.builds(R2, tags, words, some_of(*locator_options)),
    st.builds(R1bis, tags, words, some_of(validators)),
    st.builds(I2bis, tags, words, words, tags, all_options),
    st.builds(UpdateRequest, tags, words, some_of(*locator_options)),
    st.builds(UpdateAcknowledgement, tags, words),
    st.builds(Keepalive, tags),
    st.builds(
        Probe,
        tags,
        st.sampled_from(ProbeState),
        st.lists(records, min_size=1, max_size=4).map(tuple),
        st.lists(records, max_size=4).map(tuple),
    ),
    st.builds(
        Error,
        st.integers(0, 127),
        st.integers(0, 0xFFFF),
        st.integers(1, 9).flatmap(lambda units: st.binary(min_size=8 * units, max_size=8 * units)),
    ),
)


@given(messages)
def test_what_is_written_reads_the_same(message: Message) -> None:
    assert decode(encode(message)) == message


@given(st.sampled_from([*range(1, 7), *range(64, 69)]), st.binary(min_size=8, max_size=200))
def test_any_octets_are_read_or_refused(number: int, octets: bytes) -> None:
    octets = sealed(bytes([59, 0, number, octets[3] & 0xFE]) + octets[4:])
    try:
        message = decode(octets)
    except MessageError:
        return
    # Unknown options, reserved bits and padding are lost, and nothing else.
    assert decode(encode(message)) == message


@given(st.binary(max_size=64))
def test_any_octets_are_a_payload_header_or_are_refused(octets: bytes) -> None:
    try:
        header = PayloadHeader.decode(octets)
    except MessageError:
        return
    assert header.encode() == octets[:8]
