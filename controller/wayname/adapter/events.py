"""The last events, numbered, for those who ask later or wait for the next."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime

from wayname.edge.boundary import Event


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event, its number from 1 on, and when it was by the wall clock."""

    sequence: int
    at: datetime
    event: Event


class EventRing:
    """Keeps so many events; older ones are forgotten."""

    def __init__(self, size: int) -> None:
        self._events: deque[RecordedEvent] = deque(maxlen=size)
        self._last = 0
        self._more = asyncio.Event()

    @property
    def last(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._last

    def append(self, event: Event) -> RecordedEvent:
        """Record an event and wake those who wait."""
        self._last += 1
        recorded = RecordedEvent(self._last, datetime.now(UTC), event)
        self._events.append(recorded)
        self._more.set()
        self._more = asyncio.Event()
        return recorded

    def since(self, sequence: int) -> list[RecordedEvent]:
        """Return the events with higher numbers that are still kept."""
        return [recorded for recorded in self._events if recorded.sequence > sequence]

    async def wait(self, sequence: int) -> list[RecordedEvent]:
        """Return the events with higher numbers, as soon as there is one."""
        while self._last <= sequence:
            await self._more.wait()
        return self.since(sequence)
