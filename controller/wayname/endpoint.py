"""What the endpoints of all protocols have in common: outputs to take, and times to be called at."""

from __future__ import annotations

from typing import Any, Generic

from wayname.outbox import Out, Outbox
from wayname.timers import Timers, earliest


class BaseEndpoint(Generic[Out]):
    """One end of a protocol, without sockets, clock or threads."""

    def __init__(self, outbox: Outbox[Out], *timers: Timers[Any]) -> None:
        self._outputs = outbox
        self._timers = timers

    def take_outputs(self) -> list[Out]:
        """Return what came out since the last call, in order."""
        return self._outputs.take()

    def next_timer(self) -> float | None:
        """Return when to call handle_timer at the latest."""
        return earliest(timers.next() for timers in self._timers)
