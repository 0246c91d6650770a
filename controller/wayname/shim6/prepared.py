"""Signed lists of locators made in advance, so that no signature has to be made when a provider fails (LinShim6, 3.4).

What a host tells is the same in I2, R2 and UPDATE, whoever the peer is: one signature for each list. The lists that are
likely next are the present one without one of its locators.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address

from wayname.shim6.context import LocalHost

MOST_LISTS = 32

# Proves and signs locators: `locators.tell` with all but the locators and the generation given.
Tell = Callable[[Sequence[IPv6Address], int], LocalHost]
Locators = tuple[IPv6Address, ...]


class PreparedHost:
    """One host, and what it may have to tell of itself soon; the list that was not used for longest goes first."""

    def __init__(self, tell: Tell, generation: int, most: int = MOST_LISTS) -> None:
        self._tell = tell
        self._generation = generation
        self._most = most
        self._lists: OrderedDict[Locators, LocalHost] = OrderedDict()

    def __len__(self) -> int:
        return len(self._lists)

    def with_locators(self, locators: Sequence[IPv6Address]) -> LocalHost:
        """Return the host with these locators, made just now if it was not made in advance.

        Each list has a generation of its own, so that no peer takes one for another.
        """
        key = tuple(locators)
        host = self._lists.pop(key, None)
        if host is None:
            host = self._tell(key, self._generation)
            self._generation += 1
        self._lists[key] = host
        if len(self._lists) > self._most:
            self._lists.popitem(last=False)
        return host

    def prepare(self, locators: Sequence[IPv6Address]) -> None:
        """Make what is likely after these locators: one of them gone, and the same ones again."""
        present = tuple(locators)
        for gone in present if len(present) > 1 else ():
            self.with_locators([one for one in present if one != gone])
        self.with_locators(present)
