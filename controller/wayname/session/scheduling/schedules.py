"""Gives sessions of every protocol their schedules, and follows what the switch says of the paths.

A session's manager says which paths its packets may take (`follow`, `forget`); what stands in the entries of
`session_schedules` is decided here. All sessions of a `[[schedule]]` share its registers, whichever ways each can take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import finsy as fy

from wayname.config.schedules import Schedule, SchedulingPolicy, Source
from wayname.edge.boundary import Json, PathEvent, Severity
from wayname.edge.outputs import Outputs
from wayname.event_limiter import EventLimiter
from wayname.p4_constants import PathEventKind
from wayname.pipeline.entries import Entity
from wayname.pipeline.schedules import SLOTS, Registers, figures_in
from wayname.session.scheduling.group import Group, ScheduleRule
from wayname.session.scheduling.left_paths import LeftPath, LeftPaths
from wayname.session.scheduling.numbers import ScheduleNumbers
from wayname.session.scheduling.scheduled import Scheduled, failed_ways, ways_of

POLICY = "schedule-policy"
LEAST_WAYS = 2
ALONE = "a session by it has no second path that works"


class Schedules:
    """All schedules of an edge; they may be looked at between calls."""

    def __init__(
        self,
        configured: Iterable[Schedule],
        remembered: Mapping[str, Json],
        outputs: Outputs,
        on_arrived: Callable[[str, float], None] = lambda provider, now: None,
    ) -> None:
        """Have none; `on_arrived` hears of the provider by which a peer says that packets came to it."""
        self._outputs = outputs
        self._on_arrived = on_arrived
        self._numbers = ScheduleNumbers(remembered, outputs)
        self.rules: dict[str, ScheduleRule] = {}
        for config in configured:
            written = remembered.get(f"{POLICY} {config.name}")
            policy = SchedulingPolicy(written) if isinstance(written, str) else config.policy
            figures = [(path.delay, path.bandwidth) for path in config.paths]
            self.rules[config.name] = ScheduleRule(config, policy, figures)
        self._groups: dict[str, Group] = {}
        self._by_number: dict[int, Group] = {}
        self._group_of: dict[int, Group] = {}
        self._left = LeftPaths()
        self._event_limiter = EventLimiter[tuple[int, int, bool]]()
        # The ways that sessions took when that was told last, and whether that may be different now.
        self._taken: set[tuple[str, int]] = set()
        self.changed = False

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups.values())

    def group(self, name: str) -> Group | None:
        """Return the sessions of a schedule, if it has any."""
        return self._groups.get(name)

    def left(self, name: str) -> dict[int, LeftPath]:
        """Return the ways of a schedule that none of its sessions takes, though they should."""
        group = self._groups.get(name)
        taken = group.ways if group else []
        return {way: left for way, left in sorted(self._left.of(name).items()) if way not in taken}

    def registers(self, name: str) -> Registers | None:
        """Return the registers of a schedule, also while no session takes it."""
        return self._numbers.of(name)

    def group_of(self, number: int) -> Group | None:
        """Return the group of a session that has a schedule."""
        return self._group_of.get(number)

    def follow(self, session: Scheduled) -> bool:
        """Have a schedule for a session as it is now; return whether it has one."""
        rule = next((rule for rule in self.rules.values() if rule.config.fits(session.local, session.peer)), None)
        ways = ways_of(rule.config, session) if rule else {}
        before = self._group_of.get(session.number)
        # The switch watches a session with a single path and leaves that; it cannot do so for one that is scheduled.
        group = self._group(rule) if rule and len(ways) >= LEAST_WAYS else None
        if before is not None and before is not group:
            self._leave(session.number)
        if rule:
            why = failed_ways(rule.config, session, ways) | ({} if group else dict.fromkeys(ways, ALONE))
            self._left.follow(rule.config.name, session.number, why, waits=group is None)
        if group is None:
            return False
        taken = group.ways
        group.take(session.number, ways, session.agreed)
        for way in ways:
            self._left.taken(group.rule.config.name, way)
        self._group_of[session.number] = group
        if group.ways != taken:
            self.changed = True
            self._write(group)
        self._outputs.desired.put(group.session_entry(session.number))
        return True

    def forget(self, number: int) -> None:
        """Have no schedule for a session that has ended."""
        self._left.forget_session(number)
        self._leave(number)
        for name in self.rules:
            if name not in self._groups and not self._left.has_waiting(name):
                self._left.forget(name)

    def _leave(self, number: int) -> None:
        group = self._group_of.pop(number, None)
        if group is None:
            return
        self._outputs.desired.remove(group.session_entry(number))
        if len(group.sessions) == 1:
            self._end(group)
            return
        taken = group.ways
        group.leave(number)
        if group.ways != taken:
            self.changed = True
            self._write(group)

    def adopt(self, entities: Iterable[Entity]) -> None:
        """Take paths to have what an earlier controller measured, as the switch has it, until that is known anew."""
        for entity in entities:
            if not isinstance(entity, fy.P4TableEntry) or entity.table_id not in SLOTS or not entity.match:
                continue
            slot, group = SLOTS.index(entity.table_id), self._by_number.get(int(entity.match["schedule"]))
            if group is None or group.rule.config.source is not Source.IOAM or slot >= len(group.known):
                continue
            found = figures_in(entity)
            if found != figures_in(group.slot_entry(slot)):
                self.set_figures(group.rule.config.name, slot, *found)

    def switch_event(self, switch_event: PathEvent, now: float) -> None:
        """The switch found something out about a path."""
        group = self._by_number.get(switch_event.schedule)
        if group is None or switch_event.place >= len(group.known):
            return
        known, path = group.known[switch_event.place], group.rule.config.paths[switch_event.place]
        known.take(switch_event, now)
        if switch_event.packets > switch_event.lost:
            self._on_arrived(path.provider, now)
        if switch_event.kind is PathEventKind.ESTIMATED:
            return
        more = self._event_limiter.untold_before((switch_event.schedule, switch_event.place, known.closed), now)
        if more is None:
            return
        kind, severity = ("closed", Severity.WARNING) if known.closed else ("opened", Severity.INFO)
        text = f"schedule {group.rule.config.name}: path {path.name} is {kind}: {known.why}"
        text += f" (and {more} times more before)" if more else ""
        self._outputs.event(now, f"path.{kind}", switch_event.schedule, text, severity)

    def set_policy(self, name: str, policy: SchedulingPolicy, now: float) -> None:
        """Have the sessions of a schedule share their packets out this way from now on."""
        rule = self.rules.get(name)
        if rule is None or rule.policy is policy:
            return
        before, rule.policy = rule.policy, policy
        self._outputs.remember(f"{POLICY} {name}", None if policy is rule.config.policy else policy.value)
        group = self._groups.get(name)
        if group is not None:
            group.registers = self._numbers.begin_anew(name, policy)
            group.begin_anew()
            self._write(group)
            if SchedulingPolicy.REDUNDANT in {before, policy}:
                for number in group.sessions:
                    self._outputs.desired.put(group.session_entry(number))
        self._outputs.event(now, "schedule.policy", name, f"schedule {name}: packets are shared out {policy.value}")

    def set_figures(self, name: str, index: int, delay: float, bandwidth: float) -> None:
        """Take a way of a schedule to have this delay and this bandwidth; what waits there is remembered."""
        self.rules[name].figures[index] = delay, bandwidth
        group = self._groups.get(name)
        if group is not None:
            self._write(group)

    def tell(self, now: float) -> None:
        """Say which paths sessions take now that none took before, and the other way round."""
        self.changed = False
        taken = {(name, way) for name, group in self._groups.items() for way in group.ways}
        for name, index in sorted(taken ^ self._taken):
            is_taken = (name, index) in taken
            what = "sessions take path" if is_taken else "no session takes path"
            text = f"schedule {name}: {what} {self.rules[name].config.paths[index].name}"
            # Where no session is there to take it, nothing is wrong with it.
            if not is_taken and (name in self._groups or self._left.has_waiting(name)):
                text += f": {self._left.left(name, index, now).why}"
            self._outputs.event(now, f"path.{'taken' if is_taken else 'left'}", name, text)
        self._taken = taken

    def _group(self, rule: ScheduleRule) -> Group | None:
        name = rule.config.name
        group = self._groups.get(name)
        if group is None:
            registers = self._numbers.take(name, rule.policy, self._groups)
            if registers is None:
                return None
            group = self._groups[name] = self._by_number[registers.schedule] = Group(rule, registers)
        return group

    def _end(self, group: Group) -> None:
        """Forget the sessions of a schedule with the last of them."""
        for entry in group.entries():
            self._outputs.desired.remove(entry)
        name = group.rule.config.name
        del self._groups[name]
        del self._by_number[group.registers.schedule]
        # Whoever has this schedule next knows nothing of its ways.
        self._numbers.begin_anew(name, group.rule.policy)
        self.changed = True

    def _write(self, group: Group) -> None:
        for entry in group.entries():
            self._outputs.desired.put(entry)
