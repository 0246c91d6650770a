"""The codec of Shim6 beside layers of scapy that were written from the RFCs apart from it."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from scapy.packet import Packet
from shim6 import scapy_shim6 as other

from wayname.wire.shim6.messages import (
    I1,
    I2,
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
    Option,
    PathReports,
    Preference,
    PreferenceFlag,
    ResponderValidator,
    UlidPair,
    Verification,
)
from wayname.wire.shim6.payload import PayloadHeader

A1, A2, B1, B2 = (IPv6Address(f"2001:db8:{number}::{number}") for number in ("a1", "a2", "b1", "b2"))
TAG, OTHER_TAG = 0x7EDC_BA98_7654, 0x0123_4567_89AB
NONCE, OTHER_NONCE = 0xDEAD_BEEF, 0x0BAD_CAFE
BROKEN, TRANSIENT = PreferenceFlag.BROKEN, PreferenceFlag.TRANSIENT


def locators(count: int) -> tuple[Locator, ...]:
    """Return locators, every other with a signature."""
    return tuple(Locator(A1 + index, Verification(1 + index % 2)) for index in range(count))


def other_locators(count: int) -> Packet:
    """Return the same option as scapy has it."""
    return other.Locators(
        generation=NONCE,
        methods=[1 + index % 2 for index in range(count)],
        locators=[str(A1 + index) for index in range(count)],
    )


OPTIONS: list[tuple[Option, Packet]] = [
    *((ResponderValidator(bytes(range(n))), other.Validator(validator=bytes(range(n)))) for n in (0, 4, 5, 20, 32)),
    *((LocatorList(NONCE, locators(n)), other_locators(n)) for n in (0, 1, 2, 6, 7, 8, 20)),
    (
        LocatorPreferences(NONCE, (Preference(BROKEN), Preference(BROKEN | TRANSIENT))),
        other.Preferences(
            generation=NONCE, element_length=1, elements=[other.Element(flags=1), other.Element(flags=3)]
        ),
    ),
    (
        LocatorPreferences(NONCE, (Preference(TRANSIENT, 10), Preference(PreferenceFlag(0), 255))),
        other.Preferences(
            generation=NONCE,
            element_length=2,
            elements=[other.Element2(flags=2, priority=10), other.Element2(flags=0, priority=255)],
        ),
    ),
    (
        LocatorPreferences(NONCE, (Preference(BROKEN, 1, 2), Preference(TRANSIENT, 3, 4), Preference(BROKEN, 5, 6))),
        other.Preferences(
            generation=NONCE,
            element_length=3,
            elements=[
                other.Element3(flags=1, priority=1, weight=2),
                other.Element3(flags=2, priority=3, weight=4),
                other.Element3(flags=1, priority=5, weight=6),
            ],
        ),
    ),
    (CgaParameters(b"parameters"), other.Parameters(parameters=b"parameters")),
    (CgaSignature(b"signature"), other.Signature(signature=b"signature")),
    (KeepaliveTimeout(600), other.Timeout(seconds=600)),
    (ExactKeepaliveTimeout(250_000), other.ExactTimeout(microseconds=250_000)),
    (PathReports(1), other.Reports(version=1)),
    (UlidPair(A1, B1), other.Ulids(sender=str(A1), receiver=str(B1))),
    (ForkedInstance(7), other.Forked(identifier=7)),
]

VALIDATOR, OTHER_VALIDATOR = ResponderValidator(b"valid" * 4), other.Validator(validator=b"valid" * 4)
SENT = tuple(ProbeRecord(A1, B1 + index, NONCE + index, index) for index in range(15))
RECEIVED = tuple(ProbeRecord(B1, A1 + index, OTHER_NONCE + index, index) for index in range(15))


def other_records(records: tuple[ProbeRecord, ...]) -> list[Packet]:
    """Return the same records as scapy has them."""
    return [
        other.ProbeRecord(source=str(one.source), destination=str(one.destination), nonce=one.nonce, data=one.data)
        for one in records
    ]


def probe(sent: int, received: int, state: ProbeState) -> tuple[Message, Packet]:
    """Return a probe with so many records, and the same as scapy has it."""
    return (
        Probe(TAG, state, SENT[:sent], RECEIVED[:received]),
        other.Probe(
            receiver_tag=TAG,
            state=int(state),
            sent=other_records(SENT[:sent]),
            received=other_records(RECEIVED[:received]),
        ),
    )


MESSAGES: list[tuple[Message, Packet]] = [
    (I1(TAG, NONCE), other.I1(initiator_tag=TAG, initiator_nonce=NONCE)),
    (
        R1(NONCE, OTHER_NONCE, (VALIDATOR,)),
        other.R1(initiator_nonce=NONCE, responder_nonce=OTHER_NONCE, options=[OTHER_VALIDATOR]),
    ),
    (
        R2(TAG, NONCE, (CgaSignature(b"1"), KeepaliveTimeout(3))),
        other.R2(
            responder_tag=TAG,
            initiator_nonce=NONCE,
            options=[other.Signature(signature=b"1"), other.Timeout(seconds=3)],
        ),
    ),
    (
        R1bis(TAG, NONCE, (VALIDATOR,)),
        other.R1bis(packet_tag=TAG, responder_nonce=NONCE, options=[OTHER_VALIDATOR]),
    ),
    (
        I2bis(TAG, NONCE, OTHER_NONCE, OTHER_TAG, (VALIDATOR, ForkedInstance(2))),
        other.I2bis(
            initiator_tag=TAG,
            initiator_nonce=NONCE,
            responder_nonce=OTHER_NONCE,
            packet_tag=OTHER_TAG,
            options=[OTHER_VALIDATOR, other.Forked(identifier=2)],
        ),
    ),
    (UpdateRequest(TAG, NONCE), other.UpdateRequest(receiver_tag=TAG, request_nonce=NONCE)),
    (UpdateAcknowledgement(TAG, NONCE), other.UpdateAcknowledgement(receiver_tag=TAG, request_nonce=NONCE)),
    (Keepalive(TAG), other.Keepalive(receiver_tag=TAG)),
    probe(1, 0, ProbeState.OPERATIONAL),
    probe(2, 1, ProbeState.EXPLORING),
    probe(15, 15, ProbeState.INBOUND_OK),
    (Error(1, 80, bytes(range(48))), other.Error(code=1, pointer=80, packet=bytes(range(48)))),
    (Error(127, 0xFFFF, bytes(1232)), other.Error(code=127, pointer=0xFFFF, packet=bytes(1232))),
    # I2 may have all options: each alone.
    *(
        (
            I2(TAG, NONCE, OTHER_NONCE, (option,)),
            other.I2(
                initiator_tag=TAG, initiator_nonce=NONCE, responder_nonce=OTHER_NONCE, options=[other_option.copy()]
            ),
        )
        for option, other_option in OPTIONS
    ),
]
IDS = [f"{type(message).__name__}-{number}" for number, (message, _) in enumerate(MESSAGES)]


@pytest.mark.parametrize(("message", "layer"), MESSAGES, ids=IDS)
def test_both_write_the_same_octets_and_read_each_others(message: Message, layer: Packet) -> None:
    octets = bytes(layer)
    assert encode(message) == octets
    assert decode(octets) == message
    # Read by scapy and written anew, with lengths and checksum found again.
    read = type(layer)(octets)
    read.clear_cache()
    for built in ("units", "checksum"):
        read.delfieldval(built)
    assert bytes(read) == octets
    for name in layer.fields:
        if name not in ("options", "sent", "received"):
            assert read.getfieldval(name) == layer.getfieldval(name)


def test_all_options_of_an_update_together() -> None:
    chosen: list[tuple[Option, Packet]] = [
        (option, layer)
        for option, layer in OPTIONS
        if isinstance(option, CgaParameters | CgaSignature | KeepaliveTimeout)
    ]
    chosen += [(LocatorList(NONCE, locators(3)), other_locators(3))]
    ours = UpdateRequest(TAG, NONCE, tuple(option for option, _ in chosen))
    octets = bytes(
        other.UpdateRequest(receiver_tag=TAG, request_nonce=NONCE, options=[layer.copy() for _, layer in chosen])
    )
    assert encode(ours) == octets
    assert decode(octets) == ours


def test_the_example_by_hand() -> None:
    # I1 of section 5.4, summed by hand: 3b01 0100 + tag + nonce, folded and inverted.
    octets = encode(I1(0x0000_0000_0001, 0x0000_0002))
    assert octets.hex() == "3b010100c3fb00000000000100000002"


@pytest.mark.parametrize("tag", [0, 1, TAG])
def test_the_payload_header(tag: int) -> None:
    octets = bytes(other.Payload(next_header=6, tag=tag))
    assert PayloadHeader(6, tag).encode() == octets
    assert PayloadHeader.decode(octets + b"segment") == PayloadHeader(6, tag)


def test_preferences_of_different_kinds_take_the_longest_element() -> None:
    mixed = LocatorPreferences(1, (Preference(BROKEN), Preference(TRANSIENT, weight=7)))
    read = decode(encode(UpdateRequest(TAG, NONCE, (mixed,))))
    assert read == UpdateRequest(
        TAG, NONCE, (LocatorPreferences(1, (Preference(BROKEN, 0, 0), Preference(TRANSIENT, 0, 7))),)
    )


def test_longer_elements_than_the_rfc_knows_are_read_as_far_as_it_goes() -> None:
    option = other.Unknown(number=3, contents=NONCE.to_bytes(4) + bytes([5]) + bytes([1, 2, 3, 4, 5, 2, 7, 8, 9, 0]))
    octets = bytes(other.UpdateRequest(receiver_tag=TAG, request_nonce=NONCE, options=[option]))
    assert decode(octets) == UpdateRequest(
        TAG, NONCE, (LocatorPreferences(NONCE, (Preference(BROKEN, 2, 3), Preference(TRANSIENT, 7, 8))),)
    )
