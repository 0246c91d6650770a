"""Speaks Shim6 for the hosts of the edge, and keeps its sessions on the switch.

The endpoint proves and agrees (`wayname.shim6`); the switch carries packets, and goes from one path to the next by
itself. This is between them: what the endpoint says becomes entries, what the switch says becomes events and questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import finsy as fy

from wayname.config.session_rules import SessionRules
from wayname.edge.boundary import ForkSession, HostFound, Json, PairActive, UnforkSession
from wayname.edge.links import ReceivedPacket
from wayname.identity.errors import ProofError
from wayname.identity.locators import ProvableLocators
from wayname.p4_constants import Punt
from wayname.session.answers import SessionAnswer
from wayname.session.context import SessionContext
from wayname.session.errors import is_about_path, quoted_in
from wayname.session.failover import words
from wayname.session.keys import Pair, SessionKey
from wayname.session.lasting_secret import lasting_secret
from wayname.session.protocol import InputHandlers, PuntHandlers
from wayname.session.reap_failover import ReapFailover
from wayname.session.session import Session
from wayname.session.tables import want_prefixes
from wayname.session.watched_sessions import WatchedSessions, key_of
from wayname.shim6 import outputs as shim6
from wayname.shim6.config import SECTION, Security, Shim6
from wayname.shim6.context import Context, LocalHost
from wayname.shim6.edge import memory
from wayname.shim6.edge.fleet_contexts import FleetContexts
from wayname.shim6.edge.fork_teardown import ForkTeardown
from wayname.shim6.edge.forks import Forks
from wayname.shim6.edge.host_rules import HostRules, agreed
from wayname.shim6.edge.hosts import local_host
from wayname.shim6.edge.inspection import Shim6Inspection, Shim6RateLimitError
from wayname.shim6.endpoint import Endpoint
from wayname.shim6.keepalives import is_edge, keepalive_interval, tell_send_timeout
from wayname.shim6.locators import LocatorError, tell
from wayname.shim6.pairs import LocatorState, usable_pairs
from wayname.shim6.path_reports import agreed_with, tell_path_reports
from wayname.shim6.states import State
from wayname.wire import icmpv6
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.errors import ErrorCode
from wayname.wire.shim6.payload import BEFORE_SHIM6, PayloadHeader, is_payload

SECRET = "shim6-secret"

_WHY: dict[type[Exception], str] = {ProofError: "unproven", LocatorError: "unproven", Shim6RateLimitError: "too many"}


class Shim6Sessions(WatchedSessions):
    """All sessions of an edge; they may be looked at between calls."""

    _endpoint: Endpoint
    _failover: ReapFailover

    def __init__(self, means: SessionContext) -> None:
        super().__init__(means)
        self._failover = ReapFailover(self._sessions, means, self._tables, self._rate_limited_events, self._write_down)
        self._failover.on_moved = self._moved
        config = self._config = means.config
        sites = SECTION.of(config) or ()
        self.rules = HostRules(sites, means.outputs, self._rate_limited_events)
        secret = lasting_secret(SECRET, means.remembered, means.rng, means.outputs)
        self._endpoint = Endpoint(means.rng, self.rules.learn, secret)
        self._inspection = Shim6Inspection(means.rng)
        # Messages of hosts that speak Shim6 themselves which did not pass, by why.
        self.refused: Counter[str] = Counter()
        self._hosts: dict[IPv6Address, LocalHost] = {}
        self.fleet = None
        if means.config.fleet:
            self.fleet = FleetContexts(
                self._endpoint,
                self._hosts,
                self.rules.learn,
                means.outputs,
                self._rate_limited_events,
                means.rng,
                self._endpoint.establish,
            )
        self.forks = Forks()
        self._endings = ForkTeardown(self._egress.send)
        self._unfinished: list[SessionKey] = []
        self._deprecated: frozenset[IPv6Network] = frozenset()
        self._began = False
        want_prefixes(sites, means.outputs.desired)
        for rules in sites:
            for host in rules.hosts:
                self._hosts[host.address] = self._telling(local_host(rules, host), rules)
        self._recall(means.remembered)

    @property
    def punts(self) -> PuntHandlers:
        """By reason, who takes what the switch punts."""
        return {
            **super().punts,
            Punt.SHIM6: lambda arrival, now: self.packet(arrival.packet, now),
            Punt.SHIM6_UNKNOWN_TAG: lambda arrival, now: self.packet(arrival.packet, now),
            Punt.SHIM6_VERIFY: self.inspect,
            Punt.SESSION_ERROR: lambda arrival, now: self.error(arrival.packet, now),
        }

    @property
    def inputs(self) -> InputHandlers:
        """By type, who takes what else goes into the edge."""
        return {
            **super().inputs,
            PairActive: self.pair_active,
            HostFound: self.host_found,
            ForkSession: lambda wish, now: self.fork(wish.session, wish.local_port, wish.peer_port, now),
            UnforkSession: lambda wish, now: self.unfork(wish.session, now),
        }

    def _answer(self, session: Session) -> SessionAnswer:
        forks = [each.number for each in self.forks.among(session)]
        return super()._answer(session).model_copy(update={"forks": forks})

    def start(self, now: float) -> None:
        """The switch is there; the first time, go on with what an earlier controller left."""
        if not self._began:
            self._began = True
            self.rules.warn(now)
            for host in self._hosts.values():
                self._endpoint.serve(host, now)
                self._publish(host, now)
            for name, session in list(self._sessions.items()):
                context = self._endpoint.contexts.named(name)
                if name.local in self._hosts and context is not None:
                    # Its host may have other locators than under the configuration from before.
                    self._set_paths(session, context)
                    self._failover.begin(session, now)
                else:
                    self._endpoint.withdraw(name)
                    self._lost(name, "its host is not here any more", now)
            for name in self._unfinished:
                self._establish(name, now)
        self.next_hops_changed(now)

    def serve(self, host: ProvableLocators, now: float) -> None:
        """Speak for a host from now on, or tell its peers that it has other locators."""
        rules = self.rules.of(host.identity)
        if rules is None:
            return
        told = tell(host.identity, host.parameters, host.locators, host.generation, host.key)
        self._serve(self._telling(told, rules), now)

    def _telling(self, host: LocalHost, rules: SessionRules) -> LocalHost:
        """Return a host that tells its peers what they have to know beside its locators."""
        telling = tell_send_timeout(host, rules.told_send_timeout)
        return tell_path_reports(telling, self._config.schedules, buffers=self._config.switch.buffers)

    def _serve(self, host: LocalHost, now: float) -> None:
        self._hosts[host.ulid] = host
        self._endpoint.serve(host, now)
        if self._began:
            self._publish(host, now)
        self._paths_changed(host.ulid, now)
        self._take(now)

    def _publish(self, host: LocalHost, now: float) -> None:
        """Tell the fleet of a host whose locators can be proved."""
        rules = self.rules.of(host.ulid)
        if self.fleet and rules is not None and rules.security is not Security.NONE:
            self.fleet.publish(host, now)

    def deprecate(self, prefixes: Iterable[IPv6Network], now: float) -> None:
        """Use locators in these prefixes only where there is nothing better, and all others as before."""
        if self._deprecated == (deprecated := frozenset(prefixes)):
            return
        self._deprecated = deprecated
        for host in list(self._hosts.values()):
            self._paths_changed(host.ulid, now)
        self._take(now)

    def packet(self, packet: Packet, now: float) -> bool:
        """Take a Shim6 packet for a host of the edge, or an ICMPv6 error about the edge's own I1."""
        if self.fleet is None or not self.fleet.recognises(packet, now):
            self._endpoint.receive(packet, now)
            self._take(now)
        return True

    def host_found(self, found: HostFound, now: float) -> None:
        """The directory of the fleet answers."""
        if self.fleet is not None:
            self.fleet.found(found, now)
            self._take(now)

    def error(self, packet: Packet, now: float) -> bool:
        """Take an ICMPv6 error about a packet of a session, or about a message of ours."""
        message = icmpv6.Message.decode(packet)
        if not is_about_path(message):
            return self.packet(packet, now)
        context = self._endpoint.contexts.sending(*quoted_in(message))
        if context is None:
            raise DecodeError("the error quotes nothing of ours")
        session = self._sessions.get(context.name)
        if session is not None:
            self._failover.error(session, message, packet.source, now)
            self._take(now)
        return True

    def restored(self, packet: Packet) -> Packet:
        """Return a packet as the switch passes it on: one that bears a tag of ours has the identities again."""
        upper = packet.upper_layer(BEFORE_SHIM6)
        if upper.number != SHIM6 or not is_payload(upper.data):
            return packet
        context = self._endpoint.contexts.tagged(PayloadHeader.decode(upper.data).tag)
        return packet if context is None else replace(packet, source=context.name.peer, destination=context.name.local)

    def inspect(self, arrival: ReceivedPacket, now: float) -> bool:
        """A host that speaks Shim6 itself sends or gets a message: let it go on if it proves what it tells."""
        try:
            self._inspection.check(arrival.packet, arrival.interface.vlan, now)
        except (DecodeError, ProofError) as wrong:
            self.refused[_WHY.get(type(wrong), "malformed")] += 1
            text = f"a Shim6 message from {arrival.packet.source} to {arrival.packet.destination} was dropped: {wrong}"
            self._rate_limited_events.tell(now, "shim6.refused", arrival.packet.source, text)
            return True
        self._egress.submit(arrival.original)
        return True

    def pair_active(self, active: PairActive, now: float) -> None:
        """Two addresses exchanged enough to be worth a context."""
        name = SessionKey(active.source, active.destination)
        rules = self.rules.of(active.source)
        if rules is None or self.rules.of(active.destination) is not None or name in self._sessions:
            return
        if self.rules.let_begin(rules, active, len(self._endpoint.contexts), now):
            self._establish(name, now)
            self._take(now)

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """The hosts of a session, if there is one, have not talked for long."""
        name = key_of(entry)
        if name in self._sessions:
            self._endpoint.discard(name, now)
            self._take(now)

    def fork(self, number: int, local_port: int, peer_port: int, now: float) -> None:
        """Set up a context for the flows between two ports, beside the one that the hosts have."""
        session = self._by_number.get(number)
        if session is not None and self.forks.refusal(session, local_port, peer_port) is None:
            self._establish(self.forks.name(session, local_port, peer_port), now)
            self._take(now)

    def unfork(self, number: int, now: float) -> None:
        """End a fork: what our host sends is its session's again at once, and the peer is told."""
        session = self._by_number.get(number)
        if session is not None and session.fork is not None and not session.fork.ending:
            self._failover.paths.reap.forget(session.name)
            self._outputs.remember(memory.context_key(session.name), None)
            self._endings.begin(session, session.fork, now)
            self._failover.want(session)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        times = (super().next_timer(), self._endings.timers.next())
        return min((at for at in times if at is not None), default=None)

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due, so late."""
        super().handle_timer(now, late)
        for name in self._endings.over(now):
            self._endpoint.withdraw(name)
            self._unforked(name, "by command", now)

    def state_of(self, session: Session) -> str:
        """Return what is being done about a session."""
        if session.fork is not None and session.fork.ending:
            return "ends"
        context = self._endpoint.contexts.named(session.name)
        if context is not None and context.state is State.I2BIS_SENT:
            return "the peer lost its context: set up again"
        return "explores" if session.exploring else "works"

    def _recall(self, remembered: Mapping[str, Json]) -> None:
        """Take up contexts where an earlier controller left them; those of hosts that are gone are forgotten."""
        for name in memory.context_names(remembered):
            key = memory.context_key(name)
            written, rules = remembered[key], self.rules.of(name.local)
            if rules is None:
                self._outputs.remember(key, None)
            elif not isinstance(written, dict) or not written:
                self._unfinished.append(name)
            else:
                self._resume(name, rules, memory.read(name, written))

    def _resume(self, name: SessionKey, rules: Shim6, was: memory.PersistedContext) -> None:
        context = Context(name, was.tag, was.pair, was.pair, State.ESTABLISHED, was.peer_tag, was.known, was.told)
        self._endpoint.restore(context)
        session = Session(
            was.number,
            name,
            agreed(rules, was.known),
            was.tag,
            was.peer_tag,
            was.generation,
            keepalive_interval(was.known, rules.keepalive),
            was.path,
            was.paths,
            was.trusted,
            returning=was.returning,
            peer_is_edge=is_edge(was.known),
            preferences=was.preferences,
            reason="as before the controller was restarted",
        )
        agreed_with(was.known, self._hosts.get(name.local)).apply(session)
        self.forks.add(session)
        self._numbers.keep(was.number)
        self._sessions[name] = self._by_number[was.number] = session
        self._failover.want(session)

    def _establish(self, name: SessionKey, now: float) -> None:
        if name.local not in self._hosts:
            self._outputs.remember(memory.context_key(name), None)
        else:
            self._outputs.remember(memory.context_key(name), {})
            if self.fleet is None or not self.fleet.begins(name):
                self._endpoint.establish(name, now)

    def _take(self, now: float) -> None:
        """Carry out what endpoint and REAP say; entries come before the messages that let the peer use them."""
        while outputs := self._endpoint.take_outputs():
            for output in outputs:
                match output:
                    case shim6.Ready(name):
                        self._ready(name, now)
                    case shim6.Lost(name, trigger):
                        self._lost(name, trigger.name.lower().replace("_", " "), now)
                    case shim6.Failed(name, state):
                        self._failed(name, state, now)
                    case shim6.Received(name, message, pair):
                        self._failover.paths.reap.receive(name, message, pair, now)
                    case shim6.PeerError(name, ErrorCode.FORK_ENDED) if name.instance:
                        self._ended_by_peer(name, now)
                    case shim6.PeerError(name, code):
                        text = f"{words(name)}: the peer cannot process a message (error {code})"
                        self._rate_limited_events.tell(now, "session.error", name.local, text)
                    case shim6.Dropped(reason):
                        self._rate_limited_events.tell(
                            now, "shim6.dropped", "shim6", f"a Shim6 packet was dropped: {reason}"
                        )
            for output in outputs:
                if isinstance(output, shim6.Send):
                    self._egress.send(output.packet)
        self._failover.take(now)

    def _ready(self, name: SessionKey, now: float) -> None:
        """A context stands, or something about it is new."""
        context, rules = self._endpoint.contexts.named(name), self.rules.of(name.local)
        if context is None or context.peer_tag is None or rules is None:
            return
        self.rules.without_shim6.remove(name.peer)
        session = self._sessions.get(name)
        if session is not None and session.fork is not None and session.fork.ending:
            if session.peer_tag == context.peer_tag:
                return
            self._unforked(name, "the peer goes on with it", now)
            session = None
        if session is None:
            keepalive = keepalive_interval(context.known, rules.keepalive)
            rules = agreed(rules, context.known)
            session = self._new_session(name, rules, (context.tag, context.peer_tag), keepalive, now)
            if session is None:
                self._endpoint.discard(name, now)
                return
            session.peer_is_edge = is_edge(context.known)
            self.forks.add(session)
            self._set_paths(session, context)
            self._tell_up(session, now)
        else:
            session.tag, session.peer_tag = context.tag, context.peer_tag
            session.peer_is_edge = is_edge(context.known)
            session.rules = agreed(rules, context.known)
            session.keepalive = keepalive_interval(context.known, rules.keepalive)
            self._set_paths(session, context)
        self._failover.begin(session, now)
        self._failover.want(session)
        for each in self.forks.adopt(session):
            self._failover.want(each)

    def _paths_changed(self, host: IPv6Address, now: float) -> None:
        """The locators of a host are others, or for other uses."""
        for name, session in self._sessions.items():
            context = self._endpoint.contexts.named(name)
            if name.local == host and context is not None and self._began:
                self._set_paths(session, context)
                self._failover.begin(session, now)
                if self._state(session.pair.local) > self._state(session.ordered[0].local):
                    # Before its locator ends, so that nothing is under way to it then.
                    self._failover.paths.reap.displaced(session.name, now)
                self._failover.want(session)

    def _state(self, locator: IPv6Address) -> LocatorState:
        deprecated = any(locator in prefix for prefix in self._deprecated)
        return LocatorState.DEPRECATED if deprecated else LocatorState.PREFERRED

    def _set_paths(self, session: Session, context: Context) -> None:
        """Have a path for each pair of locators; a new session begins where its set-up showed the peer to be."""
        host = self._hosts[session.name.local]
        agreed_with(context.known, host).apply(session)
        local = {locator: self._state(locator) for locator in host.locators}
        pairs = usable_pairs(local, context.known, Pair(*session.name[:2]))
        session.set_pairs(pairs, session.paths.get(session.path, context.exchange))

    def _lost(self, name: SessionKey, why: str, now: float) -> None:
        self._outputs.remember(memory.context_key(name), None)
        session = self._sessions.get(name)
        if session is None:
            return
        self._end(name, why, now)
        self.forks.remove(session)
        for fork in self.forks.among(session):
            self._endpoint.discard(fork.name, now)

    def _ended_by_peer(self, name: SessionKey, now: float) -> None:
        """The peer has ended a fork, or answers that it did."""
        session = self._sessions.get(name)
        if session is not None and session.fork is not None:
            if not session.fork.ending:
                self._endings.tell(session)
            self._endpoint.withdraw(name)
            self._unforked(name, "by command" if session.fork.ending else "the peer ended the fork", now)

    def _unforked(self, name: SessionKey, why: str, now: float) -> None:
        self._endings.forget(name)
        self._lost(name, why, now)

    def _failed(self, name: SessionKey, state: State, now: float) -> None:
        if not name.instance:
            self.rules.without_shim6.add(name.peer, now)
        self._outputs.remember(memory.context_key(name), None)
        why = "the peer has no Shim6" if state is State.NO_SUPPORT else "the peer does not answer"
        self._outputs.event(now, "session.failed", name.local, f"{words(name)}: no session, {why}")

    def _moved(self, session: Session, now: float) -> None:
        self._endpoint.go_by(session.name, session.pair, now)

    def _write_down(self, session: Session) -> None:
        context = self._endpoint.contexts.named(session.name)
        if context is not None:
            written = memory.write_down(context, session, self._failover.paths.is_returning(session))
            self._outputs.remember(memory.context_key(session.name), written)
