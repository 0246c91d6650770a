"""TCP segments over IPv6 (RFC 9293, section 3.1), as far as a connection is begun and broken off.

source port (2), destination port (2), sequence number (4), acknowledgement number (4),
data offset (4 bits), reserved (4 bits), flags (1), window (2), checksum (2), urgent pointer (2), options, data
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire import ipv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.errors import DecodeError

HEADER_BYTES = 20
SYN, RST, ACK = 0x02, 0x04, 0x10


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment without data; options are left out of one that is read."""

    source_port: int
    destination_port: int
    sequence: int
    acknowledgement: int
    flags: int
    window: int = 0

    def packet(self, source: IPv6Address, destination: IPv6Address, hop_limit: int = 64) -> ipv6.Packet:
        """Return the packet that carries the segment."""
        start = self.source_port.to_bytes(2) + self.destination_port.to_bytes(2)
        start += self.sequence.to_bytes(4) + self.acknowledgement.to_bytes(4)
        start += bytes([HEADER_BYTES // 4 << 4, self.flags]) + self.window.to_bytes(2)
        checksum = upper_layer_checksum(source, destination, ipv6.TCP, start + bytes(4))
        return ipv6.Packet(source, destination, ipv6.TCP, start + checksum.to_bytes(2) + bytes(2), hop_limit)

    @classmethod
    def decode(cls, packet: ipv6.Packet) -> Segment:
        """Read the segment of a packet that is no fragment."""
        upper = packet.upper_layer()
        octets = upper.data
        if upper.number != ipv6.TCP or not upper.is_whole:
            raise DecodeError("the packet carries no whole TCP segment")
        if len(octets) < HEADER_BYTES:
            raise DecodeError(f"a TCP segment has at least {HEADER_BYTES} octets, not {len(octets)}")
        if not HEADER_BYTES <= (octets[12] >> 4) * 4 <= len(octets):
            raise DecodeError("the TCP header is shorter or longer than it can be")
        if upper_layer_checksum(packet.source, packet.destination, ipv6.TCP, octets):
            raise DecodeError("the TCP checksum is wrong")
        return cls(
            source_port=int.from_bytes(octets[:2]),
            destination_port=int.from_bytes(octets[2:4]),
            sequence=int.from_bytes(octets[4:8]),
            acknowledgement=int.from_bytes(octets[8:12]),
            flags=octets[13],
            window=int.from_bytes(octets[14:16]),
        )
