"""Things by prefix, looked up by the longest one that an address is in."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network
from typing import Generic, TypeVar

T = TypeVar("T")


class PrefixMap(Generic[T]):
    """A thing at most for each prefix; one that is added again replaces the first."""

    def __init__(self) -> None:
        self._by_length: dict[int, dict[int, T]] = {}
        self._lengths: list[int] = []

    def __len__(self) -> int:
        return sum(map(len, self._by_length.values()))

    def __iter__(self) -> Iterator[tuple[tuple[int, int], T]]:
        """Yield each prefix, as its address and length, with its thing."""
        for length, things in self._by_length.items():
            for bits, thing in things.items():
                yield (bits << (128 - length), length), thing

    def add(self, prefix: IPv6Network, thing: T) -> None:
        """Keep a thing at a prefix."""
        self.put((int(prefix.network_address), prefix.prefixlen), thing)

    def put(self, prefix: tuple[int, int], thing: T) -> None:
        """Keep a thing at a prefix that is given by address and length."""
        address, length = prefix
        if length not in self._by_length:
            self._by_length[length] = {}
            self._lengths = sorted(self._by_length, reverse=True)
        self._by_length[length][_bits(address, length)] = thing

    def get(self, prefix: tuple[int, int]) -> T | None:
        """Return the thing at exactly this prefix."""
        address, length = prefix
        things = self._by_length.get(length)
        return things.get(_bits(address, length)) if things else None

    def drop(self, prefix: tuple[int, int]) -> None:
        """Keep nothing at a prefix any more."""
        address, length = prefix
        del self._by_length[length][_bits(address, length)]

    def with_lengths(self, address: IPv6Address) -> list[tuple[int, T]]:
        """Return what an address is in, the longest prefix first, with the prefixes' lengths."""
        found = ((length, self._by_length[length].get(_bits(int(address), length))) for length in self._lengths)
        return [(length, thing) for length, thing in found if thing is not None]

    def all(self, address: IPv6Address) -> list[T]:
        """Return what an address is in, the longest prefix first."""
        return [thing for _, thing in self.with_lengths(address)]

    def longest(self, address: IPv6Address) -> T | None:
        """Return what stands at the longest prefix that an address is in."""
        return next(iter(self.all(address)), None)


def _bits(address: int, length: int) -> int:
    return address >> (128 - length)
