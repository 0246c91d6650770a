"""Source routes with their addresses compressed (RFC 6554, section 3).

Every address leaves out the octets that it has in common with where the packet is: CmprI of all hops, CmprE of the
destination, which stands last and is any address of the bound prefix.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Network

from wayname.config.encapsulation.model import RplSourceRoute

MOST_MIDDLE = 128  # octets of the addresses between the first and the last
_MOST_LEFT_OUT = 15


@dataclass(frozen=True, slots=True)
class Compressed:
    """What is left out, and the addresses between the first hop and the destination as they are written."""

    left_out: int
    last_left_out: int
    middle: bytes

    @property
    def octets(self) -> int:
        """The size of the routing header, padded to eight octets."""
        return 8 + -(-(len(self.middle) + 16 - self.last_left_out) // 8) * 8


def compress(route: RplSourceRoute, destinations: IPv6Network) -> Compressed:
    """Compress a route to the addresses of a prefix."""
    hops = [hop.packed for hop in route.hops]
    left_out = _common(hops)
    known = destinations.network_address.packed[: destinations.prefixlen // 8]
    last_left_out = min(_common([*hops, known]), len(known))
    return Compressed(left_out, last_left_out, b"".join(hop[left_out:] for hop in hops[1:]))


def _common(addresses: Iterable[bytes]) -> int:
    """Return how many octets addresses begin with in common."""
    for count, octets in enumerate(zip(*addresses, strict=False)):
        if len(set(octets)) > 1 or count == _MOST_LEFT_OUT:
            return count
    return min(_MOST_LEFT_OUT, *(len(address) for address in addresses))
