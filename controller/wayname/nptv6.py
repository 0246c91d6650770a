"""Checksum-neutral mapping of a prefix to another (RFC 6296), for peers that speak nothing.

The prefix is overwritten, and a 16-bit word of the rest takes up the difference, so that every checksum over the
address stays right. The word is the subnet (bits 48 to 63) for prefixes of up to 48 bits, else the first of the
interface identifier that is not 0xFFFF.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network

ONES = 0xFFFF
WORD_BITS = 16
SUBNET_PREFIX = 48
MOST_PREFIX = 64
SUBNET_WORD = 3
IDENTIFIER_WORDS = range(4, 8)


class UnmappableError(ValueError):
    """An address that has no counterpart; the text says why."""


@dataclass(frozen=True, slots=True)
class PrefixMapping:
    """A prefix inside the site and the one that a provider gave it."""

    inside: IPv6Network
    outside: IPv6Network

    def __post_init__(self) -> None:
        if self.bits > MOST_PREFIX:
            raise ValueError(f"{self.inside} to {self.outside}: a prefix to map has at most {MOST_PREFIX} bits")

    @property
    def bits(self) -> int:
        """How many bits are overwritten; the shorter prefix is filled with zeros (section 3.1)."""
        return max(self.inside.prefixlen, self.outside.prefixlen)

    @property
    def adjustment(self) -> int:
        """What the word takes up on the way out (section 3.6)."""
        return _sum(_sum_of(self.inside) + ONES - _sum_of(self.outside))

    def out(self, address: IPv6Address) -> IPv6Address:
        """Map an address of the site to the provider's."""
        return self._map(address, self.inside, self.outside, self.adjustment)

    def back(self, address: IPv6Address) -> IPv6Address:
        """Map a provider's address to the site's."""
        return self._map(address, self.outside, self.inside, ONES - self.adjustment)

    def _map(self, address: IPv6Address, old: IPv6Network, new: IPv6Network, adjustment: int) -> IPv6Address:
        rest_bits = 128 - self.bits
        value = int(address)
        if value >> rest_bits != int(old.network_address) >> rest_bits:
            raise UnmappableError(f"{address} is not in {old}, of which {self.bits} bits are mapped")
        words = _words(int(new.network_address) | value & (1 << rest_bits) - 1)
        at = self._word(words, address)
        words[at] = _sum(words[at] + adjustment) % ONES
        mapped = 0
        for word in words:
            mapped = mapped << WORD_BITS | word
        return IPv6Address(mapped)

    def _word(self, words: list[int], address: IPv6Address) -> int:
        """Return which word takes up the difference (sections 3.4 and 3.5)."""
        if self.bits <= SUBNET_PREFIX:
            if words[SUBNET_WORD] == ONES:
                raise UnmappableError(f"{address}: subnet 0xFFFF has no counterpart")
            return SUBNET_WORD
        if not any(words[at] for at in IDENTIFIER_WORDS):
            raise UnmappableError(f"{address}: an interface identifier of zeros has no counterpart")
        for at in IDENTIFIER_WORDS:
            if words[at] != ONES:
                return at
        raise UnmappableError(f"{address}: an interface identifier of ones has no counterpart")


def _words(value: int) -> list[int]:
    return [value >> shift & ONES for shift in range(128 - WORD_BITS, -1, -WORD_BITS)]


def _sum_of(network: IPv6Network) -> int:
    return _sum(sum(_words(int(network.network_address))))


def _sum(total: int) -> int:
    """Add the carries of a sum of words."""
    while total > ONES:
        total = (total & ONES) + (total >> WORD_BITS)
    return total
