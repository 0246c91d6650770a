"""ICMPv6 messages (RFC 4443).

type (1), code (1), checksum (2), body
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire import ipv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.errors import DecodeError

UNREACHABLE = 1
PACKET_TOO_BIG = 2
TIME_EXCEEDED = 3
PARAMETER_PROBLEM = 4
ECHO_REQUEST = 128
ECHO_REPLY = 129
ROUTER_SOLICITATION = 133
ROUTER_ADVERTISEMENT = 134
NEIGHBOUR_SOLICITATION = 135
NEIGHBOUR_ADVERTISEMENT = 136
REDIRECT = 137

UNREACHABLE_ADDRESS = 3
UNREACHABLE_PORT = 4

# A message about a packet quotes as much of it as fits into the least MTU (section 2.4 c).
QUOTE_BYTES = 1280 - ipv6.HEADER_BYTES - 8


@dataclass(frozen=True, slots=True)
class Message:
    """An ICMPv6 message; the body is what follows the checksum."""

    type: int
    code: int
    body: bytes

    def encode(self, source: IPv6Address, destination: IPv6Address) -> bytes:
        """Return the message's octets with the checksum of a packet between two addresses."""
        blank = bytes([self.type, self.code, 0, 0]) + self.body
        checksum = upper_layer_checksum(source, destination, ipv6.ICMPV6, blank)
        return blank[:2] + checksum.to_bytes(2) + self.body

    def packet(self, source: IPv6Address, destination: IPv6Address, hop_limit: int = 64) -> ipv6.Packet:
        """Return the packet that carries the message."""
        return ipv6.Packet(source, destination, ipv6.ICMPV6, self.encode(source, destination), hop_limit)

    @classmethod
    def decode(cls, packet: ipv6.Packet) -> Message:
        """Read the message of a packet that is no fragment."""
        upper = packet.upper_layer()
        if upper.number != ipv6.ICMPV6 or not upper.is_whole:
            raise DecodeError("the packet carries no whole ICMPv6 message")
        if len(upper.data) < 4:
            raise DecodeError(f"an ICMPv6 message has at least 4 octets, not {len(upper.data)}")
        if upper_layer_checksum(packet.source, packet.destination, ipv6.ICMPV6, upper.data):
            raise DecodeError("the ICMPv6 checksum is wrong")
        return cls(upper.data[0], upper.data[1], upper.data[4:])


def echo_reply(request: Message) -> Message:
    """Return the answer to an echo request: identifier (2), sequence number (2) and data come back as they are."""
    if request.type != ECHO_REQUEST or request.code != 0 or len(request.body) < 4:
        raise DecodeError("no valid echo request")
    return Message(ECHO_REPLY, 0, request.body)


def unreachable(code: int, quoted: bytes) -> Message:
    """Return "destination unreachable" about a packet: unused (4), as much of the packet as may be."""
    return Message(UNREACHABLE, code, bytes(4) + quoted[:QUOTE_BYTES])


def parameter_problem(pointer: int, quoted: bytes) -> Message:
    """Return "erroneous header field" about a packet: pointer (4) to the octet, as much of the packet as may be."""
    return Message(PARAMETER_PROBLEM, 0, pointer.to_bytes(4) + quoted[:QUOTE_BYTES])


def may_be_reported(packet: ipv6.Packet) -> bool:
    """Whether an error about a packet may be sent to its source (RFC 4443, section 2.4 e)."""
    if packet.source.is_multicast or packet.source.is_unspecified or packet.destination.is_multicast:
        return False
    try:
        upper = packet.upper_layer()
    except DecodeError:
        return False
    if upper.number != ipv6.ICMPV6:
        return True
    # A later fragment, or nothing at all, may be an error as well.
    return not upper.fragment_offset and bool(upper.data) and upper.data[0] >= 128 and upper.data[0] != REDIRECT
