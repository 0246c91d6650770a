"""VRRPv3 for IPv6 (RFC 9568, section 5): who has a virtual router.

version 3 (4 bits), type 1 (4 bits), virtual router (1), priority (1), number of addresses (1),
reserved (4 bits), interval in hundredths of a second (12 bits), checksum (2), addresses (16 each)
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire import ipv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.errors import DecodeError
from wayname.wire.mac import Mac

VRRP = 112
ROUTERS = IPv6Address("ff02::12")
HOP_LIMIT = 255
# The priority of who lets go; and of who has the addresses as its own, which no edge does.
RELEASED = 0
OWNER = 255
MOST_INTERVAL = 0xFFF
CENTISECOND = 0.01
_VERSION, _ADVERTISEMENT = 3, 1
_HEADER_OCTETS, _ADDRESS_OCTETS = 8, 16
_MAC = 0x00005E000200


def virtual_mac(router: int) -> Mac:
    """Return the MAC of a virtual router: 00-00-5E-00-02 and its number (section 7.3)."""
    return Mac(_MAC | router)


@dataclass(frozen=True, slots=True)
class VrrpAdvertisement:
    """That a virtual router is served, how well, how often that is said, and which addresses it has."""

    router: int
    priority: int
    interval: int
    addresses: tuple[IPv6Address, ...]

    def packet(self, source: IPv6Address) -> ipv6.Packet:
        """Return the packet that says so, from the router's own link-local address (section 5.1.2.1)."""
        addresses = b"".join(address.packed for address in self.addresses)
        first = bytes([_VERSION << 4 | _ADVERTISEMENT, self.router, self.priority, len(self.addresses)])
        first += self.interval.to_bytes(2)
        checksum = upper_layer_checksum(source, ROUTERS, VRRP, first + bytes(2) + addresses)
        return ipv6.Packet(source, ROUTERS, VRRP, first + checksum.to_bytes(2) + addresses, HOP_LIMIT)

    @classmethod
    def decode(cls, packet: ipv6.Packet) -> VrrpAdvertisement:
        """Read a packet's advertisement, as section 7.1 checks it."""
        octets = packet.payload
        if packet.next_header != VRRP or packet.destination != ROUTERS or not packet.source.is_link_local:
            raise DecodeError("no VRRP from a neighbour to all virtual routers")
        if packet.hop_limit != HOP_LIMIT:
            raise DecodeError(f"VRRP with hop limit {packet.hop_limit}: it comes from another link")
        if len(octets) < _HEADER_OCTETS:
            raise DecodeError(f"VRRP has at least {_HEADER_OCTETS} octets, not {len(octets)}")
        if octets[0] != _VERSION << 4 | _ADVERTISEMENT:
            raise DecodeError(f"VRRP of version {octets[0] >> 4} and type {octets[0] & 0xF}")
        count = octets[3]
        if not count or len(octets) != _HEADER_OCTETS + count * _ADDRESS_OCTETS:
            raise DecodeError(f"VRRP with {count} addresses in {len(octets)} octets")
        if upper_layer_checksum(packet.source, packet.destination, VRRP, octets):
            raise DecodeError("the VRRP checksum is wrong")
        starts = range(_HEADER_OCTETS, len(octets), _ADDRESS_OCTETS)
        addresses = tuple(IPv6Address(octets[at : at + _ADDRESS_OCTETS]) for at in starts)
        return cls(octets[1], octets[2], int.from_bytes(octets[4:6]) & MOST_INTERVAL, addresses)
