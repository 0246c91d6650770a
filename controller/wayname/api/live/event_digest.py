"""Events of a frame: all counted by their kind, and some of them told, the gravest first to have a place."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping
from typing import Any

from wayname.adapter.events import EventRing, RecordedEvent

MOST_TOLD = 20
MOST_KEPT = 100
MOST_KINDS = 32
MOST_LETTERS = 400
_RANKS = {"error": 2, "warning": 1}
# Each packet of a host may make some of these.
_COMMONPLACE = ("station.", "neighbour.")


class EventDigest:
    """What happened since the last frame."""

    def __init__(self, events: EventRing, by_kind: Mapping[tuple[str, str], int]) -> None:
        self._events = events
        self._by_kind = by_kind
        self._counted: dict[tuple[str, str], int] = {}
        self.seen = 0
        self.kept: deque[dict[str, Any]] = deque(maxlen=MOST_KEPT)
        """Those told last, for a page that comes."""

    def take(self) -> dict[str, Any] | None:
        """Return what happened, if anything did."""
        if self._events.last == self.seen:
            return None
        passed = self._events.last - self.seen
        told = [_told(each) for each in _chosen(self._events.since(self.seen))]
        self.seen = self._events.last
        self.kept.extend(told)
        counts: list[tuple[str, str, int]] = []
        for (kind, severity), count in self._by_kind.items():
            more = count - self._counted.get((kind, severity), 0)
            if more:
                counts.append((kind, severity, more))
                self._counted[kind, severity] = count
        most = heapq.nlargest(MOST_KINDS, counts, key=lambda row: (_RANKS.get(row[1], 0), row[2]))
        return {"passed": passed, "counts": most, "told": told}


def _chosen(recorded: list[RecordedEvent]) -> list[RecordedEvent]:
    """Return so many events in their order: errors before warnings before others, of each the newest."""
    chosen = heapq.nlargest(MOST_TOLD, recorded, key=_rank)
    return sorted(chosen, key=lambda each: each.sequence)


def _rank(recorded: RecordedEvent) -> tuple[int, int]:
    event = recorded.event
    return _RANKS.get(event.severity, -event.kind.startswith(_COMMONPLACE)), recorded.sequence


def _told(recorded: RecordedEvent) -> dict[str, Any]:
    event = recorded.event
    return {
        "number": recorded.sequence,
        "time": recorded.at.timestamp(),
        "kind": event.kind,
        "severity": event.severity,
        "subject": event.subject[:MOST_LETTERS],
        "text": event.text[:MOST_LETTERS],
        "from": event.details.get("from"),
        "to": event.details.get("to"),
    }
