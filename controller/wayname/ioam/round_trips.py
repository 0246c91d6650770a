"""What probes tell that go there and come back: of the way there by their trace, of both ways by when they came back.

The time there is what two clocks say, that at the far end and our own. Of several ways to the same far end each bounds
by how much these can differ: no packet is there before it was sent, and none comes back before it was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wayname.ioam.nodes import NodeData
from wayname.ioam.path_metrics import PathId, PathMetrics, Summary


@dataclass(slots=True)
class RoundTrips:
    """Of one way: figures of the way there, and how long both ways together took, in nanoseconds."""

    there: PathMetrics
    both: Summary = field(default_factory=Summary)

    @classmethod
    def of(cls, id: PathId, now: float) -> RoundTrips:
        """Return those of a way by which no probe came back yet."""
        return cls(PathMetrics.of(id, now))

    def take(self, nodes: Sequence[NodeData], both: int, now: float) -> None:
        """Take what the nodes on the way there wrote. What the last one says of itself is about the way back."""
        self.there.take((*nodes[:-1], replace(nodes[-1], delay=0, queue=0)), now)
        self.both.add(both)

    @property
    def waited(self) -> float:
        """What packets waited in nodes on the way there."""
        return self.there.inside.smoothed

    @property
    def said(self) -> float | None:
        """The time there without what packets waited, as the two clocks have it."""
        return self.there.delay.smoothed - self.waited if self.there.delay.count else None

    def delay(self, difference: float | None) -> float:
        """Return the time there without what packets waited, by a clock that is so far ahead; by one that tells nothing
        half of both ways."""
        most = max(self.both.smoothed - self.waited, 0.0)
        if difference is None or self.said is None:
            return most / 2
        return min(max(self.said - difference, 0.0), most)


def clock_difference(ways: Sequence[RoundTrips]) -> float | None:
    """Return how many nanoseconds the far end's clock is ahead; None if what the ways say does not go together.

    Clocks are taken to agree as long as they can; otherwise the middle of what can be is meant.
    """
    said = [(way.said, way.both.smoothed - way.waited) for way in ways if way.said is not None]
    if not said:
        return None
    least, most = max(there - both for there, both in said), min(there for there, _ in said)
    if least > most:
        return None
    return 0.0 if least <= 0.0 <= most else (least + most) / 2
