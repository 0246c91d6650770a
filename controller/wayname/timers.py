"""Timers of a manager, by key, and the first of several times."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

# So many entries of a heap may be out of date before it is made anew, and as many as are not.
SPARE = 64

K = TypeVar("K")
Time = TypeVar("Time", bound=float)


def earliest(times: Iterable[Time | None]) -> Time | None:
    """Return the first of the times at which something is due; None is never."""
    first = None
    for at in times:
        if at is not None and (first is None or at < first):
            first = at
    return first


class Timed(Protocol):
    """A manager with timers."""

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due, so late: answers may be there that nobody looked at yet."""


class Timers(Generic[K]):
    """At most one timer a key; setting it anew replaces the old one."""

    def __init__(self) -> None:
        # By key, and in a heap, the same lists: when, in which order they were set, the key, whether it counts still.
        # So nobody hashes keys to look through the heap.
        self._at: dict[K, list[Any]] = {}
        self._heap: list[list[Any]] = []
        self._order = count()

    def set(self, key: K, at: float) -> None:
        """Let a key be due at a time."""
        self.cancel(key)
        timer = self._at[key] = [at, next(self._order), key, True]
        heapq.heappush(self._heap, timer)
        if len(self._heap) > 2 * len(self._at) + SPARE:
            # What was set anew long before it was due would stay until then.
            self._heap = list(self._at.values())
            heapq.heapify(self._heap)

    def cancel(self, key: K) -> None:
        """Let a key not be due any more."""
        timer = self._at.pop(key, None)
        if timer is not None:
            timer[3] = False

    def at(self, key: K) -> float | None:
        """Return when a key is due."""
        timer = self._at.get(key)
        return None if timer is None else timer[0]

    def next(self) -> float | None:
        """Return when the first key is due."""
        heap = self._heap
        while heap and not heap[0][3]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: float) -> Iterator[K]:
        """Yield the keys that are due, in order; each is gone when it is yielded."""
        while (at := self.next()) is not None and at <= now:
            key = heapq.heappop(self._heap)[2]
            del self._at[key]
            yield key
