"""Ethernet frames, with a VLAN tag or without (IEEE 802.1Q).

destination (6), source (6), [0x8100 (2), priority (3 bits), drop eligible (1 bit), VLAN (12 bits)], type (2), payload
"""

from __future__ import annotations

from dataclasses import dataclass

from wayname.wire.errors import DecodeError
from wayname.wire.mac import Mac

TYPE_VLAN = 0x8100
TYPE_IPV6 = 0x86DD


@dataclass(frozen=True, slots=True)
class Tag:
    """A VLAN tag; VLAN 0 only carries a priority."""

    vlan: int
    priority: int = 0
    drop_eligible: bool = False

    def encode(self) -> bytes:
        """Return the two octets behind 0x8100."""
        return (self.priority << 13 | self.drop_eligible << 12 | self.vlan).to_bytes(2)

    @classmethod
    def decode(cls, octets: bytes) -> Tag:
        """Read the two octets behind 0x8100."""
        value = int.from_bytes(octets)
        return cls(value & 0xFFF, value >> 13, bool(value >> 12 & 1))


@dataclass(frozen=True, slots=True)
class Frame:
    """An Ethernet frame; a second tag is payload."""

    destination: Mac
    source: Mac
    type: int
    payload: bytes
    tag: Tag | None = None

    def encode(self) -> bytes:
        """Return the frame's octets."""
        tag = TYPE_VLAN.to_bytes(2) + self.tag.encode() if self.tag else b""
        return self.destination.packed + self.source.packed + tag + self.type.to_bytes(2) + self.payload

    @classmethod
    def decode(cls, octets: bytes) -> Frame:
        """Read a frame."""
        if len(octets) < 14:
            raise DecodeError(f"an Ethernet frame has at least 14 octets, not {len(octets)}")
        destination, source = Mac.unpack(octets[:6]), Mac.unpack(octets[6:12])
        kind = int.from_bytes(octets[12:14])
        if kind != TYPE_VLAN:
            return cls(destination, source, kind, octets[14:])
        if len(octets) < 18:
            raise DecodeError("the frame ends inside its VLAN tag")
        return cls(destination, source, int.from_bytes(octets[16:18]), octets[18:], Tag.decode(octets[14:16]))
