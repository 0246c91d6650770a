"""Whether a context is worth its set-up: small rules, each of which may object.

The switch tells of a pair of addresses when 2 KB or a minute have passed (`pair_active`); these are asked then. A rule
is whatever can be called with a candidate and the time, and returns why not, or None.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

EUI64_AT, EUI64 = slice(11, 13), b"\xff\xfe"
MOST_REMEMBERED = 4096
FORGET_AFTER = 3600.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two addresses that exchange packets, how many contexts there are already, and what the switch saw of the two."""

    local: IPv6Address
    peer: IPv6Address
    contexts: int
    bytes: int = 0
    seconds: float = 0.0
    # A host here began; else the peer did, by TCP.
    opened_here: bool = True


Rule = Callable[[Candidate, float], str | None]


def objection(rules: Sequence[Rule], candidate: Candidate, now: float) -> str | None:
    """Return the first reason not to set up a context."""
    return next((reason for rule in rules if (reason := rule(candidate, now)) is not None), None)


def never_initiate(candidate: Candidate, now: float) -> str | None:
    """A server: its clients begin, or there is no context."""
    return "contexts are left to the peers to begin"


def has_no_eui64(candidate: Candidate, now: float) -> str | None:
    """An identifier made of a MAC address proves nothing, so a host that has one has no Shim6 in all likelihood."""
    if candidate.peer.packed[EUI64_AT] == EUI64:
        return f"{candidate.peer} is made of a MAC address, so that nothing can prove it"
    return None


@dataclass(frozen=True, slots=True)
class ContextLimit:
    """A cap on contexts."""

    contexts: int

    def __call__(self, candidate: Candidate, now: float) -> str | None:
        """Object if there are so many already."""
        return f"there are {candidate.contexts} contexts already" if candidate.contexts >= self.contexts else None


class PeersWithoutShim6:
    """Remembers for an hour which peers turned out to have no Shim6; not more of them than fit."""

    def __init__(self, most: int = MOST_REMEMBERED, forget_after: float = FORGET_AFTER) -> None:
        self._most = most
        self._forget_after = forget_after
        # The one that was added longest ago comes first.
        self._until: OrderedDict[IPv6Address, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._until)

    def add(self, peer: IPv6Address, now: float) -> None:
        """Take note of a peer that did not answer, or said that it has none."""
        self._until.pop(peer, None)
        self._until[peer] = now + self._forget_after
        if len(self._until) > self._most:
            self._until.popitem(last=False)

    def remove(self, peer: IPv6Address) -> None:
        """It has Shim6 after all: it began a context."""
        self._until.pop(peer, None)

    def __call__(self, candidate: Candidate, now: float) -> str | None:
        """Object if the peer is one of them."""
        until = self._until.get(candidate.peer)
        if until is None:
            return None
        if until <= now:
            del self._until[candidate.peer]
            return None
        return f"{candidate.peer} had no Shim6 when it was asked last"
