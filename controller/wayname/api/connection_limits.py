"""Places for connections: so many in all and of one peer, and who has to leave when they are taken.

A connection that asks nothing (one that is silent, sends its request octet by octet, or has its answer) gives way to
who comes; the one that has been at that for longest goes first. One that is being answered stays. So whoever holds
thousands of connections holds none for long, and whoever asks at once is answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Protocol


class LimitedConnection(Protocol):
    """What has a place."""

    def give_way(self) -> None:
        """End at once."""


class ConnectionLimits:
    """Who is connected."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.most_of_one = max(1, most // 4)
        self._peers: dict[LimitedConnection, Hashable] = {}
        self._taken: Counter[Hashable] = Counter()
        # In the order in which they began to wait.
        self._waiting: dict[LimitedConnection, None] = {}

    def __len__(self) -> int:
        return len(self._peers)

    def make_room(self, peer: Hashable) -> tuple[bool, bool]:
        """Return whether a peer may take one more place, and whether another connection had to leave for that."""
        if self._taken[peer] >= self.most_of_one:
            leaving = next((each for each in self._waiting if self._peers[each] == peer), None)
        elif len(self) >= self.most:
            leaving = next(iter(self._waiting), None)
        else:
            return True, False
        if leaving is None:
            return False, False
        self.leave(leaving)
        leaving.give_way()
        return True, True

    def take(self, holder: LimitedConnection, peer: Hashable) -> None:
        """Give a place to who waits for a request."""
        self._peers[holder] = peer
        self._taken[peer] += 1
        self._waiting[holder] = None

    def wait(self, holder: LimitedConnection) -> None:
        """Note that a connection waits for a request from now on."""
        self._waiting.pop(holder, None)
        if holder in self._peers:
            self._waiting[holder] = None

    def serve(self, holder: LimitedConnection) -> None:
        """Note that a connection is being answered."""
        self._waiting.pop(holder, None)

    def leave(self, holder: LimitedConnection) -> None:
        """Free a connection's place; it may be free already."""
        self._waiting.pop(holder, None)
        if holder not in self._peers:
            return
        peer = self._peers.pop(holder)
        self._taken[peer] -= 1
        if not self._taken[peer]:
            del self._taken[peer]
