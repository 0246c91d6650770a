"""Which addresses have sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address
from math import inf

# Seconds for which what was found is taken to hold: it is looked through all sessions.
HOLDS = 1.0


class SessionHosts:
    """Looks addresses up in what `all_of_them` yields, at most once a second."""

    def __init__(self, all_of_them: Callable[[], Iterable[IPv6Address]]) -> None:
        self._all_of_them = all_of_them
        self._found: frozenset[IPv6Address] = frozenset()
        self._at = -inf

    def has(self, address: IPv6Address, now: float) -> bool:
        """Whether an address has a session."""
        if now >= self._at + HOLDS:
            self._found, self._at = frozenset(self._all_of_them()), now
        return address in self._found
