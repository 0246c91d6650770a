"""Paths of a schedule that none of its sessions takes: since when, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class LeftPath:
    """A path that no session takes; `since` is None if none did since the controller was started."""

    why: str = "no session has a path by it that works"
    since: float | None = None


class LeftPaths:
    """Those of all schedules, by their places in the configuration."""

    def __init__(self) -> None:
        self._by_schedule: defaultdict[str, dict[int, LeftPath]] = defaultdict(dict)
        # Sessions that would go by a schedule if more of their paths worked.
        self._waiting: defaultdict[str, set[int]] = defaultdict(set)

    def of(self, schedule: str) -> Mapping[int, LeftPath]:
        """Return what is known of a schedule's paths that some session does not take, though others may."""
        return self._by_schedule.get(schedule, {})

    def follow(self, schedule: str, session: int, why: Mapping[int, str], *, waits: bool) -> None:
        """Take note why a session does not take some ways of its schedule, and whether it takes any."""
        (self._waiting[schedule].add if waits else self._waiting[schedule].discard)(session)
        for way, reason in why.items():
            self._by_schedule[schedule].setdefault(way, LeftPath()).why = reason

    def taken(self, schedule: str, way: int) -> None:
        """A session takes a way."""
        self._by_schedule[schedule].pop(way, None)

    def left(self, schedule: str, way: int, now: float) -> LeftPath:
        """No session takes a way any more."""
        path = self._by_schedule[schedule].setdefault(way, LeftPath())
        path.since = now
        return path

    def forget_session(self, session: int) -> None:
        """A session has ended."""
        for waiting in self._waiting.values():
            waiting.discard(session)

    def has_waiting(self, schedule: str) -> bool:
        """Tell whether there are sessions that would go by a schedule if more of their paths worked."""
        return bool(self._waiting.get(schedule))

    def forget(self, schedule: str) -> None:
        """A schedule has no sessions any more: nothing is missing."""
        self._by_schedule.pop(schedule, None)
