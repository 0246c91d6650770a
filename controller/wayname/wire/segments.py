"""Segment routing headers (RFC 8754, section 2).

next header (1), length (1), routing type 4 (1), segments left (1), last entry (1), flags (1), tag (2),
segments (16 each; the path's last one first), TLVs
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire import ipv6
from wayname.wire.errors import DecodeError

ROUTING_SEGMENTS = 4
HMAC_TLV = bytes([5, 38])  # with the 32 octets that SHA-256 makes
HMAC_TLV_OCTETS = 40
# Linux looks for an HMAC only where the header has this flag, which RFC 8754 knows no more.
LINUX_HMAC_FLAG = 8
_FIXED_OCTETS = 8
_BEFORE_ROUTING = ipv6.EXTENSIONS - {ipv6.ROUTING}


@dataclass(frozen=True, slots=True)
class SegmentHeader:
    """The segments of a packet, in the order in which they are written."""

    segments_left: int
    segments: tuple[IPv6Address, ...]

    @property
    def next_segment(self) -> IPv6Address | None:
        """Where the packet goes when it is where it was to go."""
        return self.segments[self.segments_left - 1] if self.segments_left else None

    @classmethod
    def find(cls, packet: ipv6.Packet) -> SegmentHeader | None:
        """Read the packet's first routing header, if it is one of segments."""
        routing = packet.upper_layer(_BEFORE_ROUTING)
        if routing.number != ipv6.ROUTING or routing.data[2:3] != bytes([ROUTING_SEGMENTS]):
            return None
        if len(routing.data) < _FIXED_OCTETS:
            raise DecodeError(f"a segment routing header of {len(routing.data)} octets")
        left, count = routing.data[3], routing.data[4] + 1
        end = _FIXED_OCTETS + 16 * count
        if end > (routing.data[1] + 1) * 8 or end > len(routing.data) or left > count:
            raise DecodeError(f"{count} segments, {left} of them left, in {len(routing.data)} octets")
        return cls(left, tuple(IPv6Address(routing.data[at : at + 16]) for at in range(_FIXED_OCTETS, end, 16)))

    def encode(self, next_header: int) -> bytes:
        """Return the header, which this one follows."""
        count = len(self.segments)
        head = bytes([next_header, 2 * count, ROUTING_SEGMENTS, self.segments_left, count - 1, 0, 0, 0])
        return head + b"".join(segment.packed for segment in self.segments)


@dataclass(frozen=True, slots=True)
class ProvenSegments:
    """A list of segments, and the HMAC that is its first TLV (RFC 8754, section 2.1.2), as they are written."""

    last_entry: int
    flags: int
    segments: bytes
    tlv: bytes

    @property
    def key_id(self) -> int:
        """Which key, and which algorithm."""
        return int.from_bytes(self.tlv[4:8])

    @property
    def hmac(self) -> bytes:
        """The HMAC itself."""
        return self.tlv[8:]

    def covered(self, source: IPv6Address) -> bytes:
        """Return what the HMAC is over (section 2.1.2.1)."""
        return source.packed + bytes([self.last_entry, self.flags]) + self.tlv[2:8] + self.segments

    def covered_by_linux(self, source: IPv6Address) -> bytes:
        """Return what Linux's HMAC is over: it leaves out the 16 bits behind the TLV's length."""
        return source.packed + bytes([self.last_entry, self.flags]) + self.tlv[4:8] + self.segments

    @classmethod
    def find(cls, packet: ipv6.Packet) -> ProvenSegments:
        """Read the packet's first routing header."""
        routing = packet.upper_layer(_BEFORE_ROUTING)
        if routing.number != ipv6.ROUTING or len(routing.data) < _FIXED_OCTETS or routing.data[2] != ROUTING_SEGMENTS:
            raise DecodeError("no segment routing header")
        end = _FIXED_OCTETS + 16 * (routing.data[4] + 1)
        tlv = routing.data[end : end + HMAC_TLV_OCTETS]
        if end + HMAC_TLV_OCTETS > (routing.data[1] + 1) * 8 or len(tlv) < HMAC_TLV_OCTETS or tlv[:2] != HMAC_TLV:
            raise DecodeError("no HMAC behind the segments")
        return cls(routing.data[4], routing.data[5], routing.data[_FIXED_OCTETS:end], tlv)
