"""Host identity tags (RFC 7343): which addresses they are, and of which suite (RFC 7401, section 5.2.10)."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from ipaddress import IPv6Address, IPv6Network

HITS = IPv6Network("2001:20::/28")


class UnknownHitError(ValueError):
    """An address that is no HIT, or one of a suite that is not known here."""


class HitSuite(IntEnum):
    """The suites by their numbers."""

    RSA_DSA_SHA256 = 1
    ECDSA_SHA384 = 2
    ECDSA_LOW_SHA1 = 3
    EDDSA_CSHAKE128 = 5


class Point(StrEnum):
    """How a point of ECDSA is written in HOST_ID: x and y, or as SEC 1 has it, with an octet 4 before them."""

    XY = "xy"
    SEC1 = "sec1"


def suite_number(hit: IPv6Address) -> int:
    """Return the number of the suite that a HIT is of, known or not."""
    return int(hit) >> 96 & 0xF


def hit_suite(hit: IPv6Address) -> HitSuite:
    """Return the suite that a HIT is of."""
    number = suite_number(hit)
    if hit not in HITS:
        raise UnknownHitError(f"{hit} is no HIT: it is not in {HITS}")
    if number not in tuple(HitSuite):
        raise UnknownHitError(f"HIT suite {number} of {hit} is not known here")
    return HitSuite(number)
