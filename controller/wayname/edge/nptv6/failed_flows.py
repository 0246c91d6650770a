"""What became of flows whose provider failed: counted all, the last ones by name."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum

from wayname.wire.flow import Flow

HISTORY = 100
NAMED = 3  # in an event's text


class FlowOutcome(StrEnum):
    """What became of a flow."""

    WENT_ON = "went on"
    LOST = "lost"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class FailedFlow:
    """A flow, what became of it, and why."""

    time: float
    flow: Flow
    provider: str
    fate: FlowOutcome
    why: str


class FailedFlows:
    """Counts what became of flows, and keeps the last."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(FlowOutcome, 0)
        self.last: deque[FailedFlow] = deque(maxlen=HISTORY)

    def tell(self, now: float, flows: list[Flow], provider: str, fate: FlowOutcome, why: str) -> str:
        """Note what became of flows; return them in a few words."""
        self.counts[fate] += len(flows)
        self.last.extend(FailedFlow(now, flow, provider, fate, why) for flow in flows)
        named = "; ".join(str(flow) for flow in flows[:NAMED])
        more = len(flows) - NAMED
        return named + (f"; and {more} more" if more > 0 else "")
