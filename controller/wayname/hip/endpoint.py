"""Sets up associations for the hosts that it speaks for (RFC 7401, section 6), without sockets, clock or threads.

endpoint.receive(packet, now)        a HIP packet for one of the hosts
endpoint.take_outputs()              afterwards: packets to send, and what became of associations
endpoint.next_timer()                when to call handle_timer(now) at the latest; None is never
"""

from __future__ import annotations

import random
from ipaddress import IPv6Address

from wayname.endpoint import BaseEndpoint
from wayname.hip.admission_control import CHECKS, Limits
from wayname.hip.association import Association, LocalHost, Names
from wayname.hip.associations import Associations
from wayname.hip.error_replies import OF_PEERS, ErrorReplies
from wayname.hip.errors import MessageError, NotifyType, ProofError
from wayname.hip.exchange import Exchange, Policy, RefusedError
from wayname.hip.machine import Machine, ReceivedHipPacket
from wayname.hip.messages import RECEIVER_AT, SENDER_AT, Kind, Message, decode, own_octets, with_length
from wayname.hip.outputs import EventKind, Outbox, Output
from wayname.hip.parameters import EchoRequestSigned, EchoResponseSigned, Notification, R1Counter
from wayname.hip.path_reports import SignedPathReports
from wayname.hip.peer_locators import PeerLocators, is_host
from wayname.hip.proofs import check_mac, check_signature
from wayname.hip.settings import NOTIFIES, Settings
from wayname.hip.states import TRANSITIONS, USABLE, State, Trigger
from wayname.hip.suites import REQUIRED, UNKNOWN_PEER
from wayname.hip.updates import Updates
from wayname.identity.hits import HITS, suite_number
from wayname.session.keys import Pair
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import EXTENSIONS, HIP, Packet

BEFORE_HIP = EXTENSIONS - {HIP}
_KEYED = {Kind.UPDATE: Trigger.UPDATE, Kind.CLOSE: Trigger.CLOSE, Kind.CLOSE_ACK: Trigger.CLOSE_ACK}


class Endpoint(BaseEndpoint[Output]):
    """The associations of all hosts that one end speaks for."""

    def __init__(self, rng: random.Random, settings: Settings, policy: Policy, first_counter: int = 0) -> None:
        self.associations = Associations(rng)
        self._settings = settings
        self._hosts: dict[IPv6Address, LocalHost] = {}
        self._served: set[IPv6Address] = set()
        self._outbox = Outbox()
        limits = Limits(rng)
        self._exchange = Exchange(self._hosts, self.associations, settings, rng, policy, limits, first_counter)
        self._objections = ErrorReplies(self._hosts, self.associations, self._outbox, limits)
        self._updates = Updates(self._hosts, self.associations, self._outbox, self._objections, limits, rng)
        self._machine = Machine(
            self._hosts, self.associations, self._exchange, self._updates, self._outbox, limits, settings, rng
        )
        super().__init__(self._outbox, self._machine.timers, self._updates.timers)

    def serve(self, host: LocalHost, now: float) -> None:
        """Speak for a host from now on, or tell the peers of all its associations that it is elsewhere now."""
        if not host.locators:
            raise ValueError(f"{host.identity.hit} has no locators")
        if wrong := [str(one) for one in host.locators if not is_host(one)]:
            raise ValueError(f"{', '.join(wrong)} can be no locator of {host.identity.hit}")
        self._hosts[host.identity.hit] = host
        self._served |= set(host.locators)
        for association in self.associations:
            if association.names.local == host.identity.hit and association.state in USABLE:
                self._updates.tell(association, now)

    def connect(self, names: Names, pair: Pair, now: float) -> None:
        """Set up an association between two hosts, by the addresses that they know each other by."""
        if names.local not in self._hosts:
            raise ValueError(f"{names.local} is no host of this end")
        if names.peer == UNKNOWN_PEER and not self._settings.opportunistic:
            raise ValueError("whoever it is that answers is only asked where opportunistic mode is on")
        association = self.associations.named(names) or Association(names, pair.local, PeerLocators(pair.peer), pair)
        if association.state in (State.UNASSOCIATED, State.CLOSED, State.CLOSING):
            association.exchange, association.local = pair, pair.local
            association.peer = PeerLocators(pair.peer)
        self.associations.keep(association)
        self._machine.fire(association, Trigger.CONNECT, ReceivedHipPacket(pair), now)

    def disconnect(self, names: Names, now: float) -> None:
        """Close an association; one that does not stand yet is forgotten."""
        association = self.associations.named(names)
        if association is not None:
            trigger = Trigger.DISCONNECT if association.state in USABLE else Trigger.DISCARD
            self._machine.fire(association, trigger, ReceivedHipPacket(association.pair), now)

    def renew(self, names: Names, now: float) -> bool:
        """Set an association up anew, with keys that have nothing to do with those before; tell whether it stood."""
        association = self.associations.named(names)
        return association is not None and self._machine.fire(
            association, Trigger.RENEW, ReceivedHipPacket(association.pair), now
        )

    def difficulty(self, now: float) -> int:
        """Return how difficult the next puzzle is."""
        return self._exchange.difficulty(now)

    def rekey(self, names: Names, now: float, fresh: bool = True) -> None:
        """Agree on new keys for ESP, out of a new Diffie-Hellman value or of what is left of the old one."""
        association = self.associations.named(names)
        if association is not None and association.state is State.ESTABLISHED:
            self._updates.rekey(association, fresh, now)

    def heard(self, names: Names, octets: int, now: float) -> None:
        """Data of an association came: the peer has all it needs, and may be sent as much."""
        association = self.associations.named(names)
        if association is not None and association.state in USABLE:
            association.used = now
            association.peer.earn(octets, now)
            self._machine.fire(association, Trigger.DATA, ReceivedHipPacket(association.pair), now)

    def way(self, names: Names, octets: int, now: float) -> Pair | None:
        """Return where data of an association goes; None if it must wait."""
        association = self.associations.named(names)
        if association is None or association.state not in USABLE:
            return None
        association.used = now
        destination = association.peer.destination(octets, now)
        return None if destination is None else Pair(association.local, destination)

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        self._machine.handle_timer(now)
        for association in self._updates.handle_timer(now):
            self._machine.fire(association, Trigger.BROKEN, ReceivedHipPacket(association.pair), now)

    def receive(self, packet: Packet, now: float) -> None:
        """Take a packet; whatever is wrong with it changes nothing."""
        try:
            upper = packet.upper_layer(BEFORE_HIP)
            if upper.number != HIP or not upper.is_whole:
                raise MessageError("no whole HIP packet")
            if packet.destination not in self._served or not is_host(packet.source):
                raise MessageError(f"{packet.destination} is no locator of a host here, or {packet.source} of none")
            self._read(own_octets(upper.data), packet, now)
        except DecodeError as error:
            self._outbox.tell(EventKind.DROPPED, f"a HIP packet from {packet.source} was dropped: {error}", now)

    def _read(self, octets: bytes, packet: Packet, now: float) -> None:
        try:
            message = decode(octets, packet.source, packet.destination)
            self._take(message, octets, Pair(packet.destination, packet.source), now)
        except MessageError as error:
            self._objections.dropped(error, octets, packet, now)
            raise

    def _take(self, message: Message, octets: bytes, pair: Pair, now: float) -> None:
        """Find the association that a message is of, and what it means for it."""
        names = self._names(message)
        association = self.associations.named(names)
        match message.kind:
            case Kind.I1:
                self._take_i1(message, octets, association, pair, now)
            case Kind.R1:
                self._take_r1(message, octets, association, pair, now)
            case Kind.I2:
                self._take_i2(message, octets, association, pair, now)
            case Kind.R2 if association is not None and Trigger.R2 in TRANSITIONS[association.state]:
                transport = self._exchange.check_r2(association, octets, message)
                association.path_reports = message.find(SignedPathReports)
                self._machine.fire(association, Trigger.R2, ReceivedHipPacket(pair, message, transport=transport), now)
            case Kind.UPDATE | Kind.CLOSE | Kind.CLOSE_ACK if association is not None:
                self._take_keyed(message, octets, association, pair, now)
            case Kind.NOTIFY if association is not None:
                self._take_notify(message, octets, association, now)
            case _:
                pointer = SENDER_AT if message.kind in OF_PEERS else None
                raise MessageError(f"{message.kind.name} from {message.sender} is not waited for", pointer=pointer)

    def _names(self, message: Message) -> Names:
        """Return between whom a message is; one to nobody in particular is for a host with the sender's suite."""
        local = message.receiver
        if local == UNKNOWN_PEER and message.kind is Kind.I1 and self._settings.opportunistic:
            # Section 6.7, step 5: a suite that the initiator has itself, or else the one that all must have.
            theirs = suite_number(message.sender)
            hits = sorted(self._hosts, key=lambda hit: (suite_number(hit) != theirs, suite_number(hit) != REQUIRED))
            local = next(iter(hits), local)
        if local not in self._hosts:
            pointer = RECEIVER_AT if message.kind in OF_PEERS else None
            raise MessageError(f"{local} is no HIT of a host here", pointer=pointer)
        return Names(local, message.sender)

    def _take_i1(
        self, message: Message, octets: bytes, association: Association | None, pair: Pair, now: float
    ) -> None:
        """Section 6.7: nothing is kept; who has a suite that is not known here reads in R1 which ones are."""
        names = self._names(message)
        if names.peer not in HITS:
            raise MessageError(f"{names.peer} is no HIT")
        trigger = Trigger.I1
        if association is not None and association.state is State.I1_SENT and names.peer > names.local:
            trigger = Trigger.I1_FROM_GREATER
        association = association or Association(names, pair.local, PeerLocators(pair.peer), pair)
        addressed = Message(message.kind, message.sender, names.local, message.parameters)
        self._machine.fire(association, trigger, ReceivedHipPacket(pair, addressed, octets), now)

    def _take_r1(
        self, message: Message, octets: bytes, association: Association | None, pair: Pair, now: float
    ) -> None:
        """Section 6.8; in opportunistic mode the peer is who answers from where it was asked."""
        asked = self.associations.named(Names(message.receiver, UNKNOWN_PEER))
        is_answer = association is None and asked is not None and asked.peer.current == pair.peer
        association = asked if is_answer else association
        if association is None or Trigger.R1 not in TRANSITIONS[association.state]:
            raise MessageError(f"R1 from {message.sender}, which was not asked")
        if association.state is State.I2_SENT:
            counter = message.find(R1Counter)
            if counter is None or counter.counter <= association.peer_counter:
                raise MessageError("R1 again, no newer than the one that was answered")
        if not association.checks.may(CHECKS, now):
            raise MessageError("R1s come too often to be read")
        self._exchange.check_r1(association, octets, message)
        before = association.names
        association.names = Names(message.receiver, message.sender)
        try:
            answer = self._exchange.i2(association, message, now)
        except DecodeError:
            association.names = before
            raise
        if before != association.names:
            self._machine.timers.cancel(before)
            self.associations.rename(association, before)
        self._machine.fire(association, Trigger.R1, ReceivedHipPacket(pair, message, answer=answer), now)

    def _take_i2(
        self, message: Message, octets: bytes, association: Association | None, pair: Pair, now: float
    ) -> None:
        """Section 6.9."""
        names, same = self._names(message), with_length(octets)
        state = State.UNASSOCIATED if association is None else association.state
        if association is not None and association.i2 == same and Trigger.I2_REPEATED in TRANSITIONS[state]:
            self._machine.fire(association, Trigger.I2_REPEATED, ReceivedHipPacket(pair, message), now)
            return
        if association is not None and state is State.I2_SENT and names.peer > names.local:
            self._machine.fire(association, Trigger.I2_FROM_GREATER, ReceivedHipPacket(pair, message), now)
            return
        try:
            answer = self._exchange.r2(octets, message, pair, now)
        except RefusedError as error:
            self._outbox.tell(EventKind.REFUSED, f"no association of {names.peer} with {names.local}: {error}", now)
            self._objections.notify(names, pair, error, now)
            return
        except MessageError as error:
            self._objections.notify(names, pair, error, now)
            raise
        association = association or Association(names, pair.local, PeerLocators(pair.peer), pair)
        self.associations.keep(association)
        association.exchange, association.local = pair, pair.local
        association.peer, association.peer_told = PeerLocators(pair.peer), -1
        association.path_reports = message.find(SignedPathReports)
        self._machine.fire(association, Trigger.I2, ReceivedHipPacket(pair, message, same, answer), now)

    def _take_keyed(self, message: Message, octets: bytes, association: Association, pair: Pair, now: float) -> None:
        """Take what only the peer can have made."""
        trigger = _KEYED[message.kind]
        if trigger not in TRANSITIONS[association.state]:
            raise MessageError(f"{message.kind.name} in state {association.state.name}")
        _check(association, message, octets, now)
        request, response = message.find(EchoRequestSigned), message.find(EchoResponseSigned)
        if (message.kind is Kind.CLOSE and request is None) or (message.kind is Kind.CLOSE_ACK and response is None):
            raise MessageError(f"{message.kind.name} without the echo that it is for", NotifyType.INVALID_SYNTAX)
        if message.kind is Kind.CLOSE_ACK and response != EchoResponseSigned(association.close_nonce):
            raise ProofError("CLOSE_ACK for no CLOSE of ours")
        self._machine.fire(association, trigger, ReceivedHipPacket(pair, message), now)

    def _take_notify(self, message: Message, octets: bytes, association: Association, now: float) -> None:
        """What a peer says changes nothing (section 6.13)."""
        if association.secured is None:
            raise MessageError("NOTIFY by nobody whose key is known")
        if not association.notices.may(NOTIFIES, now):
            raise MessageError("NOTIFYs come too often to be read")
        check_signature(octets, message, association.secured.peer)
        known = {number.value: number.name for number in NotifyType}
        for one in message.all(Notification):
            what = known.get(one.kind, f"notification {one.kind}") + (f" ({one.data[:16].hex()})" if one.data else "")
            self._outbox.tell(EventKind.NOTIFIED, f"{message.sender} says {what}", now)


def _check(association: Association, message: Message, octets: bytes, now: float) -> None:
    secured = association.secured
    if secured is None:
        raise MessageError(f"{message.kind.name} where no keys are")
    if secured.rhash.is_slow:
        if not association.checks.may(CHECKS, now):
            raise MessageError(f"{message.kind.name} comes too often to be read")
        check_signature(octets, message, secured.peer)
    check_mac(octets, message, secured.peer, secured.incoming.integrity, secured.rhash)
    if not secured.rhash.is_slow:
        check_signature(octets, message, secured.peer)
