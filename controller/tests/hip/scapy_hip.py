"""HIP as layers of scapy, written from RFC 7401 (section 5), RFC 7402 (section 5.1) and RFC 8046 (section 4)."""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.fields import (
    BitField,
    ByteField,
    FieldLenField,
    FieldListField,
    IntField,
    IP6Field,
    LongField,
    PacketListField,
    ShortField,
    StrFixedLenField,
    StrLenField,
    XIntField,
)
from scapy.packet import Packet
from scapy.utils import checksum


class Parameter(Packet):
    """What all parameters have: type, length of the contents, contents, zeros up to a multiple of eight."""

    def post_build(self, octets: bytes, payload: bytes) -> bytes:
        length = len(octets) - 4
        # Section 5.2.1: total = 11 + length - (length + 3) mod 8.
        padding = bytes(11 + length - (length + 3) % 8 - len(octets))
        return octets[:2] + length.to_bytes(2) + octets[4:] + padding + payload


def _head(number: int) -> list[Any]:
    return [ShortField("type", number), ShortField("length", None)]


def _octets(name: str) -> StrLenField:
    return StrLenField(name, b"")


class Locator(Packet):
    """A locator in a LOCATOR_SET."""

    fields_desc: ClassVar[list[Any]] = [
        ByteField("traffic", 0),
        ByteField("kind", 0),
        ByteField("words", 4),
        BitField("reserved", 0, 7),
        BitField("preferred", 0, 1),
        IntField("lifetime", 1),
        _octets("spi"),
        IP6Field("address", "::"),
    ]


def _make(name: str, number: int, *fields: Any) -> type[Parameter]:
    return type(name, (Parameter,), {"name": name, "fields_desc": [*_head(number), *fields]})


EspInfo = _make(
    "ESP_INFO", 65, ShortField("reserved", 0), ShortField("index", 0), XIntField("old", 0), XIntField("new", 0)
)
R1Counter = _make("R1_COUNTER", 129, IntField("reserved", 0), LongField("counter", 0))
LocatorSet = _make("LOCATOR_SET", 193, PacketListField("locators", [], Locator))
Puzzle = _make(
    "PUZZLE", 257, ByteField("k", 0), ByteField("lifetime", 0), StrFixedLenField("opaque", b"", 2), _octets("i")
)
Solution = _make(
    "SOLUTION",
    321,
    ByteField("k", 0),
    ByteField("reserved", 0),
    StrFixedLenField("opaque", b"", 2),
    _octets("i"),
    _octets("j"),
)
Seq = _make("SEQ", 385, IntField("update", 0))
Ack = _make("ACK", 449, FieldListField("updates", [], IntField("update", 0)))
DhGroupList = _make("DH_GROUP_LIST", 511, FieldListField("groups", [], ByteField("group", 0)))
DiffieHellman = _make(
    "DIFFIE_HELLMAN", 513, ByteField("group", 0), FieldLenField("size", None, length_of="value"), _octets("value")
)
HipCipher = _make("HIP_CIPHER", 579, FieldListField("ciphers", [], ShortField("cipher", 0)))
Encrypted = _make("ENCRYPTED", 641, IntField("reserved", 0), _octets("data"))
HostId = _make(
    "HOST_ID",
    705,
    FieldLenField("key_size", None, length_of="key"),
    BitField("kind", 0, 4),
    BitField("name_size", 0, 12),
    ShortField("algorithm", 0),
    _octets("key"),
    _octets("domain"),
)
HitSuiteList = _make("HIT_SUITE_LIST", 715, FieldListField("suites", [], ByteField("suite", 0)))
Certificate = _make("CERT", 768, _octets("data"))
Notification = _make("NOTIFICATION", 832, ShortField("reserved", 0), ShortField("kind", 0), _octets("data"))
EchoRequestSigned = _make("ECHO_REQUEST_SIGNED", 897, _octets("data"))
EchoResponseSigned = _make("ECHO_RESPONSE_SIGNED", 961, _octets("data"))
TransportFormatList = _make("TRANSPORT_FORMAT_LIST", 2049, FieldListField("formats", [], ShortField("one", 0)))
EspTransform = _make(
    "ESP_TRANSFORM", 4095, ShortField("reserved", 0), FieldListField("suites", [], ShortField("one", 0))
)
SignedPathReports = _make("path reports", 37834, ByteField("version", 1), _octets("more"))
Tagged = _make("tagged payload", 41562, BitField("reserved", 0, 17), BitField("tag", 0, 47))
HipMac = _make("HIP_MAC", 61505, _octets("data"))
HipMac2 = _make("HIP_MAC_2", 61569, _octets("data"))
HipSignature2 = _make("HIP_SIGNATURE_2", 61633, ShortField("algorithm", 0), _octets("signature"))
HipSignature = _make("HIP_SIGNATURE", 61697, ShortField("algorithm", 0), _octets("signature"))
AddedPathReports = _make("path reports added on the way", 62842, ByteField("version", 1), _octets("more"))
EchoResponseUnsigned = _make("ECHO_RESPONSE_UNSIGNED", 63425, _octets("data"))
EchoRequestUnsigned = _make("ECHO_REQUEST_UNSIGNED", 63661, _octets("data"))


class HIP(Packet):
    """The header, with its checksum over the pseudo-header of IPv6."""

    source: bytes
    destination: bytes
    fields_desc: ClassVar[list[Any]] = [
        ByteField("next_header", 59),
        ByteField("units", None),
        BitField("fixed_p", 0, 1),
        BitField("kind", 1, 7),
        BitField("version", 2, 4),
        BitField("reserved", 0, 3),
        BitField("fixed_s", 1, 1),
        ShortField("checksum", 0),
        ShortField("controls", 0),
        IP6Field("sender", "::"),
        IP6Field("receiver", "::"),
        PacketListField("parameters", [], Parameter),
    ]

    def between(self, source: bytes, destination: bytes) -> bytes:
        """Return the octets of the packet as it goes from one address to another."""
        octets = bytearray(bytes(self))
        octets[1] = len(octets) // 8 - 1
        pseudo = source + destination + len(octets).to_bytes(4) + bytes([0, 0, 0, 139])
        octets[4:6] = checksum(pseudo + bytes(octets)).to_bytes(2)
        return bytes(octets)
