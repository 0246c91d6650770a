"""Source routes of RPL (RFC 6554, section 3).

next header (1), length (1), routing type 3 (1), segments left (1), CmprI, CmprE, pad (4 bits each), reserved (20 bits),
addresses without what they share with the packet's destination: the first CmprI octets, of the last one CmprE; pad
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire import ipv6
from wayname.wire.errors import DecodeError

ROUTING_SOURCE_ROUTE = 3
_FIXED_OCTETS = 8
_BEFORE_ROUTING = ipv6.EXTENSIONS - {ipv6.ROUTING}


@dataclass(frozen=True, slots=True)
class SourceRouteHeader:
    """The addresses of a packet's route, in the order in which it visits them."""

    segments_left: int
    addresses: tuple[IPv6Address, ...]

    @property
    def next_address(self) -> IPv6Address | None:
        """Where the packet goes when it is where it was to go."""
        return self.addresses[len(self.addresses) - self.segments_left] if self.segments_left else None

    @classmethod
    def find(cls, packet: ipv6.Packet) -> SourceRouteHeader | None:
        """Read the packet's first routing header, if it is a source route."""
        routing = packet.upper_layer(_BEFORE_ROUTING)
        if routing.number != ipv6.ROUTING or routing.data[2:3] != bytes([ROUTING_SOURCE_ROUTE]):
            return None
        if len(routing.data) < _FIXED_OCTETS:
            raise DecodeError(f"a source route of {len(routing.data)} octets")
        left, left_out, last_left_out = routing.data[3], routing.data[4] >> 4, routing.data[4] & 0xF
        end = _FIXED_OCTETS + routing.data[1] * 8 - (routing.data[5] >> 4)
        last_at = end - (16 - last_left_out)
        count = (last_at - _FIXED_OCTETS) // (16 - left_out) + 1
        if last_at < _FIXED_OCTETS or end > len(routing.data) or left > count:
            raise DecodeError(f"{left} addresses left of a source route in {len(routing.data)} octets")
        shared = packet.destination.packed
        starts = range(_FIXED_OCTETS, last_at - (16 - left_out) + 1, 16 - left_out)
        others = [shared[:left_out] + routing.data[at : at + 16 - left_out] for at in starts]
        last = shared[:last_left_out] + routing.data[last_at:end]
        return cls(left, tuple(map(IPv6Address, (*others, last))))
