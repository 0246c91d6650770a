"""Sessions that go by the same ways: they share a schedule, so that what one sends, the others wait for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import finsy as fy

from wayname.config.schedules import Schedule, SchedulePath, SchedulingPolicy, Source
from wayname.edge.boundary import PathEvent
from wayname.p4_constants import PathEventKind, ScheduleFeedback
from wayname.pipeline import schedules as entries
from wayname.pipeline.schedules import Feedback, Registers, Subflow


@dataclass(slots=True)
class ScheduleRule:
    """A schedule of the configuration as it is now."""

    config: Schedule
    policy: SchedulingPolicy
    # Delay in seconds and bandwidth in bit/s that its ways are taken to have.
    figures: list[tuple[float, float]]

    @property
    def feedback(self) -> Feedback:
        """What is done about what acknowledgements say."""
        config = self.config
        kinds = ScheduleFeedback.FOLLOW if config.source is Source.MARKS else ScheduleFeedback(0)
        kinds |= ScheduleFeedback.CLOSE if config.close else 0
        kinds |= ScheduleFeedback.HOLD if config.hold else 0
        return Feedback(kinds, config.tolerance, config.probe_interval, config.hold)

    def words(self, ways: Iterable[int]) -> str:
        """Return the schedule and some of its ways in words."""
        return f"{self.config.name}: {', '.join(self.config.paths[index].name for index in ways)}"


@dataclass(slots=True)
class PathReport:
    """What the switch said of a path; of what it did not tell, None."""

    closed: bool = False
    why: str = ""
    since: float | None = None
    told: float | None = None
    late: float | None = None
    delay: float | None = None
    bandwidth: float | None = None

    def take(self, switch_event: PathEvent, now: float) -> None:
        """Take what the switch says."""
        self.told, self.late, self.delay, self.bandwidth = (
            now,
            switch_event.late,
            switch_event.delay,
            switch_event.bandwidth,
        )
        if switch_event.kind is PathEventKind.ESTIMATED:
            return
        self.since, self.closed = now, switch_event.kind is not PathEventKind.OPENED
        match switch_event.kind:
            case PathEventKind.LATE:
                self.why = f"a packet came {1000 * switch_event.late:.1f} ms late"
            case PathEventKind.LOST:
                self.why = "a packet was lost"
            case PathEventKind.OPENED:
                self.why = "a probe came in time"


@dataclass(slots=True)
class Group:
    """The sessions of a schedule that go by the same ways, by place; each with the numbers of its paths."""

    rule: ScheduleRule
    ways: tuple[int, ...]
    registers: Registers
    sessions: dict[int, tuple[int, ...]] = field(default_factory=dict)
    known: list[PathReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begin_anew()

    @property
    def paths(self) -> list[SchedulePath]:
        """Its ways as they are configured."""
        return [self.rule.config.paths[index] for index in self.ways]

    @property
    def words(self) -> str:
        """Its schedule and its ways, in words; no other group has the same."""
        return self.rule.words(self.ways)

    @property
    def best(self) -> int:
        """The place of the path with most bandwidth, of such the one with the least delay."""
        figures = [self.rule.figures[index] for index in self.ways]
        return max(range(len(figures)), key=lambda place: (figures[place][1], -figures[place][0]))

    def paths_of(self, session: int) -> tuple[int, ...]:
        """Return which of its paths the packets of a session take."""
        paths = self.sessions[session]
        return (paths[self.best],) if self.rule.policy is SchedulingPolicy.BEST_PATH else paths

    def begin_anew(self) -> None:
        """Know nothing of paths."""
        self.known = [PathReport() for _ in self.ways]

    def session_entry(self, session: int) -> fy.P4TableEntry:
        """Return the entry of one of its sessions."""
        return entries.session_schedule(session, self.registers.schedule, self.sessions[session])

    def entries(self) -> list[fy.P4TableEntry]:
        """Return what all of its sessions share: an entry for each slot, and the policy."""
        return [*(self.slot_entry(slot) for slot in range(len(self.ways))), self._policy_entry()]

    def slot_entry(self, slot: int) -> fy.P4TableEntry:
        """Return what is believed of the path in a slot."""
        delay, bandwidth = self.rule.figures[self.ways[slot]]
        return entries.subflow(self.registers.schedule, slot, Subflow(delay, bandwidth, self.paths[slot].queue))

    def _policy_entry(self) -> fy.P4TableEntry:
        count, framing = len(self.ways), self.rule.config.framing
        match self.rule.policy:
            case SchedulingPolicy.FASTEST_FIRST:
                return entries.fastest_first(self.registers, count, framing, self.rule.feedback)
            case SchedulingPolicy.WEIGHTED_ROUND_ROBIN:
                return entries.weighted_round_robin(self.registers, count, framing)
            case SchedulingPolicy.PER_FLOW:
                return entries.per_flow(self.registers.schedule, count)
            case SchedulingPolicy.BEST_PATH:
                return entries.best_path(self.registers.schedule, self.best)
