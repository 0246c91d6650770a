"""Sessions of one schedule: they share its registers, so that what one sends, the others wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import finsy as fy

from wayname.config.schedules import Schedule, SchedulePath, SchedulingPolicy, Source
from wayname.edge.boundary import PathEvent
from wayname.p4_constants import LONGEST_BEHIND, PathEventKind, ScheduleFeedback
from wayname.pipeline import schedules as entries
from wayname.pipeline.schedules import Feedback, Registers, Subflow
from wayname.pipeline.sessions import MICROSECONDS
from wayname.session.path_reports import Agreement

NOTHING = Agreement()


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
        kinds = ScheduleFeedback.FOLLOW if config.source in {Source.MARKS, Source.FEEDBACK} else ScheduleFeedback(0)
        kinds |= ScheduleFeedback.CLOSE if config.close else 0
        kinds |= ScheduleFeedback.HOLD if config.hold else 0
        return Feedback(kinds, config.tolerance, config.probe_interval, config.hold)


@dataclass(slots=True)
class PathReport:
    """What the switch said of a path; of what it did not tell, None."""

    closed: bool = False
    why: str = ""
    since: float | None = None
    told: float | None = None
    # When it last told of packets that peers reported.
    reported: float | None = None
    late: float | None = None
    delay: float | None = None
    bandwidth: float | None = None
    queue: float | None = None
    # What peers reported in all: packets, lost ones, such that met congestion.
    packets: int = 0
    lost: int = 0
    marked: int = 0

    def take(self, switch_event: PathEvent, now: float) -> None:
        """Take what the switch says."""
        self.told, self.late = now, switch_event.late
        self.delay, self.bandwidth, self.queue = switch_event.delay, switch_event.bandwidth, switch_event.queue
        if switch_event.packets:
            self.reported = now
        self.packets += switch_event.packets
        self.lost += switch_event.lost
        self.marked += switch_event.marked
        if switch_event.kind is PathEventKind.ESTIMATED:
            return
        self.since, self.closed = now, switch_event.kind in {PathEventKind.LATE, PathEventKind.LOST}
        match switch_event.kind:
            case PathEventKind.LATE:
                self.why = f"a packet came {1000 * switch_event.late:.1f} ms late"
            case PathEventKind.LOST:
                self.why = "a packet was lost"
            case PathEventKind.OPENED:
                self.why = "a probe came in time"
            case PathEventKind.UNPROBED:
                self.why = "for eight probe intervals nothing told whether it works"

    def window(self, *, waits_at_edge: bool) -> int | None:
        """Return the octets that may be under way by it: on the way, and in its queue; None where nobody knows."""
        limits = [self.queue] if self.queue is not None else []
        if waits_at_edge:
            limits.append(LONGEST_BEHIND / MICROSECONDS)
        if not limits or self.delay is None or self.bandwidth is None:
            return None
        return round(self.bandwidth / 8 * (self.delay + min(limits)))

    def begin_anew(self) -> PathReport:
        """Return one of a path of which nothing is known but what peers reported of it in all."""
        return PathReport(reported=self.reported, packets=self.packets, lost=self.lost, marked=self.marked)


@dataclass(slots=True)
class Group:
    """The sessions of a schedule, each with its path by each way that it can take.

    Each way has the slot of its place in the configuration, so what is known of it stays when sessions leave others.
    """

    rule: ScheduleRule
    registers: Registers
    sessions: dict[int, dict[int, int]] = field(default_factory=dict)
    known: list[PathReport] = field(init=False)
    # What the edges of sessions agreed on, if anything.
    _agreed: dict[int, Agreement] = field(default_factory=dict)
    # How many sessions take each way.
    _takers: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.known = [PathReport() for _ in self.rule.config.paths]

    @property
    def ways(self) -> list[int]:
        """The ways that any of its sessions takes."""
        return sorted(self._takers)

    @property
    def paths(self) -> list[SchedulePath]:
        """These as they are configured."""
        return [self.rule.config.paths[way] for way in self.ways]

    @property
    def best(self) -> int:
        """The way with most bandwidth of those that sessions take, of such the one with the least delay."""
        figures = self.rule.figures
        return max(self.ways, key=lambda way: (figures[way][1], -figures[way][0]))

    def take(self, session: int, paths: Mapping[int, int], agreed: Agreement) -> None:
        """Have a session go by these ways, and no others any more."""
        self.leave(session)
        if agreed != NOTHING:
            self._agreed[session] = agreed
        self.sessions[session] = dict(paths)
        self._takers.update(paths.keys())

    def leave(self, session: int) -> None:
        """Have a session no more."""
        self._agreed.pop(session, None)
        for way in self.sessions.pop(session, {}):
            self._takers[way] -= 1
            if not self._takers[way]:
                del self._takers[way]

    def paths_of(self, session: int) -> list[int]:
        """Return which of its paths the packets of a session take; none if it cannot go by the best way."""
        paths = self.sessions[session]
        if self.rule.policy is SchedulingPolicy.BEST_PATH:
            return [path for way, path in paths.items() if way == self.best]
        return list(paths.values())

    def agreed(self, session: int) -> Agreement:
        """Return what the edges of a session do with its packets."""
        return self._agreed.get(session, NOTHING)

    def copies_of(self, session: int) -> int:
        """Return in how many copies each packet of a session goes."""
        redundant = self.rule.policy is SchedulingPolicy.REDUNDANT and self.agreed(session).takes_copies
        return self.rule.config.copies if redundant else 1

    @property
    def waits_at_edge(self) -> bool:
        """Whether packets of any of its sessions wait at the edge for paths that are busy (docs/packet-buffer.md)."""
        return self.rule.policy is SchedulingPolicy.FASTEST_FIRST and any(
            self.agreed(session).in_order for session in self.sessions
        )

    def begin_anew(self) -> None:
        """Know nothing of paths, as the switch does; what peers reported stays true."""
        self.known = [known.begin_anew() for known in self.known]

    def session_entry(self, session: int) -> fy.P4TableEntry:
        """Return the entry of one of its sessions."""
        return entries.session_schedule(
            session, self.registers.schedule, self.sessions[session], self.copies_of(session)
        )

    def entries(self) -> list[fy.P4TableEntry]:
        """Return what all of its sessions share: an entry for each slot, and the policy."""
        return [*(self.slot_entry(way) for way in range(len(self.rule.config.paths))), self._policy_entry()]

    def slot_entry(self, way: int) -> fy.P4TableEntry:
        """Return what is believed of a way."""
        delay, bandwidth = self.rule.figures[way]
        queue = self.rule.config.paths[way].queue
        return entries.subflow(self.registers.schedule, way, Subflow(delay, bandwidth, queue))

    def _policy_entry(self) -> fy.P4TableEntry:
        count, framing = len(self.rule.config.paths), self.rule.config.framing
        match self.rule.policy:
            # In how many copies is said for each session (`session_schedules`).
            case SchedulingPolicy.FASTEST_FIRST | SchedulingPolicy.REDUNDANT:
                return entries.fastest_first(self.registers, count, framing, self.rule.feedback)
            case SchedulingPolicy.WEIGHTED_ROUND_ROBIN:
                return entries.weighted_round_robin(self.registers, count, framing)
            case SchedulingPolicy.PER_FLOW:
                return entries.per_flow(self.registers.schedule, count)
            case SchedulingPolicy.BEST_PATH:
                return entries.best_path(self.registers.schedule, self.best)
