"""Packets that guests and attackers make by hand."""

from __future__ import annotations

import struct
from ipaddress import IPv6Address

from wayname.ilnp.checksums import identifiers_checksum
from wayname.ilnp.nonce import with_nonce
from wayname.wire import icmpv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import TCP, UDP, Packet

SYN, RST, ACK = 2, 4, 16
FLAGS_AT = 13
WINDOW = 65535

Ports = tuple[int, int]


def segment(source: IPv6Address, destination: IPv6Address, ports: Ports, flags: int, sequence: int = 0) -> Packet:
    """Return a segment of TCP without data."""
    octets = _segment(ports, flags, sequence)
    checksum = upper_layer_checksum(source, destination, TCP, octets)
    return Packet(source, destination, TCP, octets[:16] + checksum.to_bytes(2) + octets[18:])


def segment_of_ilnp(
    source: IPv6Address, destination: IPv6Address, ports: Ports, flags: int, nonce: bytes, sequence: int = 0
) -> Packet:
    """Return a segment with a nonce; its checksum counts identifiers alone."""
    octets = _segment(ports, flags, sequence)
    checksum = identifiers_checksum(source, destination, TCP, octets)
    return with_nonce(Packet(source, destination, TCP, octets[:16] + checksum.to_bytes(2) + octets[18:]), nonce)


def flags_of(packet: Packet) -> int:
    """Return the flags of a segment; of anything else none."""
    try:
        upper = packet.upper_layer()
    except DecodeError:
        return 0
    return upper.data[FLAGS_AT] if upper.number == TCP and len(upper.data) > FLAGS_AT else 0


def datagram(source: IPv6Address, destination: IPv6Address, ports: Ports, data: bytes) -> Packet:
    """Return a UDP datagram."""
    octets = struct.pack("!HHHH", *ports, 8 + len(data), 0) + data
    checksum = upper_layer_checksum(source, destination, UDP, octets) or 0xFFFF
    return Packet(source, destination, UDP, octets[:6] + checksum.to_bytes(2) + octets[8:])


def echo_request(source: IPv6Address, destination: IPv6Address, identifier: int = 1, data: bytes = bytes(8)) -> Packet:
    """Return an echo request."""
    return icmpv6.Message(icmpv6.ECHO_REQUEST, 0, identifier.to_bytes(2) + bytes(2) + data).packet(source, destination)


def _segment(ports: Ports, flags: int, sequence: int) -> bytes:
    return struct.pack("!HHIIBBHHH", *ports, sequence, 0, 5 << 4, flags, WINDOW, 0, 0)
