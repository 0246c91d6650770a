"""How a session's packets are shared out to its paths: the entries of schedules (docs/scheduling.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench.multipath.path import Route
from wayname.p4_constants import ScheduleFeedback
from wayname.pipeline import schedules
from wayname.pipeline.entries import Entity
from wayname.pipeline.schedules import Feedback, Registers, Subflow
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

    def entries(self, number: int, paths: Sequence[int], routes: Sequence[Route]) -> list[Entity]:
        """Return the schedule of this number; the path in its slot n goes by `routes[paths[n]]`."""
        subflows = self.subflows(paths, routes)
        slots = [schedules.subflow(number, slot, subflow) for slot, subflow in enumerate(subflows)]
        return [*slots, self.shares(number, subflows)]

    def subflows(self, paths: Sequence[int], routes: Sequence[Route]) -> list[Subflow]:
        """Return what the scheduler believes of the paths."""
        believed = [(self.believed or routes)[path] for path in paths]
        return [Subflow(route.delay / SECOND, route.rate, route.queue * self.queued) for route in believed]

    def shares(self, number: int, subflows: Sequence[Subflow]) -> Entity:
        """Return how packets are shared out to the slots."""
        registers = Registers(number, GENERATION)
        match self.policy:
            case "best path":
                return schedules.best_path(number, max(range(len(subflows)), key=lambda slot: subflows[slot].bandwidth))
            case "per flow":
                return schedules.per_flow(number, len(subflows))
            case "weighted round robin":
                return schedules.weighted_round_robin(registers, len(subflows), NO_FRAMING)
            case "fastest first":
                feedback = Feedback(self.feedback, self.tolerance, self.probe_interval, self.hold)
                return schedules.fastest_first(registers, len(subflows), NO_FRAMING, feedback)
