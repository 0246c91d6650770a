"""From path to path, for sessions of ESP: nobody but the hosts can make packets of them, so nothing is probed.

Its locators are proved by its hosts: that speaks for a path. That the switch heard nothing on it speaks against it, for
a while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import IPv6Address

from wayname.edge.boundary import SessionEvent, Severity
from wayname.p4_constants import PacketOutKind, SessionEventKind
from wayname.session.context import SessionContext
from wayname.session.failover import Failover, words
from wayname.session.keys import Pair, SessionKey
from wayname.session.paths import PathSelection
from wayname.session.session import PathHealth, Session
from wayname.session.tables import SessionTables
from wayname.timers import Timers, earliest
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import NO_NEXT_HEADER

# How long a path that was left is the last to be tried.
SILENT_TIME = 3.0
# Times of the switch are rounded.
MARGIN = 0.001
# A turn that comes later than this part of the send timeout finds nobody silent.
LATE_PART = 8


class VerifiedPathSelection(PathSelection):
    """Paths between locators that hosts proved."""

    def __init__(self, is_open: Callable[[IPv6Address], bool], is_one_way: Callable[[IPv6Address], bool]) -> None:
        super().__init__(is_open, is_one_way)
        self.silent: Timers[tuple[SessionKey, Pair]] = Timers()

    def health(self, session: Session, path: int) -> PathHealth:
        """Return what is known of a path."""
        pair = session.paths[path]
        if not self._is_open(pair.local):
            return PathHealth.CLOSED
        return PathHealth.SILENT if self._is_silent(session, pair) else PathHealth.WORKS

    def is_usable(self, session: Session, path: int) -> bool:
        """Whether packets may take a path beside others."""
        return self._takes_packets(session, path) and not self._is_silent(session, session.paths[path])

    def _is_silent(self, session: Session, pair: Pair) -> bool:
        return self.silent.at((session.name, pair)) is not None


class EspFailover(Failover):
    """Keeps sessions on paths where something is heard."""

    def __init__(
        self,
        sessions: Mapping[SessionKey, Session],
        means: SessionContext,
        tables: SessionTables,
        write_down: Callable[[Session], None],
    ) -> None:
        super().__init__(means, tables, write_down)
        self.paths: VerifiedPathSelection = VerifiedPathSelection(means.egress.is_open, means.egress.is_one_way)
        self._sessions = sessions
        # When the switch is to look whether something is unanswered still: without a packet it would not.
        self._looks: Timers[SessionKey] = Timers()

    def forget(self, session: Session) -> None:
        """Look after a session no more."""
        for pair in session.paths.values():
            self.paths.silent.cancel((session.name, pair))
        self._looks.cancel(session.name)
        super().forget(session)

    def switch_event(self, session: Session, switch_event: SessionEvent, now: float) -> None:
        """The switch found something out."""
        before, to = session.paths.get(switch_event.path_from), session.paths.get(switch_event.path_to)
        match switch_event.kind:
            case SessionEventKind.WATCH:
                self._looks.set(session.name, now + max(session.send_timeout - switch_event.age, 0.0) + MARGIN)
            case SessionEventKind.LEFT_PATH if before is not None and to is not None:
                self.paths.silent.set((session.name, before), now + SILENT_TIME)
                self._went(
                    session, switch_event.path_to, switch_event.age, f"no answer for {switch_event.age:.3f} s", now
                )
            case SessionEventKind.FOLLOWED if to is not None:
                self.paths.silent.cancel((session.name, to))
                self._went(session, switch_event.path_to, switch_event.age, "the peer moved it", now)
            case SessionEventKind.UNANSWERED:
                text = f"{words(session.name)}: no answer for {switch_event.age:.3f} s, and no other path is proven"
                self._outputs.event(now, "session.unanswered", session.number, text, Severity.WARNING)

    def next_hops_changed(self, session: Session, now: float) -> None:
        """A provider is gone or is there again: leave paths that are dead for certain."""
        self._leave_closed(session, now)
        self.want(session)

    def move(self, session: Session, to: int, why: str, now: float) -> None:
        """Somebody wants a session to use a path."""
        self._move(session, to, why, now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self.paths.silent.next(), self._looks.next()))

    def handle_timer(self, now: float, late: float) -> None:
        """Let the switch look at sessions, and paths be tried again that were left long ago."""
        for name in self._looks.due(now):
            if late > self._sessions[name].send_timeout / LATE_PART:
                # What answers may wait to be looked at.
                self._looks.set(name, now + self._sessions[name].send_timeout / LATE_PART)
            else:
                host = self._sessions[name].pair.local
                self._egress.within(PacketOutKind.CHECK, Packet(name.local, name.peer, NO_NEXT_HEADER, b""), host)
        for name, _ in self.paths.silent.due(now):
            if name in self._sessions:
                self.want(self._sessions[name])
