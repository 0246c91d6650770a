"""The locators of a host (RFC 8046, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv6Address
from typing import ClassVar, Self

from wayname.hip.errors import MessageError
from wayname.hip.parameters import Reader

HEADER_OCTETS = 8
ADDRESS_OCTETS = 16
SPI_OCTETS = 4
FOR_EVER = (1 << 32) - 1


class TrafficType(IntEnum):
    """What a locator is for."""

    BOTH = 0
    SIGNALLING = 1
    DATA = 2


class LocatorType(IntEnum):
    """What stands in a locator."""

    ADDRESS = 0
    SPI_AND_ADDRESS = 1


@dataclass(frozen=True, slots=True)
class Locator:
    """An address of a host, with the SPI that goes with it if it is one of ESP.

    | traffic type (8 bits) | locator type (8) | length in words (8) | reserved (7) | preferred (1) |
    | lifetime in seconds (32) |
    | SPI (32, locator type 1 only) | address (128) |
    """

    address: IPv6Address
    spi: int | None = None
    lifetime: int = FOR_EVER
    preferred: bool = False
    traffic: int = TrafficType.BOTH

    def encode(self) -> bytes:
        """Return the octets of the locator."""
        kind = LocatorType.ADDRESS if self.spi is None else LocatorType.SPI_AND_ADDRESS
        locator = (b"" if self.spi is None else self.spi.to_bytes(SPI_OCTETS)) + self.address.packed
        head = bytes([self.traffic, kind, len(locator) // 4, self.preferred])
        return head + self.lifetime.to_bytes(4) + locator


@dataclass(frozen=True, slots=True)
class UnknownLocator:
    """A locator of a type that is not known here."""

    kind: int
    preferred: bool
    octets: bytes

    def encode(self) -> bytes:
        """Return the octets of the locator."""
        return self.octets


@dataclass(frozen=True, slots=True)
class LocatorSet:
    """All locators of the sender; none of them is all that deprecates all."""

    number: ClassVar[int] = 193
    locators: tuple[Locator | UnknownLocator, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return b"".join(locator.encode() for locator in self.locators)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        locators: list[Locator | UnknownLocator] = []
        at = 0
        while at < len(contents):
            if len(contents) - at < HEADER_OCTETS:
                raise MessageError(f"{len(contents) - at} octets are too few for a locator")
            end = at + HEADER_OCTETS + 4 * contents[at + 2]
            if end > len(contents):
                raise MessageError(f"a locator ends {end - len(contents)} octets behind its LOCATOR_SET")
            locators.append(_read(contents[at:end]))
            at = end
        return cls(tuple(locators))


def _read(octets: bytes) -> Locator | UnknownLocator:
    traffic, kind, preferred, locator = octets[0], octets[1], bool(octets[3] & 1), octets[HEADER_OCTETS:]
    if kind not in tuple(LocatorType):
        return UnknownLocator(kind, preferred, octets)
    before = SPI_OCTETS if kind == LocatorType.SPI_AND_ADDRESS else 0
    if len(locator) != before + ADDRESS_OCTETS:
        raise MessageError(f"a locator of type {kind} has {before + ADDRESS_OCTETS} octets, not {len(locator)}")
    lifetime = int.from_bytes(octets[4:8])
    if lifetime == 0:
        raise MessageError("a locator without a lifetime")
    spi = int.from_bytes(locator[:before]) if before else None
    return Locator(IPv6Address(locator[before:]), spi, lifetime, preferred, traffic)


READERS: dict[int, Reader] = {LocatorSet.number: LocatorSet.of}
