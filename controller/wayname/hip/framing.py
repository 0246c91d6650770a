"""How parameters stand one behind the other in a HIP packet (RFC 7401, section 5.2.1).

     0                   1                   2                   3
    |             type            |C|             length            |
    | contents, zeros up to a multiple of eight octets ...

The length counts the contents alone. C, the lowest bit of the type, says that the parameter must be understood. Types
never fall from one parameter to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from wayname.hip.errors import MessageError

HEADER_OCTETS = 4
UNIT = 8


class Place(NamedTuple):
    """Where a parameter stands: its type, its first octet, and the end of its contents without the padding."""

    number: int
    at: int
    end: int


def places(octets: bytes, first: int) -> Iterator[Place]:
    """Yield where each parameter is, from an octet on."""
    at, last = first, 0
    while at < len(octets):
        if len(octets) - at < HEADER_OCTETS:
            raise MessageError(f"{len(octets) - at} octets at {at} are too few for a parameter")
        number = int.from_bytes(octets[at : at + 2])
        end = at + HEADER_OCTETS + int.from_bytes(octets[at + 2 : at + 4])
        if end + -(end - at) % UNIT > len(octets):
            raise MessageError(f"parameter {number} ends behind the packet")
        if number < last:
            raise MessageError(f"parameter {number} stands behind {last}")
        yield Place(number, at, end)
        at, last = end + -(end - at) % UNIT, number


def frame(number: int, contents: bytes) -> bytes:
    """Return a parameter as it stands in a packet."""
    octets = number.to_bytes(2) + len(contents).to_bytes(2) + contents
    return octets + bytes(-len(octets) % UNIT)


def is_critical(number: int) -> bool:
    """Tell whether whoever does not understand a parameter must leave the packet alone."""
    return bool(number & 1)
