"""Timers of a manager, by key, and the first of several times."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Generic, TypeVar

# So many entries of a heap may be out of date before it is made anew, and as many as are not.
SPARE = 64

K = TypeVar("K")
Time = TypeVar("Time", bound=float)


def earliest(times: Iterable[Time | None]) -> Time | None:
    """Return the first of the times at which something is due; None is never."""
    return min((at for at in times if at is not None), default=None)


class Timers(Generic[K]):
    """At most one timer a key; setting it anew replaces the old one."""

    def __init__(self) -> None:
        self._at: dict[K, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._order = count()

    def set(self, key: K, at: float) -> None:
        """Let a key be due at a time."""
        entry = (at, next(self._order))
        self._at[key] = entry
        heapq.heappush(self._heap, (*entry, key))
        if len(self._heap) > 2 * len(self._at) + SPARE:
            # What was set anew long before it was due would stay until then.
            self._heap = [(*entry, key) for key, entry in self._at.items()]
            heapq.heapify(self._heap)

    def cancel(self, key: K) -> None:
        """Let a key not be due any more."""
        self._at.pop(key, None)

    def at(self, key: K) -> float | None:
        """Return when a key is due."""
        entry = self._at.get(key)
        return entry and entry[0]

    def next(self) -> float | None:
        """Return when the first key is due."""
        while self._heap and self._at.get(self._heap[0][2]) != self._heap[0][:2]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def due(self, now: float) -> Iterator[K]:
        """Yield the keys that are due, in order; each is gone when it is yielded."""
        while (at := self.next()) is not None and at <= now:
            key = heapq.heappop(self._heap)[2]
            del self._at[key]
            yield key
