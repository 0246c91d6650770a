"""All associations of an endpoint, found by their names and by what packets bear."""

from __future__ import annotations

import random
from collections.abc import Iterator

from wayname.hip.association import Association, Esp, Names, Transport
from wayname.hip.esp.associations import FIRST_SPI

TAG_BEFORE_SPI_BITS = 15
SPI_BITS = 32


class Associations:
    """Associations by name; numbers that packets bear are given out here, so that no two are the same."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._by_names: dict[Names, Association] = {}
        self._spis: dict[int, Names] = {}

    def __iter__(self) -> Iterator[Association]:
        return iter(list(self._by_names.values()))

    def __len__(self) -> int:
        return len(self._by_names)

    def named(self, names: Names) -> Association | None:
        """Return the association between two hosts."""
        return self._by_names.get(names)

    def keep(self, association: Association) -> None:
        """Take an association up."""
        self._by_names[association.names] = association

    def rename(self, association: Association, before: Names) -> None:
        """An association's peer turned out to be somebody."""
        del self._by_names[before]
        self.keep(association)

    def remove(self, association: Association) -> None:
        """Forget an association, and what its packets bore."""
        self._by_names.pop(association.names, None)
        self.release(association)

    def release(self, association: Association) -> None:
        """Let nobody have the numbers that an association's packets bore."""
        if association.transport is not None:
            self._spis.pop(own_spi(association.transport), None)
        if association.rekeying is not None:
            self._spis.pop(association.rekeying.spi, None)

    def forget_spi(self, spi: int) -> None:
        """Let nobody have an SPI that was given out."""
        self._spis.pop(spi, None)

    def new_spi(self, names: Names) -> int:
        """Give out an SPI."""
        while (spi := self._rng.getrandbits(SPI_BITS)) < FIRST_SPI or spi in self._spis:
            pass
        self._spis[spi] = names
        return spi

    def new_tag(self, names: Names) -> int:
        """Give out a tag: 15 bits that nobody else knows, and an SPI."""
        return self._rng.getrandbits(TAG_BEFORE_SPI_BITS) << SPI_BITS | self.new_spi(names)

    def spi(self, spi: int) -> Association | None:
        """Return the association that an SPI of ours is of."""
        names = self._spis.get(spi)
        return None if names is None else self.named(names)


def own_spi(transport: Transport) -> int:
    """Return the SPI that packets to us bear, or end their tag with."""
    return transport.spi if isinstance(transport, Esp) else transport.tag & (1 << SPI_BITS) - 1
