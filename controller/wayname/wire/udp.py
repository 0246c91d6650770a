"""UDP datagrams over IPv6 (RFC 768; RFC 8200, section 8.1).

source port (2), destination port (2), length (2), checksum (2), data
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire import ipv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.errors import DecodeError

HEADER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Datagram:
    """A UDP datagram."""

    source_port: int
    destination_port: int
    data: bytes

    def packet(self, source: IPv6Address, destination: IPv6Address, hop_limit: int = 64) -> ipv6.Packet:
        """Return the packet that carries the datagram."""
        ports = self.source_port.to_bytes(2) + self.destination_port.to_bytes(2)
        start = ports + (HEADER_BYTES + len(self.data)).to_bytes(2)
        checksum = upper_layer_checksum(source, destination, ipv6.UDP, start + bytes(2) + self.data)
        # Over IPv6 a checksum of 0 would say that there is none.
        octets = start + (checksum or 0xFFFF).to_bytes(2) + self.data
        return ipv6.Packet(source, destination, ipv6.UDP, octets, hop_limit)

    @classmethod
    def decode(cls, packet: ipv6.Packet) -> Datagram:
        """Read the datagram of a packet that is no fragment."""
        upper = packet.upper_layer()
        if upper.number != ipv6.UDP or not upper.is_whole:
            raise DecodeError("the packet carries no whole UDP datagram")
        if len(upper.data) < HEADER_BYTES:
            raise DecodeError(f"a UDP datagram has at least {HEADER_BYTES} octets, not {len(upper.data)}")
        length = int.from_bytes(upper.data[4:6])
        if not HEADER_BYTES <= length <= len(upper.data):
            raise DecodeError(f"a UDP length of {length}, where {len(upper.data)} octets are")
        octets = upper.data[:length]
        if octets[6:8] == bytes(2):
            raise DecodeError("a UDP datagram over IPv6 without a checksum")
        if upper_layer_checksum(packet.source, packet.destination, ipv6.UDP, octets):
            raise DecodeError("the UDP checksum is wrong")
        return cls(int.from_bytes(octets[:2]), int.from_bytes(octets[2:4]), octets[HEADER_BYTES:])
