"""IPv6 packets (RFC 8200), and the way through their extension headers to the upper layer.

version (4 bits), traffic class (8 bits), flow label (20 bits),
payload length (2), next header (1), hop limit (1), source (16), destination (16), payload
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address
from socket import AF_INET6, inet_ntop

from wayname.wire.errors import DecodeError

HEADER_BYTES = 40
MOST_EXTENSIONS = 10  # as many as the pipeline walks

HOP_BY_HOP = 0
TCP = 6
UDP = 17
ROUTING = 43
FRAGMENT = 44
AUTHENTICATION = 51
ICMPV6 = 58
SCTP = 132
DESTINATION_OPTIONS = 60
MOBILITY = 135
HIP = 139
SHIM6 = 140
EXTENSIONS = frozenset({HOP_BY_HOP, ROUTING, FRAGMENT, AUTHENTICATION, DESTINATION_OPTIONS, MOBILITY, HIP, SHIM6})


def address_text(address: IPv6Address) -> str:
    """Return an address as RFC 5952 writes it: `str` does too, but takes ten times as long, and sessions write many."""
    return inet_ntop(AF_INET6, address.packed)


@dataclass(frozen=True, slots=True)
class UpperLayer:
    """What a packet carries behind its extension headers."""

    number: int
    data: bytes
    fragment_offset: int | None = None
    more_fragments: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it is not a part of something longer; an atomic fragment is whole (RFC 6946)."""
        return not self.fragment_offset and not self.more_fragments


@dataclass(frozen=True, slots=True)
class Packet:
    """An IPv6 packet; the payload begins with the extension headers, if there are any."""

    source: IPv6Address
    destination: IPv6Address
    next_header: int
    payload: bytes
    hop_limit: int = 64
    traffic_class: int = 0
    flow_label: int = 0

    def encode(self) -> bytes:
        """Return the packet's octets."""
        first = (6 << 28 | self.traffic_class << 20 | self.flow_label).to_bytes(4)
        rest = len(self.payload).to_bytes(2) + bytes([self.next_header, self.hop_limit])
        return first + rest + self.source.packed + self.destination.packed + self.payload

    @classmethod
    def decode(cls, octets: bytes) -> Packet:
        """Read a packet; what Ethernet padded behind it is left out."""
        if len(octets) < HEADER_BYTES:
            raise DecodeError(f"an IPv6 packet has at least {HEADER_BYTES} octets, not {len(octets)}")
        first = int.from_bytes(octets[:4])
        if first >> 28 != 6:
            raise DecodeError(f"IP version {first >> 28}, not 6")
        length = int.from_bytes(octets[4:6])
        if HEADER_BYTES + length > len(octets):
            raise DecodeError(f"a payload of {length} octets, of which {len(octets) - HEADER_BYTES} are there")
        return cls(
            source=IPv6Address(octets[8:24]),
            destination=IPv6Address(octets[24:40]),
            next_header=octets[6],
            payload=octets[HEADER_BYTES : HEADER_BYTES + length],
            hop_limit=octets[7],
            traffic_class=first >> 20 & 0xFF,
            flow_label=first & 0xFFFFF,
        )

    def upper_layer(self, skipped: frozenset[int] = EXTENSIONS) -> UpperLayer:
        """Walk the extension headers; behind a later fragment's header nothing is known but its number."""
        number, at, offset, more = self.next_header, 0, None, False
        for _ in range(MOST_EXTENSIONS + 1):
            if number not in skipped or offset:
                return UpperLayer(number, self.payload[at:], offset, more)
            header = self.payload[at : at + 8]
            if len(header) < 8:
                raise DecodeError(f"the packet ends inside extension header {number}")
            size = _extension_bytes(number, header[1])
            if at + size > len(self.payload):
                raise DecodeError(f"extension header {number} is longer than what is left")
            if number == FRAGMENT:
                word = int.from_bytes(header[2:4])
                offset, more = word >> 3, bool(word & 1)
            number, at = header[0], at + size
        raise DecodeError(f"more than {MOST_EXTENSIONS} extension headers")


def _extension_bytes(number: int, length: int) -> int:
    """Return the size of an extension header by its length octet, which counts differently by kind."""
    if number == FRAGMENT:
        return 8
    if number == AUTHENTICATION:
        return (length + 2) * 4  # RFC 4302, section 2.2
    return (length + 1) * 8
