"""Identifiers and locators, and the two together as an IPv6 address (RFC 6741, section 3.1).

locator L64 (64 bits), node identifier NID (64 bits)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import NewType

NID = NewType("NID", int)
L64 = NewType("L64", int)

HALF_BITS = 64
HALF_MASK = (1 << HALF_BITS) - 1
HALF_OCTETS = 8
# What no packet from elsewhere comes from: unspecified or IPv4 mapped, link-local, multicast (RFC 4291, section 2.4).
UNROUTABLE = ((0x0000_0000_0000_0000, 64), (0xFE80_0000_0000_0000, 10), (0xFF00_0000_0000_0000, 8))

_HALF = re.compile(r"[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){3}")


@dataclass(frozen=True, slots=True, order=True)
class Vector:
    """An identifier at a locator: an I-LV (RFC 6740, section 3.3)."""

    locator: L64
    nid: NID

    @classmethod
    def of(cls, address: IPv6Address) -> Vector:
        """Split an address."""
        return cls(L64(int(address) >> HALF_BITS), NID(int(address) & HALF_MASK))

    @property
    def address(self) -> IPv6Address:
        """What stands in a packet's header."""
        return IPv6Address(self.locator << HALF_BITS | self.nid)

    def __str__(self) -> str:
        return str(self.address)


def half_text(half: NID | L64) -> str:
    """Tell an identifier or a locator as RFC 6742 writes it: four groups, never shortened."""
    digits = f"{half:016x}"
    return ":".join(digits[at : at + 4] for at in range(0, 16, 4))


def read_half(text: str) -> int:
    """Read an identifier or a locator as RFC 6742 writes it."""
    if _HALF.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no identifier or locator: write four groups of up to four hexadecimal digits")
    value = 0
    for group in text.split(":"):
        value = value << 16 | int(group, 16)
    return value


def is_routable(locator: L64) -> bool:
    """Tell whether packets can come from a locator and go to it over the Internet."""
    return not any(locator >> (HALF_BITS - bits) == prefix >> (HALF_BITS - bits) for prefix, bits in UNROUTABLE)
