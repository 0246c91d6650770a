"""ILNP as layers of scapy, written from RFC 6743 and RFC 6744 (section 2 of each) apart from the codecs."""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.fields import (
    ByteEnumField,
    ByteField,
    FieldLenField,
    PacketListField,
    ShortField,
    StrLenField,
    X3BytesField,
    XLongField,
    XShortField,
)
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, in6_chksum
from scapy.packet import Packet, bind_layers

ICMPV6 = 58


class Nonce(Packet):
    """The option alone, to stand in IPv6ExtHdrDestOpt."""

    name = "ILNP nonce"
    fields_desc: ClassVar[list[Any]] = [
        ByteField("otype", 0x8B),
        FieldLenField("optlen", None, fmt="B", length_of="nonce"),
        StrLenField("nonce", b"", length_from=lambda option: option.optlen),
    ]

    def alignment_delta(self, position: int) -> int:
        """It has to stand nowhere in particular."""
        return 0

    def extract_padding(self, octets: bytes) -> tuple[bytes, bytes]:
        return b"", octets


def _checksum(below: IPv6, octets: bytes) -> bytes:
    checksum: int = in6_chksum(ICMPV6, below, octets)  # type: ignore[no-untyped-call]
    return checksum.to_bytes(2)


class _Message(Packet):
    """An ICMPv6 message, whose checksum counts the addresses of the packet below it."""

    def post_build(self, octets: bytes, payload: bytes) -> bytes:
        octets += payload
        if self.checksum is None:
            below = self.underlayer
            while below is not None and not isinstance(below, IPv6):
                below = below.underlayer
            assert below is not None
            octets = octets[:2] + _checksum(below, octets) + octets[4:]
        return octets


class Listed(Packet):
    """A locator in a Locator Update."""

    name = "locator"
    fields_desc: ClassVar[list[Any]] = [
        XLongField("locator", 0),
        ShortField("preference", 0),
        ShortField("lifetime", 0),
    ]

    def extract_padding(self, octets: bytes) -> tuple[bytes, bytes]:
        return b"", octets


class LocatorUpdate(_Message):
    """RFC 6743, section 2."""

    name = "Locator Update"
    fields_desc: ClassVar[list[Any]] = [
        ByteField("type", 156),
        ByteField("code", 0),
        XShortField("checksum", None),
        FieldLenField("count", None, fmt="B", count_of="locators"),
        ByteEnumField("operation", 1, {1: "advertisement", 2: "acknowledgement"}),
        ShortField("reserved", 0),
        PacketListField("locators", [], Listed, count_from=lambda message: message.count),
    ]


class SessionRequest(_Message):
    """The request for a session: source nonce, destination nonce, control, in this order."""

    name = "session request"
    fields_desc: ClassVar[list[Any]] = [
        ByteField("type", 160),
        ByteField("code", 0),
        XShortField("checksum", None),
        StrLenField("source_nonce", bytes(12), length_from=lambda message: 12),
        StrLenField("destination_nonce", bytes(12), length_from=lambda message: 12),
        ByteEnumField("control", 1, {1: "request", 2: "request and acknowledge", 3: "acknowledge"}),
        X3BytesField("reserved", 0),
    ]


for message in (LocatorUpdate, SessionRequest):
    for below in (IPv6, IPv6ExtHdrDestOpt):
        bind_layers(below, message, nh=ICMPV6)
