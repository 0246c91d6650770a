"""Contexts that nobody uses any more, by the switch's counters (RFC 5533, section 9; the case study takes 10 s)."""

from __future__ import annotations

from collections.abc import Mapping

from wayname.shim6.context import ContextName

COLLECT_AFTER = 10.0


class IdleContexts:
    """Finds contexts whose counter has stood still for long enough."""

    def __init__(self, after: float = COLLECT_AFTER) -> None:
        self._after = after
        # The counter, and since when it stands there.
        self._seen: dict[ContextName, tuple[int, float]] = {}

    def look(self, packets: Mapping[ContextName, int], now: float) -> list[ContextName]:
        """Take the counters of all contexts; return those to be collected, and forget what is not there any more."""
        idle, seen = [], {}
        for name, count in packets.items():
            before = self._seen.get(name)
            seen[name] = before if before is not None and before[0] == count else (count, now)
            if now - seen[name][1] >= self._after:
                idle.append(name)
        self._seen = seen
        return idle
