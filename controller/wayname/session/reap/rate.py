"""A bound on how many probes all contexts together send."""

from __future__ import annotations


class ProbeRate:
    """So many a second on average, and a burst beyond; who has to wait gets a time of its own."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._interval = 1 / per_second
        self._tolerance = burst * self._interval
        # When the next one is due if all kept exactly to the average.
        self._next = 0.0

    def reserve(self, now: float) -> float:
        """Return when the next one may go, and keep that time for it."""
        at = max(now, self._next - self._tolerance)
        self._next = max(self._next, now) + self._interval
        return at

    def is_free(self, now: float) -> bool:
        """Take a turn if there is one now."""
        if self._next - self._tolerance > now:
            return False
        self.reserve(now)
        return True
