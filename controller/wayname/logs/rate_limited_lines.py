"""Lines of libraries: one of a kind a second, since what libraries complain of is often what anybody can send."""

from __future__ import annotations

import logging
import time

from wayname.event_limiter import EventLimiter


class RateLimitedLines(logging.Filter):
    """Lets a line pass unless one like it, from the same place in the code, did less than a second ago."""

    def __init__(self) -> None:
        super().__init__()
        self._told: EventLimiter[tuple[str, int]] = EventLimiter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether the line is told, and have it say how many like it were not."""
        untold = self._told.untold_before((record.pathname, record.lineno), time.monotonic())
        if untold:
            record.msg, record.args = f"{record.getMessage()} ({untold} more like it were not told)", ()
        return untold is not None
