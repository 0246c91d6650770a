"""What the endpoint of ILNP tells of, as events of the edge."""

from __future__ import annotations

from collections import Counter

from wayname.edge.boundary import Severity
from wayname.edge.outputs import Outputs
from wayname.ilnp import outputs as ilnp

# Moves are told of each session by itself.
KINDS = {
    ilnp.Kind.NAIVE: ("ilnp.naive", Severity.WARNING),
    ilnp.Kind.UNANSWERED: ("ilnp.unanswered", Severity.INFO),
    ilnp.Kind.WITHOUT_ILNP: ("ilnp.without", Severity.INFO),
    ilnp.Kind.HALF_OPEN: ("ilnp.half_open", Severity.WARNING),
    ilnp.Kind.REFUSED: ("ilnp.refused", Severity.WARNING),
    ilnp.Kind.FORGED: ("ilnp.forged", Severity.WARNING),
    ilnp.Kind.REPLAYED: ("ilnp.replayed", Severity.WARNING),
    ilnp.Kind.CLAIMED: ("ilnp.claimed", Severity.WARNING),
    ilnp.Kind.PROTOCOL: ("ilnp.protocol", Severity.WARNING),
    ilnp.Kind.DROPPED: ("ilnp.dropped", Severity.INFO),
    ilnp.Kind.UNTOLD: ("session.untold", Severity.WARNING),
}


class EndpointEvents:
    """Tells them, and counts by kind how many there were."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self.told: Counter[str] = Counter()

    def tell(self, event: ilnp.Event, now: float) -> None:
        """Tell of what happened at the endpoint, if operators want to know."""
        if event.kind not in KINDS:
            return
        name, severity = KINDS[event.kind]
        self.told[name.partition(".")[2]] += 1 + event.others
        more = f" (and {event.others} more before)" if event.others else ""
        self._outputs.event(now, name, "ilnp", event.words + more, severity)
