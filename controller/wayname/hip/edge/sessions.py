"""Speaks HIP for the hosts of the edge, and keeps their sessions on the switch.

Associations prove who is at the other end and where it is (`wayname.hip`); what they agree on, a tag for packets of
either direction, becomes a session like any other: watched by the switch, moved from path to path, probed by REAP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from itertools import product

import finsy as fy

from wayname.config.session_rules import ProxyMode
from wayname.edge.boundary import AssociationAction, ChangeAssociation, DnsResponse, Json, PairActive, Severity
from wayname.edge.links import ReceivedPacket
from wayname.hip import outputs as hip
from wayname.hip.association import Association, LocalHost, Names, Tags
from wayname.hip.config import Hip
from wayname.hip.edge.directory import HipDirectory
from wayname.hip.edge.keys import Identities
from wayname.hip.endpoint import Endpoint
from wayname.hip.path_reports import SignedPathReports
from wayname.hip.records import Named
from wayname.hip.settings import Settings
from wayname.hip.states import Trigger
from wayname.hip.transports import Tagged
from wayname.p4_constants import Punt
from wayname.session.context import SessionContext
from wayname.session.errors import is_about_path, quoted_in
from wayname.session.failover import words
from wayname.session.keys import Pair, SessionKey
from wayname.session.path_reports import agreed, path_reports_of
from wayname.session.protocol import InputHandlers, PuntHandlers
from wayname.session.reap_failover import ReapFailover
from wayname.session.session import PathHealth, Session
from wayname.session.tables import want_prefixes
from wayname.session.watched_sessions import WatchedSessions, key_of
from wayname.timers import earliest
from wayname.wire import icmpv6
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import Keepalive, Probe, decode
from wayname.wire.shim6.payload import BEFORE_SHIM6, PayloadHeader, is_payload

COUNTER = "hip counter"
KEY = "hip"
MOST_WAITING = 1000
# How far the counter of R1s goes up at each start: further than its periods ever do.
COUNTER_STEP = 1 << 32


@dataclass(frozen=True, slots=True)
class HipAssociationView:
    """An association as people see it."""

    local: IPv6Address
    peer: IPv6Address
    association: Association


class HipSessions(WatchedSessions):
    """All sessions that the edge's hosts have by HIP; they may be looked at between calls."""

    _endpoint: Endpoint
    _failover: ReapFailover

    def __init__(self, config: Hip, identities: Identities, means: SessionContext) -> None:
        super().__init__(means)
        want_prefixes(config.rules, means.outputs.desired)
        self._failover = ReapFailover(self._sessions, means, self._tables, self._rate_limited_events, self._write_down)
        self.identities = identities
        self.config = config
        self._config = means.config
        nobody = config.rules[0].model_copy(update={"prefixes": ()})
        self._rules = next((each for each in config.rules if each.mode is ProxyMode.PROXY), nobody)
        self._hits = {identity.hit: address for address, identity in identities.items()}
        self.peers = {peer.address: peer.hit for peer in config.peers}
        self._configured = frozenset(self.peers)
        # An association may outlive what is known of its peer.
        self._by_peer_hit = {hit: address for address, hit in self.peers.items()}
        # Who is to be associated with a peer when its record is found.
        self._waiting: set[SessionKey] = set()
        self.directory: HipDirectory | None = None
        if config.names is not None:
            self.directory = HipDirectory(config.names, means.rng, means.outputs, self._found)
        self._by_tag: dict[int, Session] = {}
        self._by_peer_tag: dict[int, Session] = {}
        self._unfinished: list[SessionKey] = []
        self._began = False
        before = means.remembered.get(COUNTER)
        counter = (before if isinstance(before, int) else 0) + COUNTER_STEP
        means.outputs.remember(COUNTER, counter)
        settings = Settings(
            formats=(Tagged.number,),
            least_difficulty=config.difficulty,
            max_difficulty=config.max_difficulty,
            # The switch says when nothing passes any more.
            unused_time=float("inf"),
        )
        self._endpoint = Endpoint(means.rng, settings, self._objection, counter)
        self._recall(means.remembered)

    @property
    def punts(self) -> PuntHandlers:
        """By reason, who takes what the switch punts."""
        return {
            **super().punts,
            Punt.HIP: self.packet,
            Punt.SHIM6: lambda arrival, now: self.takes(arrival.packet, now),
            Punt.SHIM6_UNKNOWN_TAG: lambda arrival, now: self.takes(arrival.packet, now),
            Punt.SESSION_ERROR: lambda arrival, now: self.error(arrival.packet, now),
        }

    @property
    def inputs(self) -> InputHandlers:
        """By type, who takes what else goes into the edge."""
        return {
            **super().inputs,
            PairActive: self.pair_active,
            DnsResponse: self.answered,
            ChangeAssociation: lambda wish, now: self.change(wish.local, wish.peer, wish.wish, now),
        }

    def start(self, now: float) -> None:
        """The switch is there; the first time, set up again what an earlier controller had."""
        if not self._began:
            self._began = True
            for address, identity in self.identities.items():
                self._endpoint.serve(LocalHost(identity, self._locators(address), self._told(address)), now)
            if self.directory is not None:
                self.directory.publish(self.identities, now)
                for address in self.directory.peers:
                    self.directory.seek(address, now)
            for name in self._unfinished:
                self._connect(name, now)
        self.next_hops_changed(now)

    def packet(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take a HIP message for a host of the edge."""
        if not self._is_ours(arrival.packet.destination):
            return False
        self._endpoint.receive(arrival.packet, now)
        self._take(now)
        return True

    def takes(self, packet: Packet, now: float) -> bool:
        """Take a probe or a keepalive of a session; whatever else bears tags for these hosts is none of Shim6's."""
        if not self._is_ours(packet.destination):
            return False
        upper = packet.upper_layer(BEFORE_SHIM6)
        if upper.number == SHIM6 and not is_payload(upper.data):
            message = decode(upper.data)
            if isinstance(message, Probe | Keepalive) and (session := self._by_tag.get(message.tag)) is not None:
                pair = Pair(packet.destination, packet.source)
                if pair in session.paths.values():
                    self._failover.paths.reap.receive(session.name, message, pair, now)
                    self._take(now)
        return True

    def restored(self, packet: Packet) -> Packet:
        """Return a packet as the switch passes it on: one that bears a tag of ours has the hosts' addresses again."""
        upper = packet.upper_layer(BEFORE_SHIM6)
        if upper.number != SHIM6 or not is_payload(upper.data):
            return packet
        session = self._by_tag.get(PayloadHeader.decode(upper.data).tag)
        return packet if session is None else replace(packet, source=session.name.peer, destination=session.name.local)

    def error(self, packet: Packet, now: float) -> bool:
        """Take an ICMPv6 error about a packet of a session; others are none of Shim6's either."""
        if not self._is_ours(packet.destination):
            return False
        message = icmpv6.Message.decode(packet)
        if is_about_path(message):
            tag, pair = quoted_in(message)
            session = self._by_peer_tag.get(tag)
            if session is not None and pair in session.paths.values():
                self._failover.error(session, message, packet.source, now)
                self._take(now)
        return True

    def pair_active(self, active: PairActive, now: float) -> None:
        """Two addresses exchanged enough to be worth an association."""
        name = SessionKey(active.source, active.destination)
        is_new = name not in self._sessions and not self._rules.server
        if is_new and len(self._sessions) < self._rules.most and name.local in self.identities:
            self._connect(name, now)

    def unfinished(self) -> Iterator[PairActive]:
        """Yield pairs that wait for the DNS; exchanges that are under way are remembered."""
        for name in self._waiting:
            yield PairActive(name.local, name.peer, 0, 0.0, opened_here=True)

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """The hosts of a session, if there is one, have not talked for long."""
        name = key_of(entry)
        if name in self._sessions:
            self._endpoint.disconnect(self._names(name), now)
            self._take(now)

    def state_of(self, session: Session) -> str:
        """Return what is being done about a session."""
        return "explores" if session.exploring else "works"

    def change(self, local: IPv6Address, peer: IPv6Address, wish: AssociationAction, now: float) -> None:
        """Somebody wants something done about an association."""
        name = SessionKey(local, peer)
        if self.refusal(local, peer, wish) is not None:
            return
        match wish:
            case AssociationAction.CONNECT:
                self._connect(name, now)
            case AssociationAction.RENEW:
                self._endpoint.renew(self._names(name), now)
            case AssociationAction.CLOSE:
                self._endpoint.disconnect(self._names(name), now)
        self._take(now)

    def refusal(self, local: IPv6Address, peer: IPv6Address, wish: AssociationAction) -> str | None:
        """Say why something cannot be done about an association; None if it can."""
        if local not in self.identities:
            return f"{local} is no host that this edge speaks HIP for; `wayname hip hosts` lists them"
        if peer not in self.peers and not self._is_named(peer):
            return f"nobody said who is at {peer}; give it a [[hip.peer]]"
        session = self._sessions.get(SessionKey(local, peer))
        if wish is AssociationAction.CONNECT:
            return "there is one already" if session else None
        if session is None:
            return "there is none; `wayname hip associations` lists them"
        plain = session.path_of(Pair(local, peer))
        if wish is AssociationAction.RENEW and (plain is None or self.health(session, plain) is not PathHealth.WORKS):
            return "it is set up between the two addresses themselves, and nothing passes there now"
        if wish is AssociationAction.RENEW and not self._is_known(peer):
            return f"the DNS does not say any more who is at {peer}"
        return None

    def named(self, name: SessionKey) -> Session | None:
        """Return the session of two addresses."""
        return self._sessions.get(name)

    def difficulty(self, now: float) -> int:
        """Return how difficult a puzzle for who asks now is."""
        return self._endpoint.difficulty(now)

    def associations(self) -> list[HipAssociationView]:
        """Return all associations, those that are being set up or closed among them."""
        return [
            HipAssociationView(each.exchange.local, each.exchange.peer, each) for each in self._endpoint.associations
        ]

    def _take(self, now: float) -> None:
        """Carry out what endpoint and REAP say; entries come before the messages that let the peer use them."""
        outputs = self._endpoint.take_outputs()
        for output in outputs:
            match output:
                case hip.Up(standing) | hip.Changed(standing):
                    self._stands(standing, now)
                case hip.Gone(_, Trigger.RENEW):
                    # Packets go on with the old tags until there are new ones.
                    continue
                case hip.Gone(names, trigger):
                    self._gone(names, trigger.name.lower().replace("_", " "), now)
                case hip.Failed(names):
                    self._failed(names, now)
                case hip.Event(kind, text):
                    self._outputs.event(now, f"hip.{kind.value}", "hip", text, Severity.WARNING)
        for output in outputs:
            if isinstance(output, hip.Send):
                self._egress.send(output.packet)
        self._failover.take(now)

    def _stands(self, standing: hip.Standing, now: float) -> None:
        """An association stands, or something about it is new."""
        name = SessionKey(*standing.exchange)
        assert isinstance(standing.transport, Tags)
        tags = standing.transport.tag, standing.transport.peer_tag
        session = self._sessions.get(name)
        is_new = session is None
        if session is not None and tags != (session.tag, session.peer_tag):
            self._outputs.event(now, "hip.renewed", session.number, f"{words(name)}: new keys, new tags")
        if session is None:
            session = self._new_session(name, self._rules, tags, self._rules.keepalive, now)
            if session is None:
                self._endpoint.disconnect(standing.names, now)
                return
        self._forget_tags(session)
        session.hits = standing.names.local, standing.names.peer
        session.tag, session.peer_tag = tags
        self._by_tag[session.tag] = self._by_peer_tag[session.peer_tag] = session
        agreed(self._told(name.local), standing.path_reports).apply(session)
        # Without a locator that is proven packets stay where they are.
        pairs = self._pairs(standing) or session.ordered
        session.set_pairs(pairs, session.paths.get(session.path, standing.exchange))
        if is_new:
            self._tell_up(session, now)
        self._failover.begin(session, now)
        self._failover.want(session)

    def _pairs(self, standing: hip.Standing) -> list[Pair]:
        """Return a path for each pair of locators, that of the identities first."""
        pairs = [
            Pair(local, peer)
            for local, peer in product(self._locators(standing.exchange.local), standing.peer_locators)
        ]
        return sorted(pairs, key=lambda pair: pair != standing.exchange)

    def _gone(self, names: Names, why: str, now: float) -> None:
        name = self._addresses(names)
        session = self._sessions.get(name)
        if session is not None:
            self._forget_tags(session)
        self._outputs.remember(_key(name), None)
        self._end(name, why, now)

    def _forget_tags(self, session: Session) -> None:
        for known, tag in ((self._by_tag, session.tag), (self._by_peer_tag, session.peer_tag)):
            # Peers choose their tags at random; two of them may have chosen the same one.
            if known.get(tag) is session:
                del known[tag]

    def _failed(self, names: Names, now: float) -> None:
        name = self._addresses(names)
        self._outputs.remember(_key(name), None)
        self._outputs.event(
            now, "session.failed", name.local, f"{words(name)}: no session, {names.peer} does not answer"
        )
        if self.directory is not None and self._is_named(name.peer):
            # Perhaps it has another key now.
            self.directory.seek(name.peer, now)
        # One that was to be renewed.
        if name in self._sessions:
            self._gone(names, "the peer does not answer", now)

    def _connect(self, name: SessionKey, now: float) -> None:
        """Set an association up with a peer that is known, or will be."""
        if self._is_named(name.peer) and not self._is_known(name.peer):
            if len(self._waiting) < MOST_WAITING:
                self._waiting.add(name)
            return
        if name.local in self.identities and name.peer in self.peers:
            self._outputs.remember(_key(name), {})
            self._endpoint.connect(self._names(name), Pair(name.local, name.peer), now)
            self._take(now)

    def answered(self, answered: DnsResponse, now: float) -> None:
        """A DNS server says something."""
        if self.directory is not None:
            self.directory.answered(answered, now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((super().next_timer(), self.directory.next_timer() if self.directory else None))

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due, so late."""
        if self.directory is not None:
            self.directory.handle_timer(now)
        super().handle_timer(now, late)

    def _found(self, peer: IPv6Address, found: list[Named], now: float) -> None:
        """The DNS says who a peer is: one that we can speak to, and whom it names at no other address."""
        usable = [named.hit for named in found if self._by_peer_hit.get(named.hit, peer) == peer]
        if not usable:
            text = f"the DNS says that {peer} is {found[0].hit}, which is {self._by_peer_hit[found[0].hit]}"
            self._outputs.event(now, "names.wrong", peer, text, Severity.WARNING)
            return
        before = self.peers.get(peer)
        if before is not None and before not in usable:
            # It has another key now.
            for name in [SessionKey(local, peer) for local in self.identities]:
                if name in self._sessions:
                    self._endpoint.disconnect(self._names(name), now)
            self._take(now)
        if before not in usable:
            self.peers[peer] = usable[0]
            self._by_peer_hit[usable[0]] = peer
        for name in [name for name in self._waiting if name.peer == peer]:
            self._waiting.discard(name)
            self._connect(name, now)

    def _recall(self, remembered: Mapping[str, Json]) -> None:
        """Take note of what is to be set up again; keys are never written down (RFC 7401, section 6.16)."""
        for key, written in remembered.items():
            kind, *addresses = key.split()
            if kind != KEY or len(addresses) != 2:
                continue
            local, peer = map(IPv6Address, addresses)
            self._unfinished.append(SessionKey(local, peer))
            if isinstance(written, dict):
                number, generation = written.get("number"), written.get("generation")
                if isinstance(number, int) and isinstance(generation, int):
                    # Its number is free, and its next session is another one to the switch.
                    self._numbers.keep(number)
                    self._numbers.free(number, generation)

    def _write_down(self, session: Session) -> None:
        self._outputs.remember(_key(session.name), {"number": session.number, "generation": session.generation})

    def _objection(self, names: Names, pair: Pair) -> str | None:
        """Say why a peer is not wanted: who it is and where hosts know it must be configured."""
        if self._hits.get(names.local) != pair.local:
            return f"{names.local} is not at {pair.local}"
        if self.peers.get(pair.peer) != names.peer or not self._is_known(pair.peer):
            return f"nobody said that {names.peer} is at {pair.peer}"
        return None

    def _is_named(self, peer: IPv6Address) -> bool:
        """Whether the DNS is asked who is at an address."""
        return self.directory is not None and peer in self.directory.peers

    def _is_known(self, peer: IPv6Address) -> bool:
        """Whether it is known who is at an address; records of the DNS are believed as long as they live."""
        return peer in self._configured or (self.directory is not None and peer in self.directory.known)

    def _names(self, name: SessionKey) -> Names:
        return Names(self.identities[name.local].hit, self.peers[name.peer])

    def _addresses(self, names: Names) -> SessionKey:
        return SessionKey(self._hits[names.local], self._by_peer_hit[names.peer])

    def _locators(self, address: IPv6Address) -> tuple[IPv6Address, ...]:
        """Return where a host is reached: at its address, and with the same interface identifier in each prefix."""
        others = (prefix[int(address) & (1 << 64) - 1] for prefix in self._rules.prefixes if address not in prefix)
        return (address, *others)

    def _told(self, address: IPv6Address) -> SignedPathReports | None:
        """Return what the peers of a host are told of path reports."""
        buffers = self._config.switch.buffers
        return path_reports_of(SignedPathReports, address, self._config.schedules, buffers=buffers)

    def _is_ours(self, address: IPv6Address) -> bool:
        return any(address in prefix for prefix in self._rules.prefixes)


def _key(name: SessionKey) -> str:
    """Return what a session is written down under."""
    return f"{KEY} {name.local} {name.peer}"
