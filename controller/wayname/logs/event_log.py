"""Logs each event once, and counts events by kind."""

from __future__ import annotations

from collections import Counter

import structlog

from wayname.adapter.events import RecordedEvent


class EventLog:
    """Takes note of each event as it is recorded; its lines name the edge where a process has several."""

    def __init__(self, edge: str = "") -> None:
        self.by_kind: Counter[tuple[str, str]] = Counter()
        self._log = structlog.get_logger(edge=edge) if edge else structlog.get_logger()

    def record(self, recorded: RecordedEvent) -> None:
        """Log an event and count it."""
        event = recorded.event
        self.by_kind[event.kind, event.severity] += 1
        write = getattr(self._log, event.severity)
        write(event.text, kind=event.kind, subject=event.subject, details=dict(event.details))
