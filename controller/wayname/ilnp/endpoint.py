"""An endpoint of ILNP: finds the session that a packet is for, checks all that can be checked, and says what it means.

It speaks for the hosts behind an edge. Packets and times come in; packets, table intents and events come out.
"""

from __future__ import annotations

import hmac
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from wayname.endpoint import BaseEndpoint
from wayname.ilnp.admission import NOTHING_CAME, Admission, Due, ReceivedIlnpMessage
from wayname.ilnp.cache import Cache, Entry, Names
from wayname.ilnp.cookies import Asked
from wayname.ilnp.errors import ForgeryError, MessageError, ReplayError
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.locators import Host, PeerLocators
from wayname.ilnp.nonce import NONCE_OPTION, nonce_of
from wayname.ilnp.outputs import Accepted, Kind, Outbox, Output
from wayname.ilnp.policies import AdmissionPolicy, AdmissionRequest
from wayname.ilnp.sequence import sequence_of
from wayname.ilnp.settings import SEEN_LIFETIME, Settings
from wayname.ilnp.states import FLOWS, Segment, State, TcpFlowState, Trigger
from wayname.ilnp.updates import Updates
from wayname.ilnp.vectors import L64, NID, Vector, half_text, is_routable
from wayname.wire import icmpv6, ipv6
from wayname.wire.errors import DecodeError

UNRECOGNISED_OPTION = 2
POINTER_OCTETS = 4


class ClaimError(MessageError):
    """An identifier that is in use from elsewhere."""


class RefusalError(MessageError):
    """A wish for a session that is not granted."""


_KINDS: dict[type[DecodeError], Kind] = {
    ForgeryError: Kind.FORGED,
    ReplayError: Kind.REPLAYED,
    ClaimError: Kind.CLAIMED,
    RefusalError: Kind.REFUSED,
}


@dataclass(frozen=True, slots=True)
class SeenFlow:
    """A TCP flow as the data plane reports it: its ends, the nonces of both directions, the segments in order."""

    local: Vector
    peer: Vector
    nonce_to_peer: bytes = field(repr=False)
    nonce_from_peer: bytes = field(repr=False)
    segments: tuple[Segment, ...]
    opened_here: bool


class Endpoint(BaseEndpoint[Output]):
    """All hosts of an edge, all sessions of theirs."""

    def __init__(
        self, rng: random.Random, now: float, settings: Settings | None = None, policies: Sequence[AdmissionPolicy] = ()
    ) -> None:
        self._settings = settings or Settings()
        self._policies = tuple(policies)
        self._hosts: dict[NID, Host] = {}
        self._our_locators: Counter[L64] = Counter()
        self._outbox = Outbox()
        self.cache = Cache(self._settings.capacity)
        self._admission = Admission(self._hosts, self.cache, self._outbox, rng, self._settings, self._on_established)
        self._updates = Updates(self._hosts, self._admission, self._outbox)
        super().__init__(self._outbox, self._admission.timers)
        if self._settings.naive:
            words = (
                "the naive policy is on: a flood of packets fills the cache; it is there to be measured, not to be used"
            )
            self._outbox.event(Kind.NAIVE, words, now)

    def serve(self, host: Host, now: float) -> None:
        """Speak for a host; once more with other locators, and its sessions follow and their peers are told."""
        before = self._hosts.get(host.nid)
        self._hosts[host.nid] = host
        self._our_locators.update(one.locator for one in host.locators)
        if before is None:
            return
        self._our_locators.subtract(one.locator for one in before.locators)
        if before != host:
            for entry in self.cache.of_host(host.nid):
                self._updates.move(entry, before, now)

    def withdraw(self, nid: NID, now: float) -> None:
        """Speak for a host no longer; its sessions are over, and the peers are not told."""
        self._our_locators.subtract(one.locator for one in self._host(nid).locators)
        for names in [names for names in self._admission.setups if names.local == nid]:
            self.discard(names, now)
        for entry in self.cache.of_host(nid):
            self._admission.remove(entry.names, "its host is gone")
        del self._hosts[nid]

    def connect(
        self, local: Vector, peer: Vector, now: float, listed: Iterable[Listed] = (), opened_here: bool = True
    ) -> None:
        """Ask for a session, as a connected socket does; the DNS may have told more locators of the peer.

        Where the peer has opened the connection, the policies say whether it is worth one.
        """
        self._host(local.nid)
        if peer.nid in self._hosts:
            raise ValueError(f"{peer} is a host of this edge as well")
        names = Names(local.nid, peer.nid)
        if self._admission.state_of(names) is State.CLOSED:
            try:
                if not opened_here:
                    self._ask_policies(names, peer, now)
                    self._grant(names, peer, now)
                self._make_room(names, now)
            except RefusalError as error:
                self._report(error, str(names), now)
                return
            told = list(listed) or [Listed(peer.locator, 0, SEEN_LIFETIME)]
            self._admission.prepare(names, local, peer, PeerLocators.of(told, now), now)
        self._admission.fire(names, Trigger.CONNECT, NOTHING_CAME, now)

    def discard(self, names: Names, now: float) -> None:
        """Forget a session or the wish for one; the peer is not told."""
        if self._admission.state_of(names) is not State.CLOSED:
            self._admission.fire(names, Trigger.DISCARD, NOTHING_CAME, now)

    def heard(self, names: Names, now: float, source: L64 | None = None) -> None:
        """Take note that packets of a session pass through the tables, and from which locator they come."""
        entry = self.cache.named(names)
        if entry is None:
            return
        entry.used = now
        entry.peer_locators.use(entry.destination, now)
        if source is not None:
            entry.peer_locators.use(source, now)
            self._admission.fire(names, Trigger.HEARD, NOTHING_CAME, now)

    def look_again(self, names: Names, listed: Iterable[Listed], now: float) -> None:
        """Take what the DNS tells now of the peer of a session that does not answer."""
        entry = self.cache.named(names)
        if entry is not None:
            self._updates.look_again(entry, listed, now)

    def unused(self, names: Names, seconds: float) -> None:
        """Collect a session that nothing passed for so long; the peer is not told."""
        if self.cache.named(names) is not None:
            self._admission.remove(names, f"nothing passed for {seconds:g} seconds")

    def restore(self, entry: Entry, now: float) -> None:
        """Go on with a session of an earlier program, whose host is served; the peer hears what is new."""
        self._admission.resume(entry, now)
        self._updates.resume(entry, now)

    def state_of(self, names: Names) -> State:
        """Return how far a session is."""
        return self._admission.state_of(names)

    def asked(self) -> Iterator[tuple[Vector, Vector]]:
        """Yield between whom a session is asked for and nobody answered yet."""
        for setup in self._admission.setups.values():
            if setup.state is State.REQUESTED:
                yield setup.local, setup.peer

    @property
    def places(self) -> int:
        """How many places of the cache are taken."""
        return self._admission.places

    def tcp(self, flow: SeenFlow, now: float) -> None:
        """Admit a TCP flow by what the data plane saw of it."""
        try:
            self._take_flow(flow, now)
        except DecodeError as error:
            self._report(error, f"TCP {flow.peer} to {flow.local}", now)

    def receive(self, packet: ipv6.Packet, now: float) -> None:
        """Take a packet; whatever is wrong with it changes nothing."""
        try:
            self._take(packet, now)
        except DecodeError as error:
            self._report(error, f"{packet.source} to {packet.destination}", now)

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        for due, names in self._admission.timers.due(now):
            if due is Due.TRY:
                self._admission.out_of_time(names, now)
                continue
            entry = self.cache.named(names)
            if entry is not None:
                self._handle(due, entry, now)

    def _handle(self, due: Due, entry: Entry, now: float) -> None:
        match due:
            case Due.IDLE if self._settings.idle is not None:
                if entry.used + self._settings.idle > now:
                    self._admission.watch_use(entry)
                else:
                    self.unused(entry.names, self._settings.idle)
            case Due.LIFETIME:
                self._updates.choose_again(entry, now)
            case Due.NONCE:
                entry.bears_nonce = False
                self._admission.changed(entry, now)
            case Due.TELL:
                self._updates.out_of_time(entry, now)
            case Due.GRACE:
                self._updates.forget_left(entry, now)

    def _on_established(self, entry: Entry, now: float) -> None:
        self._updates.tell(entry, now)

    def _host(self, nid: NID) -> Host:
        host = self._hosts.get(nid)
        if host is None:
            raise ValueError(f"{half_text(nid)} is no host of this edge")
        return host

    def _report(self, error: DecodeError, where: str, now: float) -> None:
        self._outbox.event(_KINDS.get(type(error), Kind.DROPPED), f"{where}: {error}", now)

    def _take(self, packet: ipv6.Packet, now: float) -> None:
        local, peer = Vector.of(packet.destination), Vector.of(packet.source)
        names = Names(local.nid, peer.nid)
        upper = packet.upper_layer()
        nonce = nonce_of(packet)
        if upper.number == ipv6.ICMPV6 and upper.is_whole and upper.data[:1]:
            kind = upper.data[0]
            if kind == icmpv6.PARAMETER_PROBLEM and upper.data[1:2] == bytes([UNRECOGNISED_OPTION]):
                self._take_problem(icmpv6.Message.decode(packet), now)
                return
            if kind in (SESSION_REQUEST, LOCATOR_UPDATE):
                self._check_ends(names, local, peer)
                message = icmpv6.Message.decode(packet)
                if nonce is None:
                    raise ForgeryError(f"ICMPv6 {kind} without a nonce")
                if kind == LOCATOR_UPDATE:
                    update = LocatorUpdate.decode(message.code, message.body)
                    self._take_update(names, local, peer, nonce, update, sequence_of(packet), now)
                else:
                    self._take_handshake(
                        names,
                        ReceivedIlnpMessage(local, peer),
                        nonce,
                        Handshake.decode(message.code, message.body),
                        now,
                    )
                return
        self._take_data(names, ReceivedIlnpMessage(local, peer), nonce, packet, now)

    def _check_ends(self, names: Names, local: Vector, peer: Vector) -> None:
        """Check that a packet is for a host here, and comes from somewhere where packets can come from."""
        entry = self.cache.named(names)
        host = self._hosts.get(local.nid)
        if host is None or not (local.locator in host or (entry is not None and local.locator in entry.leaving)):
            raise MessageError(f"{local} is no host of this edge")
        if not is_routable(peer.locator) or not peer.nid:
            raise MessageError(f"{peer} is no address that packets come from")
        if peer.nid in self._hosts:
            raise ClaimError(f"{half_text(peer.nid)} is a host of this edge, and claimed from elsewhere")

    def _take_handshake(
        self, names: Names, ends: ReceivedIlnpMessage, nonce: bytes, message: Handshake, now: float
    ) -> None:
        """Find out what one of the three messages means to the session it is about."""
        if nonce != message.source_nonce:
            raise ForgeryError("the nonce of the packet is not that of the message")
        self._check_claim(names, ends.peer)
        entry, setup = self.cache.named(names), self._admission.setups.get(names)
        arrival = ReceivedIlnpMessage(ends.local, ends.peer, message.destination_nonce or b"", message.source_nonce)
        own = entry.nonce_to_peer if entry is not None else setup.nonce if setup is not None else None
        if message.destination_nonce is None:
            self._take_request(names, arrival, now)
        elif own is not None and hmac.compare_digest(message.destination_nonce, own):
            if entry is not None and message.source_nonce != entry.nonce_from_peer:
                raise ForgeryError("a message of a handshake whose source nonce is not the peer's")
            trigger = {
                Control.REQUEST: Trigger.QUESTION,
                Control.REQUEST_AND_ACKNOWLEDGE: Trigger.ANSWER,
                Control.ACKNOWLEDGE: Trigger.CONFIRMATION,
            }[message.control]
            self._admission.fire(names, trigger, arrival, now)
        elif message.control is Control.REQUEST_AND_ACKNOWLEDGE:
            raise ForgeryError("an answer to nothing that was asked")
        else:
            self._take_proof(names, arrival, message.control, now)

    def _take_request(self, names: Names, arrival: ReceivedIlnpMessage, now: float) -> None:
        trigger = Trigger.REQUEST
        match self._admission.state_of(names):
            case State.REQUESTED:
                trigger = Trigger.REQUEST_CROSSED
            case State.ACKNOWLEDGED | State.ESTABLISHED:
                if self.cache.find(names, arrival.nonce_from_peer) is not None:
                    trigger = Trigger.REQUEST_REPEATED
            case _:
                self._ask_policies(names, arrival.peer, now)
        self._admission.fire(names, trigger, arrival, now)

    def _take_proof(self, names: Names, arrival: ReceivedIlnpMessage, control: Control, now: float) -> None:
        """Take a nonce that must be one that we gave out, and did not keep."""
        asked = Asked(arrival.local, arrival.peer, arrival.nonce_from_peer)
        if not self._admission.cookies.is_ours(asked, arrival.nonce_to_peer, now):
            raise ForgeryError("a nonce that was not given out from here, or too long ago")
        if self._admission.cookies.is_spent(asked, arrival.nonce_to_peer):
            raise ReplayError("a message of a handshake that is over")
        self._ask_policies(names, arrival.peer, now)
        if not self._admission.cookies.has_room(now):
            raise RefusalError("too many sessions were made in the last minute")
        self._make_room(names, now)
        self._admission.cookies.spend(asked, arrival.nonce_to_peer, now)
        self._grant(names, arrival.peer, now)
        trigger = Trigger.PROOF if control is Control.ACKNOWLEDGE else Trigger.PROOF_AND_QUESTION
        self._admission.fire(names, trigger, arrival, now)

    def _take_update(
        self,
        names: Names,
        local: Vector,
        peer: Vector,
        nonce: bytes,
        update: LocatorUpdate,
        number: int | None,
        now: float,
    ) -> None:
        entry = self.cache.find(names, nonce)
        if entry is None:
            raise ForgeryError("a Locator Update whose nonce is that of no session")
        ours = [one for one in update.listed if self._our_locators[one.locator] > 0]
        if ours and update.operation is Operation.ADVERTISEMENT:
            raise ClaimError(f"a Locator Update that claims {half_text(ours[0].locator)}, which is ours")
        entry.used = now
        self._updates.receive(entry, peer.locator, local.locator, update, number, now)
        self._admission.fire(names, Trigger.HEARD, NOTHING_CAME, now)

    def _take_data(
        self, names: Names, ends: ReceivedIlnpMessage, nonce: bytes | None, packet: ipv6.Packet, now: float
    ) -> None:
        """Take any other packet: from known locators or with the right nonce it is the session's."""
        entry = self.cache.named(names)
        if nonce is not None and self.cache.find(names, nonce) is None:
            if not self._settings.naive:
                raise MessageError("a nonce that is that of no session: packets alone make none")
            self._admit_naively(names, ends, nonce, now)
        elif entry is None:
            raise MessageError("a packet of no session")
        elif nonce is None and ends.peer.locator not in entry.peer_locators:
            raise ForgeryError("a packet from a locator that the peer did not tell, without a nonce")
        elif nonce is None and _is_icmp_error(packet):
            raise ForgeryError("an ICMPv6 error of a peer without a nonce")
        self.heard(names, now, ends.peer.locator)
        self._outbox.add(Accepted(names, packet))

    def _admit_naively(self, names: Names, ends: ReceivedIlnpMessage, nonce: bytes, now: float) -> None:
        """Make an entry for nothing but a packet, as the baseline of the experiment does."""
        self._check_ends(names, ends.local, ends.peer)
        self._make_room(names, now)
        arrival = ReceivedIlnpMessage(ends.local, ends.peer, self._admission.new_nonce(), nonce)
        self._admission.fire(names, Trigger.PACKET, arrival, now)

    def _take_problem(self, message: icmpv6.Message, now: float) -> None:
        """Learn that a peer has no ILNP, but only from the very request that it got (RFC 6744, section 6)."""
        quoted = ipv6.Packet.decode(message.body[POINTER_OCTETS:])
        at = int.from_bytes(message.body[:POINTER_OCTETS])
        asked_from, asked = Vector.of(quoted.source), Vector.of(quoted.destination)
        names = Names(asked_from.nid, asked.nid)
        setup = self._admission.setups.get(names)
        if quoted.encode()[at : at + 1] != bytes([NONCE_OPTION]):
            raise MessageError("an ICMPv6 error that says nothing of the nonce option")
        if setup is None or nonce_of(quoted) != setup.nonce:
            raise ForgeryError("an ICMPv6 error about a request that was not sent")
        self._outbox.event(Kind.WITHOUT_ILNP, f"{names}: the peer does not know the nonce option", now)
        self._admission.fire(names, Trigger.NOT_SUPPORTED, NOTHING_CAME, now)

    def _take_flow(self, flow: SeenFlow, now: float) -> None:
        names, state = Names(flow.local.nid, flow.peer.nid), TcpFlowState.NEW
        self._check_ends(names, flow.local, flow.peer)
        for segment in flow.segments:
            following = FLOWS[state].get(segment)
            if following is None:
                raise MessageError(f"{segment.name} while a flow is {state.name}")
            state = following
        if state is not TcpFlowState.ADMITTED:
            raise MessageError(f"a flow that is {state.name} makes no session yet")
        self._check_claim(names, flow.peer)
        entry = self.cache.find(names, flow.nonce_from_peer)
        if entry is not None and entry.nonce_to_peer == flow.nonce_to_peer:
            self.heard(names, now, flow.peer.locator)
            return
        arrival = ReceivedIlnpMessage(flow.local, flow.peer, flow.nonce_to_peer, flow.nonce_from_peer, is_flow=True)
        if not flow.opened_here:
            self._ask_policies(names, flow.peer, now)
            self._grant(names, flow.peer, now)
        self._make_room(names, now)
        self._admission.fire(names, Trigger.TCP, arrival, now)

    def _stands_or_is_wanted(self, names: Names) -> bool:
        """Whether a session has its place in the cache already: there is nothing to decide."""
        return self.cache.named(names) is not None or names in self._admission.setups

    def _make_room(self, names: Names, now: float) -> None:
        """See that there is a place; what is only asked for gives way, the least proven first."""
        if self._stands_or_is_wanted(names) or self._admission.places < self.cache.capacity:
            return
        self._check_room()
        self._admission.give_up_least_proven(now)

    def _check_room(self) -> None:
        if len(self.cache) >= self.cache.capacity:
            raise RefusalError(f"all {self.cache.capacity} places of the cache are taken")

    def _check_claim(self, names: Names, peer: Vector) -> None:
        """Check that nobody comes from elsewhere under an identifier that a session stands with, or is wanted with."""
        entry, setup = self.cache.named(names), self._admission.setups.get(names)
        known = entry.peer_locators if entry is not None else setup.peer_locators if setup is not None else None
        if known is not None and peer.locator not in known:
            state = self._admission.state_of(names).name
            raise ClaimError(f"{half_text(names.peer)} is {state} with another site, and claimed from here")

    def _ask_policies(self, names: Names, peer: Vector, now: float) -> None:
        if self._stands_or_is_wanted(names):
            return
        self._check_room()
        wish = AdmissionRequest(names, peer, len(self.cache))
        for policy in self._policies:
            if (refusal := policy.refusal(wish, now)) is not None:
                raise RefusalError(f"no session: {refusal}")

    def _grant(self, names: Names, peer: Vector, now: float) -> None:
        if not self._stands_or_is_wanted(names):
            wish = AdmissionRequest(names, peer, len(self.cache))
            for policy in self._policies:
                policy.granted(wish, now)


def _is_icmp_error(packet: ipv6.Packet) -> bool:
    """Whether a packet is one that a peer with a session must put its nonce on (RFC 6741, section 11.1)."""
    upper = packet.upper_layer()
    return upper.number == ipv6.ICMPV6 and upper.data[:1] < bytes([icmpv6.ECHO_REQUEST])
