"""Takes sessions from path to path, and tells the switch, whoever finds out that they must go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import inf

from wayname.edge.boundary import Json, SessionEvent, Severity
from wayname.edge.links import ReceivedPacket
from wayname.session.context import SessionContext
from wayname.session.keys import Pair, SessionKey
from wayname.session.paths import PathSelection
from wayname.session.retransmit_buffer import RetransmitBuffer
from wayname.session.session import PathHealth, Session
from wayname.session.tables import SessionTables
from wayname.wire.ipv6 import address_text


class Failover(ABC):
    """Moves sessions, and repeats what got no answer where they were."""

    paths: PathSelection

    def __init__(self, means: SessionContext, tables: SessionTables, write_down: Callable[[Session], None]) -> None:
        self._egress = means.egress
        self._tables = tables
        self._outputs = means.outputs
        self._write_down = write_down
        self._held = RetransmitBuffer()
        # Hears of each session that goes by another path.
        self.on_moved: Callable[[Session, float], None] = lambda session, now: None

    @abstractmethod
    def switch_event(self, session: Session, switch_event: SessionEvent, now: float) -> None:
        """The switch found something out."""

    @abstractmethod
    def next_hops_changed(self, session: Session, now: float) -> None:
        """A provider is gone or is there again."""

    @abstractmethod
    def move(self, session: Session, to: int, why: str, now: float) -> None:
        """Somebody wants a session to use a path."""

    @abstractmethod
    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""

    @abstractmethod
    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due, so late."""

    def prefer(self, session: Session, policy: str, path: int | None, now: float) -> None:
        """Somebody wants flows of a policy to use a path, or the one that the policy says."""
        session.preferences.pop(policy, None)
        if path is not None:
            session.preferences[policy] = session.paths[path]
        self.want(session)
        used = self.paths.preferred(session).get(policy, session.path)
        text = f"{words(session.name)}: flows of {policy} go by path {used}, {way(session.paths[used])}"
        self._outputs.event(now, "session.preferred", session.number, text)

    def want(self, session: Session) -> None:
        """Write a session down as it is now, here and on the switch."""
        self._write_down(session)
        usable = self.paths.usable(session)
        self._tables.want(
            session, self.paths.backups(session), usable, self._failed(session, usable), self.paths.preferred(session)
        )

    def _failed(self, session: Session, usable: Mapping[int, Pair]) -> dict[Pair, str]:
        """Return why paths are not among those that may be used; of those not tried yet nothing."""
        failed: dict[Pair, str] = {}
        for path, pair in session.paths.items():
            health = PathHealth.WORKS if path in usable else self.paths.health(session, path)
            if health is PathHealth.CLOSED:
                failed[pair] = self._egress.why_closed(pair.local)
            elif health is PathHealth.SILENT:
                failed[pair] = session.failed.get(pair, "it does not answer")
        return failed

    def forget(self, session: Session) -> None:
        """Look after a session no more."""
        self._tables.forget(session)
        self._held.forget(session.name)

    def hold(self, session: Session, arrival: ReceivedPacket, now: float) -> None:
        """Keep a copy of a packet that may not have arrived."""
        self._held.keep(session.name, arrival, now)

    def _leave_closed(self, session: Session, now: float) -> bool:
        """Leave a path that is dead for certain; tell whether there was reason to."""
        to = self.paths.best(session) if self.paths.is_closed(session) else None
        if to is None:
            return False
        self._move(session, to, self._egress.why_closed(session.pair.local), now)
        return True

    def _went(self, session: Session, to: int, age: float, why: str, now: float) -> None:
        """The switch went to a path by itself."""
        if session.path != to:
            before = session.path
            session.note(to, why)
            self._moved(session, before, age, now)

    def _move(self, session: Session, to: int, why: str, now: float, unanswered: float | None = None) -> None:
        """Let the switch go to a path."""
        before = session.path
        session.move(to, why)
        if unanswered is None:
            # While it explores nothing is heard, since who knows when; what has a schedule is heard by its other paths.
            is_silent = session.exploring and not self._tables.is_scheduled(session)
            unanswered = inf if is_silent else session.send_timeout
        self._moved(session, before, unanswered, now)

    def _moved(self, session: Session, before: int, unanswered: float, now: float) -> None:
        text = f"{words(session.name)}: from path {before} to {session.path}, {way(session.pair)}: {session.reason}"
        details: dict[str, Json] = {"from": before, "to": session.path, "reason": session.reason}
        self._outputs.event(now, "session.moved", session.number, text, Severity.WARNING, details)
        self.on_moved(session, now)
        self.want(session)
        # What got no answer on the old path goes again by the new one, so that TCP need not wait for its back-off.
        for original in self._held.again(session.name, unanswered, now):
            self._egress.submit(original)


def words(name: SessionKey) -> str:
    """Return a context's identities in words."""
    fork = f", fork {name.instance:#010x}" if name.instance else ""
    return f"{address_text(name.local)} with {address_text(name.peer)}{fork}"


def way(pair: Pair) -> str:
    """Return a path's locators in words."""
    return f"{address_text(pair.local)} to {address_text(pair.peer)}"
