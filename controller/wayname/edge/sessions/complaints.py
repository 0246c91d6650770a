"""Events about packets that anybody can send: one of a kind a second, so that a flood of them is none of events."""

from __future__ import annotations

from wayname.edge.boundary import Severity
from wayname.edge.outputs import Outputs

EVERY = 1.0


class Complaints:
    """Tells the first of a kind, and later how many more there were."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._told: dict[str, float] = {}
        self._untold: dict[str, int] = {}

    def tell(self, now: float, kind: str, subject: object, text: str) -> None:
        """Tell of a packet, or count it."""
        if kind in self._told and now < self._told[kind] + EVERY:
            self._untold[kind] = self._untold.get(kind, 0) + 1
            return
        more = self._untold.pop(kind, 0)
        self._told[kind] = now
        text += f" (and {more} more before)" if more else ""
        self._outputs.event(now, kind, subject, text, Severity.WARNING)
