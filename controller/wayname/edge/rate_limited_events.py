"""Events about packets that anybody can send."""

from __future__ import annotations

from wayname.edge.boundary import Severity
from wayname.edge.outputs import Outputs
from wayname.event_limiter import EventLimiter


class RateLimitedEvents:
    """Tells the first of a kind, and later how many more there were."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._event_limiter = EventLimiter[str]()

    def tell(self, now: float, kind: str, subject: object, text: str) -> None:
        """Tell of a packet, or count it."""
        more = self._event_limiter.untold_before(kind, now)
        if more is None:
            return
        text += f" (and {more} more before)" if more else ""
        self._outputs.event(now, kind, subject, text, Severity.WARNING)
