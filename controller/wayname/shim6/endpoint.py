"""Sets up contexts for the hosts that it speaks for (RFC 5533, sections 7 and 12), without sockets, clock or threads.

endpoint.receive(packet, now)        a Shim6 packet for one of the hosts, or an ICMPv6 error about one of them
endpoint.take_outputs()              afterwards: packets to send, and what became of contexts
endpoint.next_timer()                when to call handle_timer(now) at the latest; None is never
"""

from __future__ import annotations

import random
from collections.abc import Callable
from ipaddress import IPv6Address

from wayname.endpoint import BaseEndpoint
from wayname.identity.errors import ProofError
from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import Context, KnownPeer, LocalHost, option_of
from wayname.shim6.contexts import Contexts
from wayname.shim6.limits import Limits
from wayname.shim6.locators import LocatorError
from wayname.shim6.machine import Machine, ReceivedShim6Message, check_size, r1_question, r1bis_question, validator_of
from wayname.shim6.outputs import Dropped, Outbox, Output, PeerError, Ready, Received
from wayname.shim6.states import TRANSITIONS, USABLE, State, Trigger
from wayname.shim6.updates import Updates
from wayname.wire import icmpv6, ipv6
from wayname.wire.errors import DecodeError
from wayname.wire.shim6.errors import AnsweredError, ErrorCode, MessageError
from wayname.wire.shim6.messages import (
    I1,
    I2,
    R1,
    R2,
    Error,
    I2bis,
    Keepalive,
    MessageType,
    Probe,
    R1bis,
    UpdateAcknowledgement,
    UpdateRequest,
    decode,
    kind_and_tag,
    place_in,
)
from wayname.wire.shim6.options import ForkedInstance, Option, UlidPair
from wayname.wire.shim6.payload import BEFORE_SHIM6, PayloadHeader, is_payload

UNRECOGNISED_NEXT_HEADER = 1
POINTER_OCTETS = 4

# What a message's options prove of the locators of a context's peer, added to what is known of them.
Learn = Callable[[SessionKey, tuple[Option, ...], KnownPeer], KnownPeer]


class Endpoint(BaseEndpoint[Output]):
    """The contexts of all hosts that one edge speaks for."""

    def __init__(self, rng: random.Random, learn: Learn, secret: bytes | None = None) -> None:
        self.contexts = Contexts(rng)
        self._hosts: dict[IPv6Address, LocalHost] = {}
        self._outbox = Outbox()
        self._updates = Updates(self._hosts, self.contexts, self._outbox, rng)
        limits = self._limits = Limits(rng)
        self._machine = Machine(self._hosts, self.contexts, self._outbox, rng, limits, self._updates.tell, secret)
        self._learn = learn
        self._served: set[IPv6Address] = set()
        super().__init__(self._outbox, self._machine.timers, self._updates.timers)

    def serve(self, host: LocalHost, now: float) -> None:
        """Speak for a host from now on, or tell the peers of all its contexts that its locators are others now.

        Raise MessageError if they do not fit into a message.
        """
        check_size(host)
        self._hosts[host.ulid] = host
        self._served |= host.locators
        for context in self.contexts:
            if context.name.local == host.ulid:
                self._updates.tell(context, now)

    def establish(self, name: SessionKey, now: float, pair: Pair | None = None) -> None:
        """Set up a context, over other locators than the identities if those do not work."""
        if name.local not in self._hosts:
            raise ValueError(f"{name.local} is no host of this edge")
        host = self._hosts[name.local]
        pair = pair or Pair(host.first_among(host.locators), name.peer)
        context = self.contexts.named(name) or self.contexts.create(name, pair)
        self._machine.fire(context, Trigger.ESTABLISH, ReceivedShim6Message(context.exchange), now)

    def restore(self, context: Context) -> None:
        """Go on with an established context of an earlier endpoint; its host is served before or afterwards."""
        self.contexts.restore(context)

    def agree(self, name: SessionKey, tag: int, peer_tag: int, known: KnownPeer) -> None:
        """Have a context of which both edges know all without an exchange: the directory of their fleet told them."""
        pair = Pair(name.local, name.peer)
        told = frozenset({self._hosts[name.local]})
        self.contexts.restore(Context(name, tag, pair, pair, State.ESTABLISHED, peer_tag, known, told))
        self._outbox.add(Ready(name))

    def go_by(self, name: SessionKey, pair: Pair, now: float) -> None:
        """Packets of a context go between other locators from now on, and so does what the peer is told of our host."""
        context = self.contexts.named(name)
        if context is not None and context.pair != pair:
            context.pair = pair
            self._updates.tell_again(context, now)

    def withdraw(self, name: SessionKey) -> None:
        """Take a context away whose host is none of this edge any more."""
        context = self.contexts.named(name)
        if context is not None:
            self.contexts.remove(context)

    def discard(self, name: SessionKey, now: float) -> None:
        """Forget a context; the peer is not told (section 9)."""
        context = self.contexts.named(name)
        if context is not None:
            self._machine.fire(context, Trigger.DISCARD, ReceivedShim6Message(context.exchange), now)

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        self._machine.handle_timer(now)
        self._updates.handle_timer(now)

    def receive(self, packet: ipv6.Packet, now: float) -> None:
        """Take a packet; whatever is wrong with it changes nothing."""
        try:
            upper = packet.upper_layer(BEFORE_SHIM6)
            if not upper.is_whole:
                raise MessageError("a fragment of a packet")
            if upper.number == ipv6.ICMPV6:
                self._take_icmp(icmpv6.Message.decode(packet), now)
                return
            if upper.number != ipv6.SHIM6:
                raise MessageError("the packet has no Shim6 header")
            self._check_addresses(packet)
            try:
                self._take(Pair(packet.destination, packet.source), upper.data, now)
            except AnsweredError as error:
                self._answer_error(packet, upper.data, error.code, error.pointer, now)
            except LocatorError as error:
                at = place_in(upper.data, error.option) + error.at
                self._answer_error(packet, upper.data, error.code, at, now)
                raise
        except (DecodeError, ProofError) as error:
            self._outbox.add(Dropped(str(error)))

    def _answer_error(self, packet: ipv6.Packet, data: bytes, code: ErrorCode, at: int, now: float) -> None:
        """Say what cannot be processed; the pointer counts from the beginning of the packet (section 5.14)."""
        if self._limits.longer.is_open(packet.source, now):
            octets = packet.encode()
            error = Error(code, len(octets) - len(data) + at, octets)
            sent = self._outbox.send(Pair(packet.destination, packet.source), error)
            self._limits.longer.take(packet.source, now, max(sent - len(packet.payload), 0))

    def _check_addresses(self, packet: ipv6.Packet) -> None:
        """Check what section 12.3 says of addresses, and that the packet is for us."""
        for address in (packet.source, packet.destination):
            if address.is_multicast or address.is_unspecified:
                raise MessageError(f"{address} is no address of a host")
        if packet.destination not in self._served:
            raise MessageError(f"{packet.destination} is no locator of a host here")

    def _take(self, pair: Pair, octets: bytes, now: float) -> None:
        """Find the context that a header is for (section 12.4), and what it means for it."""
        if is_payload(octets):
            header = PayloadHeader.decode(octets)
            self._use(header.tag, ReceivedShim6Message(pair, header, octets=len(octets)), now)
            return
        message = decode(octets)
        match message:
            case I1():
                self._take_i1(pair, message, len(octets), now)
            case I2() | I2bis():
                self._take_i2(pair, message, now)
            case R1():
                context = self._asked(message.initiator_nonce, pair)
                validator_of(message)
                self._machine.fire(context, Trigger.R1, ReceivedShim6Message(pair, message), now)
            case R2():
                self._take_r2(pair, message, now)
            case R1bis():
                validator_of(message)
                context = self._sending(message.packet_tag, pair)
                self._machine.fire(context, Trigger.R1BIS, ReceivedShim6Message(pair, message), now)
            case UpdateRequest() | UpdateAcknowledgement() | Keepalive() | Probe():
                self._use(message.tag, ReceivedShim6Message(pair, message, octets=len(octets)), now)
            case Error():
                self._take_error(message)

    def _take_i1(self, pair: Pair, message: I1, octets: int, now: float) -> None:
        """Section 7.9."""
        name = self._name(pair, message)
        context = self.contexts.named(name) or Context(name, 0, pair, pair)
        trigger = Trigger.I1
        if Trigger.I1_ASTRAY in TRANSITIONS[context.state]:
            if not self._is_between(context, pair):
                trigger = Trigger.I1_ASTRAY
            elif context.state is State.ESTABLISHED and context.peer_tag == message.tag:
                trigger = Trigger.I1_REPEATED
        self._machine.fire(context, trigger, ReceivedShim6Message(pair, message, octets=octets), now)

    def _take_i2(self, pair: Pair, message: I2 | I2bis, now: float) -> None:
        """Sections 7.13 and 7.20."""
        name = self._name(pair, message)
        validator = validator_of(message)
        question = (
            r1_question(pair, message.tag, name)
            if isinstance(message, I2)
            else r1bis_question(pair, message.packet_tag)
        )
        if not self._machine.validators.is_ours(question, message.responder_nonce, validator, now):
            raise MessageError("the validator is not ours, or too old")
        # Whatever becomes of it: a validator serves for one look at proofs, but for repetitions of what made a context.
        if not self._limits.proofs.may(pair.peer, now):
            raise MessageError(f"more I2s come from the prefix of {pair.peer}, or from all, than are looked at")
        context = self.contexts.named(name)
        trigger = Trigger.I2 if isinstance(message, I2) else Trigger.I2BIS
        if not self._machine.validators.spend(validator, now):
            if context is None or context.peer_tag != message.tag:
                raise MessageError("the validator was used before")
            self._machine.fire(context, Trigger.I2_REPEATED, ReceivedShim6Message(pair, message), now)
            return
        known = self._know(pair, name, message, context)
        context = context or self.contexts.create(name, pair)
        self._machine.fire(context, trigger, ReceivedShim6Message(pair, message, known), now)

    def _take_r2(self, pair: Pair, message: R2, now: float) -> None:
        """Section 7.16."""
        context = self._asked(message.initiator_nonce, pair)
        arrival = ReceivedShim6Message(pair, message)
        # A late one is ignored, so that nothing needs to be proved.
        if context.state is not State.ESTABLISHED:
            arrival = ReceivedShim6Message(pair, message, self._know(pair, context.name, message, context))
        self._machine.fire(context, Trigger.R2, arrival, now)

    def _use(self, tag: int, arrival: ReceivedShim6Message, now: float) -> None:
        """Find the context that a packet is within; one with a stale tag is within none (section 12.4)."""
        context = self.contexts.tagged(tag)
        if context is None or not self._is_between(context, arrival.pair):
            self._machine.send_r1bis(tag, arrival, now)
            return
        message, known = arrival.message, context.known
        if isinstance(message, UpdateRequest):
            # A request that proves nothing is not even a sign of life.
            known = self._learn(context.name, message.options, known)
        if self._machine.fire(context, Trigger.USE, arrival, now):
            self._process(context, arrival, known)

    def _process(self, context: Context, arrival: ReceivedShim6Message, known: KnownPeer) -> None:
        """Take a message within a context."""
        match arrival.message:
            case UpdateRequest() as request:
                self._take_request(context, arrival.pair, request, known)
            case UpdateAcknowledgement() as acknowledgement:
                self._updates.take_acknowledgement(context, acknowledgement.nonce)
            case Keepalive() | Probe() as message:
                self._outbox.add(Received(context.name, message, arrival.pair))

    def _take_request(self, context: Context, pair: Pair, request: UpdateRequest, known: KnownPeer) -> None:
        """Section 10.4; the acknowledgement bears the peer's tag, which I2-SENT may not know yet."""
        if context.peer_tag is None:
            return
        if known != context.known:
            context.learn(known, pair.peer)
            self._outbox.add(Ready(context.name))
        self._outbox.send(pair, UpdateAcknowledgement(context.peer_tag, request.nonce))

    def _take_error(self, error: Error) -> None:
        """Find the context that the message in error was for: it was sent from here."""
        quoted = ipv6.Packet.decode(error.packet)
        pair = Pair(quoted.source, quoted.destination)
        kind, tag = kind_and_tag(quoted.upper_layer(BEFORE_SHIM6).data)
        bears_our_tag = kind in (MessageType.I1, MessageType.I2, MessageType.I2BIS, MessageType.R2)
        context = self.contexts.tagged(tag) if bears_our_tag else self.contexts.sending(tag, pair)
        if context is None or not self._is_between(context, pair):
            raise MessageError("an error about a message that is none of ours")
        self._outbox.add(PeerError(context.name, error.code, error.pointer))

    def _take_icmp(self, message: icmpv6.Message, now: float) -> None:
        """Learn that a peer has no Shim6, but only from the very I1 that it got (section 7.8)."""
        if (message.type, message.code) != (icmpv6.PARAMETER_PROBLEM, UNRECOGNISED_NEXT_HEADER):
            raise MessageError(f"ICMPv6 {message.type}, code {message.code}, says nothing of Shim6")
        quoted = ipv6.Packet.decode(message.body[POINTER_OCTETS:])
        i1 = decode(quoted.upper_layer(BEFORE_SHIM6).data)
        if not isinstance(i1, I1):
            raise MessageError("an ICMPv6 error about another message than I1")
        context = self._asked(i1.initiator_nonce, Pair(quoted.source, quoted.destination))
        if context.tag != i1.tag:
            raise MessageError("an ICMPv6 error about an I1 that is none of ours")
        self._machine.fire(context, Trigger.PEER_HAS_NO_SHIM6, ReceivedShim6Message(context.exchange), now)

    def _name(self, pair: Pair, message: I1 | I2 | I2bis) -> SessionKey:
        """Return which context a message of its set-up means (sections 7.9, 7.13 and 7.20)."""
        ulids = option_of(message.options, UlidPair)
        forked = option_of(message.options, ForkedInstance)
        local, peer = (ulids.receiver, ulids.sender) if ulids else pair
        if local not in self._hosts:
            raise MessageError(f"{local} is no identity of a host here")
        return SessionKey(local, peer, forked.identifier if forked else 0)

    def _know(self, pair: Pair, name: SessionKey, message: I2 | I2bis | R2, context: Context | None) -> KnownPeer:
        """Return what is known of a peer's locators now.

        The message must come from one of them, or from the identity itself, which may be about to be given up.
        """
        known = context.known if context is not None and context.state in USABLE else KnownPeer(frozenset({name.peer}))
        known = self._learn(name, message.options, known)
        if pair.peer not in known.locators | {name.peer}:
            raise ProofError(f"nothing proves that {name.peer} is at {pair.peer}")
        return known

    def _asked(self, nonce: int, pair: Pair) -> Context:
        context = self.contexts.asked(nonce, pair)
        if context is None:
            raise MessageError("an answer to nothing that was asked")
        return context

    def _sending(self, tag: int, pair: Pair) -> Context:
        context = self.contexts.sending(tag, pair)
        if context is None or not self._is_between(context, pair):
            raise MessageError("a message about a tag that is not on packets of ours")
        return context

    def _is_between(self, context: Context, pair: Pair) -> bool:
        """Tell whether locators are the context's; until the peer knows that one is gone, it still is."""
        hosts = context.told | {self._hosts[context.name.local]}
        return pair.peer in context.known.locators and any(pair.local in host.locators for host in hosts)
