"""How a session's packets are shared out to its paths: the entries of `schedules` (docs/scheduling.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench.multipath.path import Route
from wayname.p4_constants import ScheduleFeedback
from wayname.pipeline import schedules
from wayname.pipeline.entries import Entity
from wayname.pipeline.schedules import Feedback, Place, Registers
from wayname_lab.virtual.clock import SECOND

Policy = Literal["fastest first", "per flow", "weighted round robin", "best path"]
POLICIES: tuple[Policy, ...] = ("fastest first", "per flow", "weighted round robin", "best path")
GENERATION = 1
NO_FRAMING = 0
NO_FEEDBACK = ScheduleFeedback(0)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A policy, and what the scheduler believes of the paths if that is not what they are."""

    policy: Policy = "fastest first"
    feedback: ScheduleFeedback = NO_FEEDBACK
    tolerance: float = 0.1  # seconds that a marked packet may be late
    probe_interval: float = 0.2
    hold: float = 0.0  # seconds for which duplicates are held back
    believed: Sequence[Route] | None = None
    queued: int = 0  # octets of a packet in the paths' queues, if the scheduler knows how many fit

    def entry(self, session: int, number: int, paths: Sequence[int], routes: Sequence[Route]) -> Entity:
        """Return a session's entry; its path n goes by `routes[paths[n]]`. Those of one number share registers."""
        believed = [(self.believed or routes)[path] for path in paths]
        registers = Registers(number, GENERATION)
        places = [
            Place(path, route.delay / SECOND, route.rate, route.queue * self.queued)
            for path, route in enumerate(believed)
        ]
        match self.policy:
            case "best path":
                return schedules.best_path(session, max(places, key=lambda place: place.bandwidth).path)
            case "per flow":
                return schedules.per_flow(session, range(len(places)))
            case "weighted round robin":
                return schedules.weighted_round_robin(session, registers, NO_FRAMING, places)
            case "fastest first":
                feedback = Feedback(self.feedback, self.tolerance, self.probe_interval, self.hold)
                return schedules.fastest_first(session, registers, NO_FRAMING, feedback, places)
