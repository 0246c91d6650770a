"""Neighbours that are asked for, and who wants them: nobody takes the room that others need.

Somebody who tries all addresses of a prefix makes the router ask for each of them (RFC 6583, section 4). So there is
room for so many in all, because of what came by one port, and because of one source. Where that is full, who was asked
for first goes: it had the most time to answer. What one port or one source fills costs no other anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from wayname.config.model import LinkAddress
from wayname.edge.links import ReceivedPacket
from wayname.wire.mac import Mac

MOST = 512
MOST_BY_PORT = 128
MOST_BY_SOURCE = 32
_PREFIX_BITS = 48


@dataclass(frozen=True, slots=True)
class Asker:
    """Who sent what has to wait: a station, and the /48 of the address behind it."""

    port: int
    mac: Mac
    prefix: int

    @classmethod
    def of(cls, arrival: ReceivedPacket) -> Asker:
        """Return who sent a packet."""
        return cls(arrival.port, arrival.frame.source, int(arrival.packet.source) >> 128 - _PREFIX_BITS)


class Resolutions:
    """The neighbours that are asked for."""

    def __init__(self) -> None:
        self._askers: dict[LinkAddress, Asker | None] = {}
        # In the order in which they were asked for. What the edge itself wants is of no port.
        self._by_port: defaultdict[int | None, dict[LinkAddress, None]] = defaultdict(dict)
        self._by_source: defaultdict[Asker | None, dict[LinkAddress, None]] = defaultdict(dict)
        # By port, how many made room for others before they answered.
        self.given_up: Counter[int | None] = Counter()

    def __len__(self) -> int:
        return len(self._askers)

    def add(self, at: LinkAddress, asker: Asker | None) -> LinkAddress | None:
        """Take note of a neighbour that is asked for; return the one that makes room for it."""
        port = asker.port if asker else None
        loser: LinkAddress | None = None
        if len(self._by_source[asker]) >= MOST_BY_SOURCE:
            loser = next(iter(self._by_source[asker]))
        elif len(self._by_port[port]) >= MOST_BY_PORT:
            loser = next(iter(self._by_port[port]))
        elif len(self._askers) >= MOST:
            fullest = max(self._by_port, key=lambda each: len(self._by_port[each]))
            loser = next(iter(self._by_port[fullest]))
        if loser is not None:
            self.given_up[_port(self._askers[loser])] += 1
            self.remove(loser)
        self._askers[at] = asker
        self._by_port[port][at] = None
        self._by_source[asker][at] = None
        return loser

    def remove(self, at: LinkAddress) -> None:
        """It answered, or nobody waits for it any more."""
        if at not in self._askers:
            return
        asker = self._askers.pop(at)
        del self._by_source[asker][at], self._by_port[_port(asker)][at]
        if not self._by_source[asker]:
            del self._by_source[asker]

    def clear(self) -> list[LinkAddress]:
        """Return all, and forget them."""
        there = list(self._askers)
        self._askers.clear()
        self._by_port.clear()
        self._by_source.clear()
        return there


def _port(asker: Asker | None) -> int | None:
    return asker.port if asker else None
