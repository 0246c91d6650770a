"""Transport checksums under identifiers, and how one changes when addresses do.

ILNP's transports count identifiers only: the locators in the pseudo-header are zero (RFC 6744, section 3), so rewriting
a locator changes nothing. A host that knows nothing of ILNP counts whole addresses: whoever rewrites them for it
adjusts the checksum by the difference (RFC 1624, equation 3). ICMPv6 counts whole addresses in both (RFC 6741,
section 4.3).
"""

from __future__ import annotations

from ipaddress import IPv6Address

from wayname.ilnp.vectors import HALF_MASK
from wayname.wire.checksum import ONES, address_delta, fold, upper_layer_checksum
from wayname.wire.ipv6 import UDP


def identifiers_checksum(source: IPv6Address, destination: IPv6Address, next_header: int, payload: bytes) -> int:
    """Return the checksum of a transport over ILNP."""
    return upper_layer_checksum(_identifier(source), _identifier(destination), next_header, payload)


def identifiers_delta(source: IPv6Address, destination: IPv6Address) -> int:
    """Return what turns a checksum over whole addresses into one over their identifiers."""
    return fold(address_delta(source, _identifier(source)) + address_delta(destination, _identifier(destination)))


def addresses_delta(source: IPv6Address, destination: IPv6Address) -> int:
    """Return what turns a checksum over identifiers into one over whole addresses."""
    return fold(address_delta(_identifier(source), source) + address_delta(_identifier(destination), destination))


def adjust(checksum: int, delta: int, next_header: int) -> int:
    """Return a checksum after a change of its pseudo-header; UDP without one stays without."""
    if next_header == UDP and checksum == 0:
        return 0
    adjusted = ONES - fold((ONES - checksum) + delta)
    # Zero would mean that there is none (RFC 8200, section 8.1).
    return ONES if next_header == UDP and adjusted == 0 else adjusted


def _identifier(address: IPv6Address) -> IPv6Address:
    return IPv6Address(int(address) & HALF_MASK)
