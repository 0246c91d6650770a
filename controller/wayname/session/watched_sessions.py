"""What is done for watched sessions of any protocol: keep them on paths that work, and say how they are."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from ipaddress import IPv6Address
from typing import Protocol

import finsy as fy

from wayname.config.session_rules import SessionRules
from wayname.edge.boundary import IdleEntry, MoveSession, PreferPath, SessionEvent, Severity
from wayname.edge.links import ReceivedPacket
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.p4_constants import WATCHED_SESSIONS, Punt
from wayname.session.answers import Path, SessionAnswer
from wayname.session.context import SessionContext
from wayname.session.failover import Failover, words
from wayname.session.keys import Pair, SessionKey
from wayname.session.protocol import InputHandlers, PathsOfSession, PuntHandlers, SessionManager, SessionPath
from wayname.session.session import PathHealth, Session
from wayname.session.tables import SessionTables
from wayname.timers import earliest

# Of the sessions that a next hop concerns so many are looked at in a turn, so that others need not wait for all.
SESSIONS_A_TURN = 64


class TimedEndpoint(Protocol):
    """An endpoint of a protocol, as far as time goes."""

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""

    def handle_timer(self, now: float) -> None:
        """Do what is due."""


class WatchedSessions(SessionManager):
    """The sessions of one protocol; they may be looked at between calls."""

    _endpoint: TimedEndpoint
    _failover: Failover

    def __init__(self, means: SessionContext) -> None:
        self._numbers = means.numbers
        self._egress = means.egress
        outputs = self._outputs = means.outputs
        self._rate_limited_events = RateLimitedEvents(outputs)
        self._sessions: dict[SessionKey, Session] = {}
        self._by_number: dict[int, Session] = {}
        # Those to look at since a next hop is up or down, and since when they wait.
        self._concerned: deque[SessionKey] = deque()
        self._waiting_since = 0.0
        self._tables = SessionTables(
            means.providers.table_of, means.schedules, means.preferences.policies, outputs.desired
        )

    @abstractmethod
    def _write_down(self, session: Session) -> None:
        """Write down what another controller must know of a session."""

    @abstractmethod
    def _take(self, now: float) -> None:
        """Carry out what the protocol says."""

    @abstractmethod
    def state_of(self, session: Session) -> str:
        """Return what is being done about a session."""

    @abstractmethod
    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """The hosts of a session, if there is one, have not talked for long."""

    @property
    def punts(self) -> PuntHandlers:
        """By reason, who takes what the switch punts."""
        return {Punt.SESSION_HELD: self.hold}

    @property
    def inputs(self) -> InputHandlers:
        """By type, who takes what else goes into the edge."""
        return {
            SessionEvent: self.switch_event,
            IdleEntry: lambda idle, now: self.idle(idle.entry, now),
            MoveSession: lambda wish, now: self.move(wish.session, wish.path, now),
            PreferPath: lambda wish, now: self.prefer(wish.session, wish.policy, wish.path, now),
        }

    def hosts(self) -> Iterator[IPv6Address]:
        """Yield the identities here that sessions are of."""
        return (name.local for name in self._sessions)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        concerned = self._waiting_since if self._concerned else None
        return earliest((self._endpoint.next_timer(), self._failover.next_timer(), concerned))

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due, so late."""
        self._failover.handle_timer(now, late)
        self._endpoint.handle_timer(now)
        self._look_at_concerned(now)
        self._take(now)

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions.values())

    def numbered(self, number: int) -> Session | None:
        """Return a session by its number."""
        return self._by_number.get(number)

    def hold(self, arrival: ReceivedPacket, now: float) -> bool:
        """Keep a copy of the last packet of a session that may not have arrived."""
        session = self._sessions.get(SessionKey(arrival.packet.source, arrival.packet.destination))
        if session is not None:
            self._failover.hold(session, arrival, now)
        return session is not None

    def switch_event(self, switch_event: SessionEvent, now: float) -> None:
        """The switch found something out about a session."""
        session = self._by_number.get(switch_event.session)
        if session is not None:
            self._failover.switch_event(session, switch_event, now)
            self._take(now)

    def next_hops_changed(self, now: float) -> None:
        """A next hop is up or down: look at all sessions, some in each turn."""
        self._concerned = deque(self._sessions)
        self._look_at_concerned(now)
        self._take(now)

    def _look_at_concerned(self, now: float) -> None:
        for _ in range(min(len(self._concerned), SESSIONS_A_TURN)):
            session = self._sessions.get(self._concerned.popleft())
            if session is not None:
                self._failover.next_hops_changed(session, now)
        self._waiting_since = now

    def move(self, number: int, path: int, now: float) -> None:
        """Somebody wants a session to use a path."""
        session = self._by_number.get(number)
        if session is not None and path in session.paths and path != session.path:
            self._failover.move(session, path, "by command", now)
            self._take(now)

    def prefer(self, number: int, policy: str, path: int | None, now: float) -> None:
        """Somebody wants flows of a policy to use a path, or the one that the policy says."""
        session = self._by_number.get(number)
        if session is not None and (path is None or path in session.paths):
            self._failover.prefer(session, policy, path, now)
            self._take(now)

    def numbers(self) -> Iterable[int]:
        """Return the numbers of its sessions."""
        return self._by_number.keys()

    def paths_of_sessions(self) -> Iterator[PathsOfSession]:
        """Yield the paths of the sessions that there are now, for who counts very many; they may change meanwhile."""
        answers = self._failover.paths.answers
        for session in list(self):
            paths = [
                SessionPath(pair, number == session.path, *answers(session, pair))
                for number, pair in session.paths.items()
            ]
            yield PathsOfSession(session.name.peer, paths)

    def answer(self, number: int) -> SessionAnswer | None:
        """Return a session as the API tells of it, without what passed it; None if it is not among these."""
        session = self._by_number.get(number)
        return self._answer(session) if session else None

    def _answer(self, session: Session) -> SessionAnswer:
        return SessionAnswer(
            number=session.number,
            local=str(session.name.local),
            peer=str(session.name.peer),
            path=session.path,
            reason=session.reason,
            numbered=session.numbered,
            in_order=session.in_order,
            takes_copies=session.takes_copies,
            generation=session.generation,
            send_timeout=session.send_timeout,
            keepalive=session.keepalive,
            state=self.state_of(session),
            fork_of=session.fork.of if session.fork else None,
            ports=(session.fork.local_port, session.fork.peer_port) if session.fork else None,
            preferred=self.preferred(session),
            replicated=self._tables.replicated(session, self.preferred(session)),
            forks=[],
            paths=[
                Path(
                    number=number,
                    local=str(pair.local),
                    peer=str(pair.peer),
                    provider=self.provider_of(pair.local),
                    header=not session.is_plain(pair),
                    state=self.health(session, number),
                    backup=self.backup_of(session, number),
                )
                for number, pair in session.paths.items()
            ],
        )

    def preference_refusal(self, session: Session, policy: str) -> str | None:
        """Return why flows of a policy may not have a path of their own in a session."""
        return self._failover.paths.preference_refusal(session, policy)

    def preferred(self, session: Session) -> dict[str, int]:
        """Return the paths of flows that do not go as their session does, by policy."""
        return self._failover.paths.preferred(session)

    def may_move(self, number: int, path: str) -> tuple[int | None, str]:
        """Return the path that a number or "LOCAL,PEER" names if a session may move there, or why it may not."""
        session = self._by_number[number]
        wanted, refusal = self._path_named(session, path)
        if wanted is None:
            return None, refusal
        health = self.health(session, wanted)
        if health is not PathHealth.WORKS:
            return None, f"path {wanted} is not proven to work: {health}"
        return wanted, ""

    def may_prefer(self, number: int, policy: str, path: str | None) -> tuple[int | None, str]:
        """Return the path that is named if flows of a policy may take it in a session, or why they may not."""
        session = self._by_number[number]
        refusal = self.preference_refusal(session, policy)
        if refusal is not None or path is None:
            return None, refusal or ""
        return self._path_named(session, path)

    def _path_named(self, session: Session, path: str) -> tuple[int | None, str]:
        """Return the path that a number or "LOCAL,PEER" names, or why there is none."""
        if path.isdigit():
            number = next((number for number in session.paths if str(number) == path), None)
            refusal = f"session {session.number} has no path {path}"
        else:
            try:
                number = session.path_of(Pair(*map(IPv6Address, path.split(","))))
            except (TypeError, ValueError):
                return None, f"{path!r} is neither the number of a path nor LOCAL,PEER"
            refusal = f"nothing proves that {path} are locators of the two hosts"
        if number is None:
            return None, f"{refusal}; `wayname session {session.number}` shows its paths"
        return number, ""

    def health(self, session: Session, path: int) -> PathHealth:
        """Return what is known of a path."""
        return self._failover.paths.health(session, path)

    def backup_of(self, session: Session, path: int) -> int | None:
        """Return where the switch goes from a path that does not answer."""
        return self._failover.paths.backups(session).get(path)

    def provider_of(self, address: IPv6Address) -> str | None:
        """Return the name of the provider by which packets from an address leave."""
        provider = self._egress.provider(address)
        return provider.name if provider else None

    def _new_session(
        self, name: SessionKey, rules: SessionRules, tags: tuple[int, int], keepalive: float, now: float
    ) -> Session | None:
        """Return a session that has no paths yet; None if the switch has no room for it."""
        # Rather a session whose paths nobody watches than none.
        numbered = self._numbers.take() or self._numbers.take_unwatched()
        if numbered is None:
            text = f"{words(name)}: the switch has no room for another session"
            self._outputs.event(now, "session.full", name.local, text, Severity.ERROR)
            return None
        number, generation = numbered
        if number >= WATCHED_SESSIONS:
            text = (
                f"{words(name)}: the switch watches {WATCHED_SESSIONS - 1} sessions and not this one: it does not move"
            )
            self._rate_limited_events.tell(now, "session.unwatched", name.local, f"{text} by itself")
        session = Session(number, name, rules, *tags, generation, keepalive)
        self._sessions[name] = self._by_number[number] = session
        return session

    def _tell_up(self, session: Session, now: float) -> None:
        paths = len(session.paths)
        text = f"{words(session.name)}: a session with {paths} {'path' if paths == 1 else 'paths'}"
        self._outputs.event(now, "session.up", session.number, text)

    def _end(self, name: SessionKey, why: str, now: float) -> None:
        """Forget a session, if there is one."""
        session = self._sessions.pop(name, None)
        if session is None:
            return
        del self._by_number[session.number]
        self._failover.forget(session)
        self._numbers.free(session.number, session.generation)
        self._outputs.event(now, "session.down", session.number, f"{words(name)}: the session ends ({why})")


def key_of(entry: fy.P4TableEntry) -> SessionKey:
    """Return the session that an entry of identities is of."""
    return SessionKey(IPv6Address(entry["local"]), IPv6Address(entry["remote"]))
