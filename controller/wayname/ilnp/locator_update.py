"""Locator Update, ICMPv6 type 156 (RFC 6743, section 2), to a body and back.

 0                   1                   2                   3
|  number of locators  | operation     |  reserved             |
|  locator (8 octets)                                          |
|  preference (2)               |  lifetime (2)                |  ... and so on for each

The acknowledgement repeats the advertisement. The packet bears the nonce option; without it the message is a forgery.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from wayname.ilnp.errors import MessageError
from wayname.ilnp.vectors import HALF_OCTETS, L64, half_text, is_routable

LOCATOR_UPDATE = 156
FIXED_OCTETS = 4
LISTED_OCTETS = HALF_OCTETS + 4
MOST_LISTED = 255
MOST_WORD = 0xFFFF


class Operation(IntEnum):
    """What a Locator Update is."""

    ADVERTISEMENT = 1
    ACKNOWLEDGEMENT = 2


@dataclass(frozen=True, slots=True)
class Listed:
    """A locator as it is told: lower preference goes first, and it holds for so many seconds."""

    locator: L64
    preference: int
    lifetime: int


@dataclass(frozen=True, slots=True)
class LocatorUpdate:
    """All locators of a node, or the answer that they were understood."""

    operation: Operation
    listed: tuple[Listed, ...]

    def encode(self) -> bytes:
        """Return what follows the checksum."""
        if not 1 <= len(self.listed) <= MOST_LISTED:
            raise MessageError(f"a Locator Update lists 1 to {MOST_LISTED} locators, not {len(self.listed)}")
        octets = bytes([len(self.listed), self.operation, 0, 0])
        for one in self.listed:
            if not (0 <= one.preference <= MOST_WORD and 0 <= one.lifetime <= MOST_WORD):
                raise MessageError(f"preference {one.preference} or lifetime {one.lifetime} does not fit in 16 bits")
            octets += one.locator.to_bytes(HALF_OCTETS) + one.preference.to_bytes(2) + one.lifetime.to_bytes(2)
        return octets

    @classmethod
    def decode(cls, code: int, body: bytes) -> LocatorUpdate:
        """Read what follows the checksum; what is behind the last locator is ignored."""
        if code != 0:
            raise MessageError(f"a Locator Update with code {code}; only 0 is known")
        if len(body) < FIXED_OCTETS:
            raise MessageError(f"a Locator Update of {len(body)} octets is too short")
        count = body[0]
        if count == 0:
            raise MessageError("a Locator Update without a locator")
        if len(body) < FIXED_OCTETS + count * LISTED_OCTETS:
            raise MessageError(f"a Locator Update of {len(body)} octets does not hold {count} locators")
        try:
            operation = Operation(body[1])
        except ValueError:
            raise MessageError(f"a Locator Update has no operation {body[1]}") from None
        listed = tuple(_listed(body, FIXED_OCTETS + index * LISTED_OCTETS) for index in range(count))
        seen: set[L64] = set()
        for one in listed:
            if one.locator in seen:
                raise MessageError(f"locator {half_text(one.locator)} is listed twice")
            if not is_routable(one.locator):
                raise MessageError(f"{half_text(one.locator)} is no locator that packets could go to")
            seen.add(one.locator)
        return cls(operation, listed)


def _listed(body: bytes, at: int) -> Listed:
    locator = L64(int.from_bytes(body[at : at + HALF_OCTETS]))
    return Listed(locator, int.from_bytes(body[at + 8 : at + 10]), int.from_bytes(body[at + 10 : at + 12]))
