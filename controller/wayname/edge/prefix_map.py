"""Things by prefix, looked up by the longest one that an address is in."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from typing import Generic, TypeVar

T = TypeVar("T")


class PrefixMap(Generic[T]):
    """A thing at most for each prefix; one that is added again replaces the first."""

    def __init__(self) -> None:
        self._by_length: dict[int, dict[int, T]] = {}
        self._lengths: list[int] = []

    def add(self, prefix: IPv6Network, thing: T) -> None:
        """Keep a thing at a prefix."""
        if prefix.prefixlen not in self._by_length:
            self._by_length[prefix.prefixlen] = {}
            self._lengths = sorted(self._by_length, reverse=True)
        self._by_length[prefix.prefixlen][_bits(int(prefix.network_address), prefix.prefixlen)] = thing

    def all(self, address: IPv6Address) -> list[T]:
        """Return what an address is in, the longest prefix first."""
        found = (self._by_length[length].get(_bits(int(address), length)) for length in self._lengths)
        return [thing for thing in found if thing is not None]

    def longest(self, address: IPv6Address) -> T | None:
        """Return what stands at the longest prefix that an address is in."""
        return next(iter(self.all(address)), None)


def _bits(address: int, length: int) -> int:
    return address >> (128 - length)
