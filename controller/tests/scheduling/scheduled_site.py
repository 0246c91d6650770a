"""An edge's schedules, their rule, and the sessions that take paths of it."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address

import finsy as fy
from nptv6_site import SITE

from wayname.composition.configuration import parse_config
from wayname.edge.boundary import Event, Json, PathEvent, Persist, Write
from wayname.edge.outputs import Outputs
from wayname.p4_constants import PATH_BITS, PathEventKind
from wayname.pipeline.schedules import SLOTS
from wayname.session.keys import Pair
from wayname.session.path_reports import Agreement
from wayname.session.scheduling.scheduled import Scheduled
from wayname.session.scheduling.schedules import Schedules

RULE = """
[[schedule]]
name = "s"
local = ["2001:db8:101:10::/64"]
framing = 22
[[schedule.path]]
provider = "p"
remote = "2001:db8:102::/48"
bandwidth = 2_000_000
delay = 0.02
[[schedule.path]]
provider = "q"
remote = "2001:db8:202::/48"
bandwidth = 4_000_000
delay = 0.01
[[schedule.path]]
provider = "q"
bandwidth = 8_000_000
delay = 0.03
"""
HOST, PEER = IPv6Address("2001:db8:101:10::1"), IPv6Address("2001:db8:102:10::1")
PP = Pair(HOST, PEER)
QQ = Pair(IPv6Address("2001:db8:201:10::1"), IPv6Address("2001:db8:202:10::1"))
QP = Pair(QQ.local, PEER)
PQ = Pair(HOST, QQ.peer)


class Site:
    """An edge's schedules, and what they say; the controller may be started again."""

    def __init__(self, rule: str = RULE) -> None:
        self.config = parse_config(SITE + rule)
        self.memory: dict[str, Json] = {}
        self.events: list[Event] = []
        self.written = 0
        self.start()

    def start(self) -> None:
        """Start a controller that knows what the last one wrote down."""
        self.outputs = Outputs()
        self.outputs.connected = True
        self.arrived: list[tuple[str, float]] = []
        self.schedules = Schedules(
            self.config.schedules,
            dict(self.memory),
            self.outputs,
            lambda provider, now: self.arrived.append((provider, now)),
        )

    def follow(
        self,
        number: int,
        *usable: Pair,
        local: IPv6Address = HOST,
        first: int = 0,
        takes_copies: bool = False,
        failed: Mapping[Pair, str] | None = None,
    ) -> bool:
        """Let a session have paths that it can use, and keep what comes of it."""
        paths = dict(enumerate(usable, first))
        followed = self.schedules.follow(
            Scheduled(number, local, PEER, paths, Agreement(takes_copies=takes_copies), failed or {})
        )
        self.settle()
        return followed

    def settle(self) -> None:
        """Keep what is said."""
        self.schedules.tell(1.0)
        for output in self.outputs.take():
            if isinstance(output, Event):
                self.events.append(output)
            elif isinstance(output, Write):
                self.written += len(output.updates)
            elif isinstance(output, Persist):
                self.memory[output.key] = output.value
                if output.value is None:
                    del self.memory[output.key]

    def entry(self, session: int) -> dict[str, int | str]:
        """Return what the tables hold for a session: its schedule's policy, and what is in each slot."""
        of_session = self._held("session_schedules", session=session)
        if not of_session:
            return {}
        number = int(of_session["schedule"])
        entry = {**self._held("schedules", schedule=number), "schedule": number}
        entry["copies"] = of_session.get("copies", 1)
        for slot, table in enumerate(SLOTS):
            subflow = self._held(table, schedule=number)
            if int(of_session["slots"]) >> slot & 1:
                entry[f"path_{slot}"] = int(of_session["paths"]) >> PATH_BITS * slot & 15
            if subflow:
                entry |= {f"{key}_{slot}": value for key, value in subflow.items() if key != "action"}
        return entry

    def _held(self, table: str, **keys: int) -> dict[str, int | str]:
        """Return the action of an entry, and its arguments."""
        for entity in self.outputs.desired.wanted():
            if isinstance(entity, fy.P4TableEntry) and (entity.table_id, entity.match) == (table, keys):
                assert isinstance(entity.action, fy.Action)
                return {"action": entity.action.name, **entity.action.args}
        return {}

    def paths(self, session: int) -> list[int]:
        """Return a session's paths in the slots that it may take."""
        entry = self.entry(session)
        return [int(entry[f"path_{slot}"]) for slot in range(len(SLOTS)) if f"path_{slot}" in entry]

    def writes(self) -> int:
        """Return how many entries were written since the last time."""
        self.settle()
        written, self.written = self.written, 0
        return written

    def switch_event(self, kind: PathEventKind, place: int, now: float = 2.0, schedule: int = 1) -> None:
        """Let the switch say something about a path."""
        self.schedules.switch_event(PathEvent(kind, schedule, 5, place, 0, 0.25, 0.04, 1e6), now)
        self.settle()

    def kinds(self) -> list[str]:
        """Return the kinds of all events."""
        return [event.kind for event in self.events]
