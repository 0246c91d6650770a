"""Speaks ILNP for the hosts of the edge, and keeps its sessions on the switch.

The endpoint admits and agrees (`wayname.ilnp`); the switch carries packets. This is between them: what the endpoint
says becomes entries, what the switch and the DNS say becomes questions to the endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv6Address

import finsy as fy

from wayname.config.model import Provider
from wayname.edge.boundary import DnsResponse, DrainProvider, FlowAdmitted, FlowEvent, IdleEntry, PairActive
from wayname.edge.links import ReceivedPacket
from wayname.ilnp import outputs as ilnp
from wayname.ilnp.cache import Entry, Names
from wayname.ilnp.config import Ilnp
from wayname.ilnp.edge import memory
from wayname.ilnp.edge.answers import paths_of, session_answer
from wayname.ilnp.edge.border import SiteBorder
from wayname.ilnp.edge.directory import IlnpDirectory
from wayname.ilnp.edge.draining import DrainedProviders
from wayname.ilnp.edge.errors import for_host
from wayname.ilnp.edge.events import EndpointEvents
from wayname.ilnp.edge.kept_sessions import KeptSessions
from wayname.ilnp.edge.openings import MOST_FOUND, Openings
from wayname.ilnp.edge.session import IlnpSession
from wayname.ilnp.edge.sites import Sites
from wayname.ilnp.edge.tables import IlnpTables, want_sites
from wayname.ilnp.edge.waiting import WaitingMessages, WaitingPairs
from wayname.ilnp.endpoint import Endpoint, SeenFlow
from wayname.ilnp.locator_update import Listed
from wayname.ilnp.locators import Host
from wayname.ilnp.lookup import Found
from wayname.ilnp.policies import AdmissionPolicy, Count, PrefixRate, Resources
from wayname.ilnp.settings import Settings
from wayname.ilnp.states import Segment, State
from wayname.ilnp.vectors import NID, Vector
from wayname.p4_constants import Punt
from wayname.session.answers import SessionAnswer
from wayname.session.context import SessionContext
from wayname.session.lasting_secret import lasting_secret
from wayname.session.protocol import InputHandlers, PathsOfSession, PuntHandlers, SessionManager
from wayname.timers import earliest
from wayname.wire import icmpv6
from wayname.wire.ipv6 import Packet

SECRET = "ilnp-secret"


class IlnpSessions(SessionManager):
    """All sessions between identifiers of an edge; they may be looked at between calls."""

    def __init__(self, rules: Ilnp, means: SessionContext, border: SiteBorder) -> None:
        self.rules = rules
        self.border = border
        self._numbers = means.numbers
        egress = self._egress = means.egress
        outputs = self._outputs = means.outputs
        rng = self._rng = means.rng
        remembered = self._remembered = means.remembered
        self._endpoint: Endpoint | None = None
        self._hosts: dict[NID, Host] = {}
        self._messages = WaitingMessages()
        self._pairs = WaitingPairs()
        self._events = EndpointEvents(outputs)
        drained = self._drained = DrainedProviders(egress, remembered, outputs)
        self._sites = Sites(rules, egress.is_open, drained.is_drained)
        self._tables = IlnpTables(means.providers.table_of, drained.is_usable, means.schedules, rules, outputs.desired)
        self._sessions = KeptSessions(means, drained, self._tables)
        want_sites(rules, outputs.desired)
        self._openings = Openings(rules, outputs.desired)
        self.directory: IlnpDirectory | None = None
        if rules.names is not None:
            self.directory = IlnpDirectory(rules.names, rng, outputs, self._found)

    @property
    def punts(self) -> PuntHandlers:
        """By reason, who takes what the switch punts."""
        return {
            Punt.SESSION_REQUEST: self.packet,
            Punt.NONCE_UNKNOWN: self.packet,
            Punt.LOCATOR_UPDATE: lambda arrival, now: self.border.takes(arrival, now) or self.packet(arrival, now),
            Punt.ILNP_ERROR: self.error,
        }

    @property
    def inputs(self) -> InputHandlers:
        """By type, who takes what else goes into the edge."""
        return {
            PairActive: self.pair_active,
            FlowAdmitted: self.flow,
            FlowEvent: self.border.switch_event,
            DnsResponse: self.answered,
            DrainProvider: lambda wish, now: self.drain(wish.name, wish.leaving, now),
            IdleEntry: lambda idle, now: self.idle(idle.entry, now),
        }

    def hosts(self) -> Iterator[IPv6Address]:
        """Yield the identities here that sessions are of."""
        return (session.stands.local_identity for session in self._sessions.values())

    def __iter__(self) -> Iterator[IlnpSession]:
        return iter(self._sessions.values())

    def numbers(self) -> Iterable[int]:
        """Return the numbers of its sessions."""
        return self._sessions.numbers()

    def paths_of_sessions(self) -> Iterator[PathsOfSession]:
        """Yield the paths of the sessions that there are now, for who counts very many; they may change meanwhile."""
        for session in list(self):
            yield paths_of(session)

    def answer(self, number: int) -> SessionAnswer | None:
        """Return a session as the API tells of it, without what passed it; None if it is not among these."""
        session = self._sessions.numbered(number)
        return session_answer(session, self.entry(session.names), self._egress) if session else None

    def may_move(self, number: int, path: str) -> tuple[int | None, str]:
        """Return that no session moves to a path by command."""
        return None, "ILNP goes by preference; `wayname ilnp drain PROVIDER` changes it"

    def entry(self, names: Names) -> Entry | None:
        """Return what the cache has of a session."""
        return self._endpoint.cache.named(names) if self._endpoint else None

    @property
    def places(self) -> int:
        """How many places of the cache are taken, by sessions and by what hosts here asked for."""
        return self._endpoint.places if self._endpoint else 0

    @property
    def admitted(self) -> int:
        """How many sessions were admitted."""
        return self._sessions.admitted

    @property
    def told(self) -> Mapping[str, int]:
        """By kind, how often the endpoint told of something."""
        return self._events.told

    @property
    def resources_used(self) -> float:
        """How much of the switch's room for sessions is in use, from 0 to 1."""
        return self._numbers.used

    def provider_state(self, provider: Provider) -> str:
        """Return in a word what sessions make of a provider."""
        return self._drained.state_of(provider)

    def provider_of(self, address: IPv6Address) -> str | None:
        """Return the name of the provider by which packets from an address leave."""
        provider = self._egress.provider(address)
        return provider.name if provider else None

    def is_open(self, address: IPv6Address) -> bool:
        """Whether packets from an address can leave."""
        return self._egress.is_open(address)

    def speaks_for(self, address: IPv6Address) -> bool:
        """Whether the edge speaks ILNP for the host of an address."""
        return self._sites.of(address) is not None

    def start(self, now: float) -> None:
        """The switch is there; the first time, go on with what an earlier controller left."""
        if self._endpoint is None:
            self._endpoint = Endpoint(self._rng, now, self._settings(), self._policies())
            self._recall(self._endpoint, now)
            if self.directory is not None:
                self.directory.watch(list(self.directory.peers)[:MOST_FOUND], now)
        self.next_hops_changed(now)

    def become_backup(self, now: float) -> None:
        """The switch is there, and another edge acts for the site: want the sessions that that one wrote down."""
        for was in memory.sessions(self._remembered, now):
            local = was.entry.local_identity.address
            if self.speaks_for(local):
                self._tables.want(self._sessions.take_up(was, self._sites.host(local), now))

    def pair_active(self, active: PairActive, now: float) -> None:
        """Two addresses exchanged enough to be worth a session, and no host here has only answered."""
        if self._endpoint is None or not self.speaks_for(active.source) or self._sites.is_inside(active.destination):
            return
        local, peer = Vector.of(active.source), Vector.of(active.destination)
        if self.entry(Names(local.nid, peer.nid)) is not None:
            return
        self._serve(active.source, now)
        directory = self.directory
        if directory is not None and directory.name_of(peer.nid) is not None and not self._pairs.is_full:
            self._pairs.add(peer.nid, active)
            directory.seek(peer.nid, now)
        else:
            self._connect(active, (), now)
        self._take(now)

    def packet(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take a message of ILNP for a host of the edge, or a packet of whose nonce nothing is known."""
        if self._endpoint is None:
            return False
        destination = arrival.packet.destination
        if Vector.of(destination).nid not in self._hosts:
            known = [address for address in self._sites.addresses(destination) if self._egress.is_here(address)]
            if not known:
                # Who was never heard of has the address in the first prefix, if any.
                for address in self._sites.addresses(destination)[:1]:
                    self._messages.add(address, arrival)
                    self._egress.look_for(address, now)
                return True
            self._serve(known[0], now)
        before = len(self._sessions)
        self._endpoint.receive(arrival.packet, now)
        self._take(now)
        if self.rules.naive and len(self._sessions) > before:
            self._egress.submit(arrival.original)
        return True

    def unfinished(self) -> Iterator[PairActive]:
        """Yield pairs that wait for the DNS, or for their peers to answer."""
        yield from self._pairs
        for local, peer in self._endpoint.asked() if self._endpoint else ():
            yield PairActive(local.address, peer.address, 0, 0.0, opened_here=True)

    def is_here(self, address: IPv6Address, now: float) -> None:
        """Somebody has an address of ours: take the message that waited for it."""
        arrival = self._messages.take(address)
        if arrival is not None:
            self.packet(arrival, now)

    def error(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take an ICMPv6 error about a packet that a host here sent, or about a request of the edge."""
        if self._endpoint is None:
            return False
        message = icmpv6.Message.decode(arrival.packet)
        if message.type == icmpv6.PARAMETER_PROBLEM:
            refusing = self._openings.refused(message, now)
            if refusing is not None:
                text = f"{refusing} does not know the nonce option: TCP to it opens without"
                self._outputs.event(now, "ilnp.without", "ilnp", text)
                return True
            self._endpoint.receive(arrival.packet, now)
            self._take(now)
            return True
        session, told = for_host(message, self._sessions)
        self._egress.deliver(told.packet(arrival.packet.source, session.stands.local_identity))
        return True

    def flow(self, flow: FlowAdmitted, now: float) -> None:
        """The switch saw both ends of a TCP flow."""
        if self._endpoint is None or not self.speaks_for(flow.local):
            return
        self._serve(flow.local, now)
        segments = (Segment.SYN, Segment.SYN_ACK, Segment.ACK)
        seen = SeenFlow(
            Vector.of(flow.local),
            Vector.of(flow.peer),
            flow.nonce_to_peer,
            flow.nonce_from_peer,
            segments,
            flow.opened_here,
        )
        self._endpoint.tcp(seen, now)
        self._take(now)

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """Nothing passed between two identities for long."""
        names = Names(Vector.of(IPv6Address(entry["local"])).nid, Vector.of(IPv6Address(entry["remote"])).nid)
        session = self._sessions.get(names)
        if self._endpoint and session and int(session.stands.local_identity) == entry["local"]:
            self._endpoint.unused(names, self.rules.idle)
            self._take(now)

    def next_hops_changed(self, now: float) -> None:
        """A provider is gone or there again, or is to be left: hosts may have other locators."""
        self.border.next_hops_changed(now)
        if self._endpoint is None:
            return
        for nid, host in list(self._hosts.items()):
            if host.own is not None:
                self._serve(Vector(host.own, nid).address, now)
        if self.directory is not None:
            self.directory.publish(self._listed, now)
        self._take(now)

    def drain(self, provider: str, draining: bool, now: float) -> None:
        """Let sessions leave a provider before it is gone, or use it again."""
        self._drained.drain(provider, draining, now)
        self.next_hops_changed(now)

    def answered(self, answered: DnsResponse, now: float) -> None:
        """A DNS server answered."""
        if self.directory is not None:
            self.directory.answered(answered, now)
            self._take(now)

    def restored(self, packet: Packet) -> Packet:
        """Return a packet as the switch passes it on to a host: with the identities that the host knows."""
        local, peer = Vector.of(packet.destination), Vector.of(packet.source)
        session = self._sessions.get(Names(local.nid, peer.nid))
        if session is None or local.locator not in session.stands.taken:
            return packet
        return replace(packet, source=session.stands.peer_identity, destination=session.stands.local_identity)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest(
            each.next_timer() for each in (self._endpoint, self.directory, self._openings, self.border) if each
        )

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due; lateness counts for nothing here: no answer that nobody looked at yet is missed."""
        self._openings.handle_timer(now)
        self.border.handle_timer(now)
        if self.directory is not None:
            self.directory.handle_timer(now)
        if self._endpoint is not None:
            self._endpoint.handle_timer(now)
        self._take(now)

    def _settings(self) -> Settings:
        rules = self.rules
        secret = lasting_secret(SECRET, self._remembered, self._rng, self._outputs)
        # The tables know what passes, so they tell which sessions are idle.
        return Settings(rules.capacity, rules.nonce_octets, rules.nonce_use, rules.naive, idle=None, secret=secret)

    def _policies(self) -> list[AdmissionPolicy]:
        rules = self.rules.policies
        policies: list[AdmissionPolicy] = [Count(rules.count), Resources(lambda: self._numbers.used, rules.resources)]
        if rules.rate is not None:
            policies.append(PrefixRate(self._rng, rules.rate, rules.burst, rules.rate_prefix))
        return policies

    def _recall(self, endpoint: Endpoint, now: float) -> None:
        """Take up sessions where an earlier controller left them; those of hosts that are gone are forgotten."""
        for was in memory.sessions(self._remembered, now):
            local = was.entry.local_identity.address
            if not self.speaks_for(local):
                self._sessions.forget_remembered(was)
                continue
            self._serve(local, now)
            self._sessions.take_up(was, self._hosts[was.entry.names.local], now)
            endpoint.restore(was.entry, now)

    def _serve(self, own: IPv6Address, now: float) -> None:
        assert self._endpoint is not None
        nid = Vector.of(own).nid
        known = self._hosts.get(nid)
        if known is not None and known.own is not None:
            own = Vector(known.own, nid).address
        self._hosts[nid] = self._sites.host(own)
        self._endpoint.serve(self._hosts[nid], now)

    def _listed(self, vector: Vector) -> tuple[Listed, ...]:
        if self.speaks_for(vector.address):
            return self._sites.host(vector.address).listed
        return self.border.listed(vector.address)

    def _connect(self, active: PairActive, listed: tuple[Listed, ...], now: float) -> None:
        assert self._endpoint is not None
        local, peer = Vector.of(active.source), Vector.of(active.destination)
        names = Names(local.nid, peer.nid)
        if not peer.nid or peer.nid in self._hosts or local.nid not in self._hosts:
            return
        if self._endpoint.state_of(names) is State.CLOSED:
            self._endpoint.connect(local, peer, now, listed, active.opened_here)

    def _found(self, nid: NID, found: Found | None, now: float) -> None:
        """What the DNS tells of a peer: hosts may have waited for it, and sessions may have lost it."""
        assert self._endpoint is not None
        listed = found.listed if found is not None and nid in found.nids else ()
        locators = {one.locator for one in listed}
        known_as = self.directory.known_as(nid) if self.directory is not None else None
        self._openings.found(nid, [Vector(one.locator, nid).address for one in listed])
        for active in self._pairs.take(nid):
            peer = Vector.of(active.destination)
            # Under another address it is translated: such a flow has no part in sessions.
            if not listed or peer == known_as or peer.locator in locators:
                self._connect(active, listed, now)
        for names in [Names(local, nid) for local in self._hosts] if listed else ():
            if names in self._sessions:
                self._endpoint.look_again(names, listed, now)

    def _take(self, now: float) -> None:
        """Carry out what the endpoint says; entries come before the messages that let the peer use them."""
        if self._endpoint is None:
            return
        while outputs := self._endpoint.take_outputs():
            self._carry_out(outputs, now)

    def _carry_out(self, outputs: list[ilnp.Output], now: float) -> None:
        for output in outputs:
            match output:
                case ilnp.Up(stands) | ilnp.Changed(stands):
                    if not self._sessions.stands(stands, self.entry(stands.names), now):
                        assert self._endpoint is not None
                        self._endpoint.discard(stands.names, now)
                case ilnp.Gone(names, why):
                    self._sessions.end(names, why, now)
                case ilnp.UpdateUnacknowledged(names):
                    if self.directory is not None and self.directory.name_of(names.peer) is not None:
                        self.directory.seek(names.peer, now)
                case ilnp.Event():
                    self._events.tell(output, now)
        for output in outputs:
            if isinstance(output, ilnp.Send):
                self._egress.send(output.packet)
