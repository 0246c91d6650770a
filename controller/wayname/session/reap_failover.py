"""From path to path: what the switch did by itself, what REAP found out, what a provider's end or a command demands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import IPv6Address

from wayname.edge.boundary import SessionEvent, Severity
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.outbox import Send
from wayname.p4_constants import PacketOutKind, SessionEventKind
from wayname.session.context import SessionContext
from wayname.session.errors import doubtful, for_host, is_on
from wayname.session.failover import Failover, way, words
from wayname.session.keys import SessionKey
from wayname.session.paths import ReapPathSelection, timing
from wayname.session.reap import outputs as reap
from wayname.session.reap.states import State
from wayname.session.session import Session
from wayname.session.tables import SessionTables
from wayname.wire import icmpv6
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import NO_NEXT_HEADER, Keepalive, encode


class ReapFailover(Failover):
    """Keeps each session on a path that works, and the switch informed about where to go from it."""

    def __init__(
        self,
        sessions: Mapping[SessionKey, Session],
        means: SessionContext,
        tables: SessionTables,
        rate_limited_events: RateLimitedEvents,
        write_down: Callable[[Session], None],
    ) -> None:
        super().__init__(means, tables, write_down)
        egress = means.egress
        self.paths: ReapPathSelection = ReapPathSelection(
            means.rng, egress.is_open, egress.is_one_way, means.preferences
        )
        self._sessions = sessions
        self._rate_limited_events = rate_limited_events

    def begin(self, session: Session, now: float) -> None:
        """Look after a session from now on."""
        self.paths.watch(session, now)

    def forget(self, session: Session) -> None:
        """Look after a session no more."""
        self.paths.reap.forget(session.name)
        super().forget(session)

    def switch_event(self, session: Session, switch_event: SessionEvent, now: float) -> None:
        """The switch found something out."""
        watch, name = self.paths.reap, session.name
        to = session.paths.get(switch_event.path_to)
        match switch_event.kind:
            case SessionEventKind.WATCH:
                watch.awaiting(name, switch_event.age, now)
            case SessionEventKind.SILENT:
                watch.silent(name, switch_event.age, now)
            case SessionEventKind.LEFT_PATH if to is not None:
                left = session.paths.get(switch_event.path_from, session.pair)
                if watch.left_path(name, left, to, switch_event.age, now):
                    # Probes tell the peer: they go before what may fill the path's queue.
                    self.take(now)
                    self._went(
                        session, switch_event.path_to, switch_event.age, f"no answer for {switch_event.age:.3f} s", now
                    )
            case SessionEventKind.FOLLOWED if to is not None:
                watch.followed(name, to, now)
                self._went(session, switch_event.path_to, switch_event.age, "the peer moved it", now)
            case SessionEventKind.UNANSWERED:
                silent = f"no answer for {switch_event.age:.3f} s by {way(session.pair)}"
                text = f"{words(name)}: {silent}, and no other path is proven"
                if watch.unanswered(name, switch_event.age, now):
                    self._outputs.event(now, "session.unanswered", session.number, text, Severity.WARNING)
            case SessionEventKind.HEARD:
                watch.heard(name, now)

    def next_hops_changed(self, session: Session, now: float) -> None:
        """A provider is gone or is there again: leave paths that are dead for certain."""
        if session.pair in self.paths.reap.verified(session.name):
            # The one that it was set up by has worked without a word of REAP.
            session.trusted |= {session.path}
        left = self._leave_closed(session, now)
        self.paths.watch(session, now)
        if left:
            self.paths.reap.displaced(session.name, now)
        self.want(session)

    def move(self, session: Session, to: int, why: str, now: float) -> None:
        """Somebody wants a session to use a path."""
        self._move(session, to, why, now)
        self.paths.reap.moved(session.name, session.pair, now)
        self.want(session)

    def prefer(self, session: Session, policy: str, path: int | None, now: float) -> None:
        """Somebody wants flows of a policy to use a path, or the one that the policy says."""
        super().prefer(session, policy, path, now)
        self.paths.watch(session, now)

    def error(self, session: Session, message: icmpv6.Message, source: IPv6Address, now: float) -> None:
        """A router says that a packet of a session did not pass: its host is told, or the path is looked at."""
        why = doubtful(message)
        if why is None:
            self._egress.deliver(for_host(session, message).packet(source, session.name.local))
        elif is_on(session, message):
            self.paths.reap.doubt(session.name, f"{source} says: {why}", now)

    def take(self, now: float) -> None:
        """Carry out what REAP says."""
        for output in self.paths.reap.take_outputs():
            match output:
                case Send(packet):
                    self._egress.send(packet)
                    continue
                case reap.Dropped(name, reason):
                    self._rate_limited_events.tell(now, "shim6.dropped", name.peer, f"{words(name)}: {reason}")
                    continue
            session = self._sessions.get(output.name)
            if session is not None:
                self._carry_out(session, output, now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self.paths.reap.next_timer()

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due, so late."""
        self.paths.reap.handle_timer(now, late)
        self.take(now)

    def _carry_out(self, session: Session, output: reap.Output, now: float) -> None:
        name = session.name
        match output:
            case reap.Check() if session.fork is not None:
                # The switch looks at the session of the identities only; what the host sends next makes it look here.
                return
            case reap.KeepaliveWanted() if session.fork is not None:
                keepalive = encode(Keepalive(session.peer_tag))
                self._egress.send(Packet(session.pair.local, session.pair.peer, SHIM6, keepalive))
            case reap.Check():
                self._egress.within(PacketOutKind.CHECK, Packet(name.local, name.peer, NO_NEXT_HEADER, b""))
            case reap.Answered():
                self._egress.arrive(
                    Packet(session.pair.peer, session.pair.local, SHIM6, encode(Keepalive(session.tag)))
                )
            case reap.RoundTrip(_, longest):
                if session.adapt(longest):
                    self.paths.reap.set_timing(name, timing(session), now)
                    self.want(session)
            case reap.KeepaliveWanted():
                message = encode(Keepalive(session.peer_tag))
                self._egress.within(PacketOutKind.KEEPALIVE, Packet(name.local, name.peer, SHIM6, message))
            case reap.Move(_, pair, why, unanswered):
                to = session.path_of(pair)
                if to is not None and to != session.path:
                    self._move(session, to, why, now, unanswered)
            case reap.Verified(_, pair):
                session.failed.pop(pair, None)
                path = session.path_of(pair)
                if path is not None:
                    session.trusted |= {path}
                self.want(session)
            case reap.Unverified(_, pair, why):
                text = f"{words(name)}: the path {way(pair)} does not work: {why}"
                self._outputs.event(now, "path.down", session.number, text, Severity.WARNING)
                session.failed[pair] = why
                self.want(session)
            case reap.Entered(_, state, why):
                self._entered(session, state, why, now)

    def _entered(self, session: Session, state: State, why: str, now: float) -> None:
        if session.exploring == (state is State.OPERATIONAL):
            session.exploring = not session.exploring
            kind, what = ("exploring", "look for a way") if session.exploring else ("recovered", "reach each other")
            self._outputs.event(now, f"session.{kind}", session.number, f"{words(session.name)} {what}: {why}")
        self.want(session)
