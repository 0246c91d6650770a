"""Shim6 as layers of scapy, written from RFC 5533 (section 5) and RFC 5534 (section 5) apart from the codec."""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.fields import (
    BitField,
    BitFieldLenField,
    ByteField,
    FieldLenField,
    FieldListField,
    IntField,
    IP6Field,
    PacketListField,
    ShortField,
    StrLenField,
    XByteField,
)
from scapy.packet import Packet
from scapy.utils import checksum


class _Part(Packet):
    """A part of a message: what follows it is not inside it."""

    def extract_padding(self, octets: bytes) -> tuple[bytes, bytes]:
        return b"", octets


def _up_to_eight(octets: int) -> int:
    return (8 - octets % 8) % 8


class Option(_Part):
    """What all options have: type and C in 16 bits, the length of the contents, the contents, padding."""

    def post_build(self, octets: bytes, payload: bytes) -> bytes:
        # Section 5.15: total = 11 + length - (length + 3) mod 8.
        length = len(octets) - 4
        if self.getfieldval("length") is None:
            octets = octets[:2] + length.to_bytes(2) + octets[4:]
        return octets + bytes(11 + length - (length + 3) % 8 - len(octets)) + payload

    def extract_padding(self, octets: bytes) -> tuple[bytes, bytes]:
        return b"", octets[_up_to_eight(4 + self.getfieldval("length")) :]


def _head(number: int) -> list[Any]:
    return [BitField("number", number, 15), BitField("critical", 0, 1), ShortField("length", None)]


def _contents(name: str) -> StrLenField:
    return StrLenField(name, b"", length_from=lambda option: option.length)


class Unknown(Option):
    """An option of any number."""

    name = "unknown option"
    fields_desc: ClassVar[list[Any]] = [*_head(99), _contents("contents")]


class Validator(Option):
    """Section 5.15.1."""

    name = "responder validator"
    fields_desc: ClassVar[list[Any]] = [*_head(1), _contents("validator")]


class Locators(Option):
    """Section 5.15.2."""

    name = "locator list"
    fields_desc: ClassVar[list[Any]] = [
        *_head(2),
        IntField("generation", 0),
        FieldLenField("count", None, fmt="B", count_of="locators"),
        FieldListField("methods", [], XByteField("method", 0), count_from=lambda option: option.count),
        StrLenField("inner", b"", length_from=lambda option: _up_to_eight(9 + option.count)),
        FieldListField("locators", [], IP6Field("locator", "::"), count_from=lambda option: option.count),
    ]

    def self_build(self) -> bytes:
        self.inner = bytes(_up_to_eight(9 + len(self.methods)))
        return bytes(super().self_build())


class Element(_Part):
    """Flags alone."""

    name = "preference"
    fields_desc: ClassVar[list[Any]] = [XByteField("flags", 0)]


class Element2(_Part):
    """Flags and priority."""

    name = "preference with priority"
    fields_desc: ClassVar[list[Any]] = [XByteField("flags", 0), ByteField("priority", 0)]


class Element3(_Part):
    """Flags, priority and weight."""

    name = "preference with priority and weight"
    fields_desc: ClassVar[list[Any]] = [XByteField("flags", 0), ByteField("priority", 0), ByteField("weight", 0)]


_ELEMENTS = {1: Element, 2: Element2, 3: Element3}


class Preferences(Option):
    """Section 5.15.3."""

    name = "locator preferences"
    fields_desc: ClassVar[list[Any]] = [
        *_head(3),
        IntField("generation", 0),
        ByteField("element_length", 1),
        PacketListField(
            "elements",
            [],
            next_cls_cb=lambda option, *_: _ELEMENTS[option.element_length],
            length_from=lambda option: option.length - 5,
        ),
    ]


class Parameters(Option):
    """Section 5.15.4."""

    name = "CGA parameter data structure"
    fields_desc: ClassVar[list[Any]] = [*_head(4), _contents("parameters")]


class Signature(Option):
    """Section 5.15.5."""

    name = "CGA signature"
    fields_desc: ClassVar[list[Any]] = [*_head(5), _contents("signature")]


class Ulids(Option):
    """Section 5.15.6."""

    name = "ULID pair"
    fields_desc: ClassVar[list[Any]] = [
        *_head(6),
        IntField("reserved2", 0),
        IP6Field("sender", "::"),
        IP6Field("receiver", "::"),
    ]


class Forked(Option):
    """Section 5.15.7."""

    name = "forked instance identifier"
    fields_desc: ClassVar[list[Any]] = [*_head(7), IntField("identifier", 0)]


class Timeout(Option):
    """RFC 5534, section 5.3."""

    name = "keepalive timeout"
    fields_desc: ClassVar[list[Any]] = [*_head(10), ShortField("reserved", 0), ShortField("seconds", 0)]


class ExactTimeout(Option):
    """In microseconds; of the range of numbers for experiments."""

    name = "exact keepalive timeout"
    fields_desc: ClassVar[list[Any]] = [*_head(16384), IntField("microseconds", 0)]


class Reports(Option):
    """Of path reports; of the same range."""

    name = "path reports"
    fields_desc: ClassVar[list[Any]] = [*_head(16385), ByteField("version", 1)]


_OPTIONS: dict[int, type[Option]] = {
    1: Validator,
    2: Locators,
    3: Preferences,
    4: Parameters,
    5: Signature,
    6: Ulids,
    7: Forked,
    10: Timeout,
    16384: ExactTimeout,
    16385: Reports,
}


def _option_class(message: Packet, options: list[Any], last: Packet | None, rest: bytes) -> type[Packet] | None:
    return _OPTIONS.get(int.from_bytes(rest[:2]) >> 1, Unknown) if rest else None


class Message(_Part):
    """The common header of control messages (section 5.3)."""

    def post_build(self, octets: bytes, payload: bytes) -> bytes:
        assert len(octets) % 8 == 0
        if self.getfieldval("units") is None:
            octets = octets[:1] + bytes([len(octets) // 8 - 1]) + octets[2:]
        if self.getfieldval("checksum") is None:
            octets = octets[:4] + checksum(octets).to_bytes(2) + octets[6:]
        return octets + payload


def _start(number: int, specific: str = "reserved1") -> list[Any]:
    return [
        ByteField("next_header", 59),
        ByteField("units", None),
        BitField("p", 0, 1),
        BitField("number", number, 7),
        BitField(specific, 0, 7),
        BitField("s", 0, 1),
        ShortField("checksum", None),
    ]


def _options() -> PacketListField:
    return PacketListField("options", [], next_cls_cb=_option_class)


def _tag(name: str) -> list[Any]:
    return [BitField("r", 0, 1), BitField(name, 0, 47)]


class I1(Message):
    """Section 5.4."""

    name = "I1"
    fields_desc: ClassVar[list[Any]] = [
        *_start(1),
        *_tag("initiator_tag"),
        IntField("initiator_nonce", 0),
        _options(),
    ]


class R1(Message):
    """Section 5.5."""

    name = "R1"
    fields_desc: ClassVar[list[Any]] = [
        *_start(2),
        ShortField("reserved2", 0),
        IntField("initiator_nonce", 0),
        IntField("responder_nonce", 0),
        _options(),
    ]


class I2(Message):
    """Section 5.6."""

    name = "I2"
    fields_desc: ClassVar[list[Any]] = [
        *_start(3),
        *_tag("initiator_tag"),
        IntField("initiator_nonce", 0),
        IntField("responder_nonce", 0),
        IntField("reserved2", 0),
        _options(),
    ]


class R2(Message):
    """Section 5.7."""

    name = "R2"
    fields_desc: ClassVar[list[Any]] = [
        *_start(4),
        *_tag("responder_tag"),
        IntField("initiator_nonce", 0),
        _options(),
    ]


class R1bis(Message):
    """Section 5.8."""

    name = "R1bis"
    fields_desc: ClassVar[list[Any]] = [
        *_start(5),
        *_tag("packet_tag"),
        IntField("responder_nonce", 0),
        _options(),
    ]


class I2bis(Message):
    """Section 5.9."""

    name = "I2bis"
    fields_desc: ClassVar[list[Any]] = [
        *_start(6),
        *_tag("initiator_tag"),
        IntField("initiator_nonce", 0),
        IntField("responder_nonce", 0),
        BitField("reserved2", 0, 49),
        BitField("packet_tag", 0, 47),
        _options(),
    ]


class UpdateRequest(Message):
    """Section 5.10."""

    name = "update request"
    fields_desc: ClassVar[list[Any]] = [
        *_start(64),
        *_tag("receiver_tag"),
        IntField("request_nonce", 0),
        _options(),
    ]


class UpdateAcknowledgement(Message):
    """Section 5.11."""

    name = "update acknowledgement"
    fields_desc: ClassVar[list[Any]] = [
        *_start(65),
        *_tag("receiver_tag"),
        IntField("request_nonce", 0),
        _options(),
    ]


class Keepalive(Message):
    """RFC 5534, section 5.1."""

    name = "keepalive"
    fields_desc: ClassVar[list[Any]] = [*_start(66), *_tag("receiver_tag"), IntField("reserved2", 0), _options()]


class ProbeRecord(_Part):
    """A probe that was sent or received."""

    name = "probe record"
    fields_desc: ClassVar[list[Any]] = [
        IP6Field("source", "::"),
        IP6Field("destination", "::"),
        IntField("nonce", 0),
        IntField("data", 0),
    ]


class Probe(Message):
    """RFC 5534, section 5.2."""

    name = "probe"
    fields_desc: ClassVar[list[Any]] = [
        *_start(67),
        *_tag("receiver_tag"),
        BitFieldLenField("precvd", None, 4, count_of="received"),
        BitFieldLenField("psent", None, 4, count_of="sent"),
        BitField("state", 0, 2),
        BitField("reserved2", 0, 22),
        PacketListField("sent", [], ProbeRecord, count_from=lambda probe: probe.psent),
        PacketListField("received", [], ProbeRecord, count_from=lambda probe: probe.precvd),
        _options(),
    ]


class Error(Message):
    """Section 5.14."""

    name = "error"
    fields_desc: ClassVar[list[Any]] = [
        *_start(68, "code"),
        ShortField("pointer", 0),
        StrLenField("packet", b"", length_from=lambda error: 8 * error.units),
    ]


class Payload(_Part):
    """The header before a packet of upper layers (section 5.2)."""

    name = "payload extension header"
    fields_desc: ClassVar[list[Any]] = [
        ByteField("next_header", 59),
        ByteField("units", 0),
        BitField("p", 1, 1),
        BitField("tag", 0, 47),
    ]
