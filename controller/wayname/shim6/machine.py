"""Carries out what the rows of the state machine say: messages, timers, and what became of a context."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import Context, KnownPeer, LocalHost, option_of
from wayname.shim6.contexts import Contexts
from wayname.shim6.limits import Limits
from wayname.shim6.outputs import Failed, Lost, Outbox, Ready, Refused
from wayname.shim6.states import TRANSITIONS, USABLE, Action, State, Trigger
from wayname.shim6.validators import VALIDATOR_OCTETS, Question, Validators
from wayname.timers import Timers
from wayname.wire.shim6.errors import MessageError
from wayname.wire.shim6.messages import (
    I1,
    I2,
    R1,
    R2,
    I2bis,
    Keepalive,
    Message,
    Probe,
    R1bis,
    UpdateAcknowledgement,
    UpdateRequest,
    encode,
)
from wayname.wire.shim6.options import ForkedInstance, Option, ResponderValidator, UlidPair
from wayname.wire.shim6.payload import PayloadHeader

# Section 14, in seconds.
I1_RETRIES_MAX = 4
I2_RETRIES_MAX = 2
FIRST_TIMEOUT = 4.0
NO_R1_HOLDDOWN_TIME = 60.0
ICMP_HOLDDOWN_TIME = 600.0
HOLDDOWN_TIMES = {State.E_FAILED: NO_R1_HOLDDOWN_TIME, State.NO_SUPPORT: ICMP_HOLDDOWN_TIME}


_WITH_TRIES = frozenset({State.I2_SENT, State.I2BIS_SENT})


@dataclass(frozen=True, slots=True)
class ReceivedShim6Message:
    """What arrived: the locators seen from here, the message, what it proves of its sender's locators, its octets."""

    pair: Pair
    message: Message | PayloadHeader | None = None
    known: KnownPeer | None = None
    octets: int = 0


class Machine:
    """All contexts' state machines; whoever calls `fire` has checked what arrived."""

    def __init__(
        self,
        hosts: Mapping[IPv6Address, LocalHost],
        contexts: Contexts,
        outbox: Outbox,
        rng: random.Random,
        limits: Limits,
        on_change: Callable[[Context, float], None],
        secret: bytes | None,
    ) -> None:
        self.timers: Timers[SessionKey] = Timers()
        self.validators = Validators(rng, secret)
        self._hosts = hosts
        self._contexts = contexts
        self._outbox = outbox
        self._rng = rng
        self._limits = limits
        self._on_change = on_change

    def fire(self, context: Context, trigger: Trigger, arrival: ReceivedShim6Message, now: float) -> bool:
        """Follow a row; tell whether the message is to be processed within its context."""
        before = context.state
        row = TRANSITIONS[before].get(trigger)
        if row is None:
            self._outbox.add(Refused(context.name, before, trigger))
            return False
        for action in row.actions:
            self._do(action, context, arrival, now)
        self._enter(row.state, context, trigger)
        if Action.RECORD_PEER in row.actions and row.state in USABLE:
            self._outbox.add(Ready(context.name))
        if row.state is not before or trigger is Trigger.TIMEOUT:
            self._arm(context, now)
        self._on_change(context, now)
        return Action.PROCESS in row.actions

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        for name in self.timers.due(now):
            context = self._contexts.named(name)
            if context is not None:
                self.fire(context, _timeout(context), ReceivedShim6Message(context.exchange), now)

    def send_r1bis(self, tag: int, arrival: ReceivedShim6Message, now: float) -> None:
        """Say that no context has a tag; nothing is kept (section 7.17)."""
        if self._limits.longer.is_open(arrival.pair.peer, now):
            nonce, validator = self.validators.make(r1bis_question(arrival.pair, tag), now)
            self._send_longer(arrival, R1bis(tag, nonce, (ResponderValidator(validator),)), now)

    def _send_longer(self, arrival: ReceivedShim6Message, message: Message, now: float) -> None:
        """Answer what anybody can have sent, and count by how much the answer is longer."""
        sent = self._outbox.send(arrival.pair, message)
        self._limits.longer.take(arrival.pair.peer, now, max(sent - arrival.octets, 0))

    def _do(self, action: Action, context: Context, arrival: ReceivedShim6Message, now: float) -> None:
        match action, arrival.message:
            case Action.SEND_I1, _:
                context.i1s += 1
                self._outbox.send(context.exchange, I1(context.tag, context.nonce, _name_options(context)))
            case Action.SEND_R1, I1() as asked:
                if self._limits.longer.is_open(arrival.pair.peer, now):
                    nonce, validator = self.validators.make(r1_question(arrival.pair, asked.tag, context.name), now)
                    r1 = R1(asked.initiator_nonce, nonce, (ResponderValidator(validator),))
                    self._send_longer(arrival, r1, now)
            case Action.SEND_I2, _:
                self._outbox.send(context.exchange, self._i2(context))
            case Action.SEND_R2, I1() as asked:
                # The list and its proofs are many times as long as an I1, which anybody can send in the peer's name.
                if self._limits.longer.is_open(arrival.pair.peer, now):
                    self._send_longer(arrival, R2(context.tag, asked.initiator_nonce, self._tell(context)), now)
            case Action.SEND_R2, I2() | I2bis() as asked:
                self._outbox.send(arrival.pair, R2(context.tag, asked.initiator_nonce, self._tell(context)))
            case (
                Action.SEND_R1BIS,
                PayloadHeader() | UpdateRequest() | UpdateAcknowledgement() | Keepalive() | Probe() as used,
            ):
                self.send_r1bis(used.tag, arrival, now)
            case Action.SEND_I2BIS, _:
                self._outbox.send(context.exchange, self._i2bis(context))
            case Action.RECORD_VALIDATOR, R1() as answer:
                context.responder_nonce, context.validator = answer.responder_nonce, validator_of(answer)
            case Action.RECORD_VALIDATOR, R1bis() as answer:
                context.responder_nonce, context.validator = answer.responder_nonce, validator_of(answer)
                context.packet_tag, context.exchange = answer.packet_tag, arrival.pair
                # It knows nothing any more; what I2bis tells is acknowledged by R2.
                context.told, context.telling = frozenset(), None
                self._contexts.renew_nonce(context)
            case Action.RECORD_PEER, I2() | I2bis() | R2() as told:
                self._record_peer(context, arrival, told.tag, now)

    def _i2(self, context: Context) -> I2:
        return I2(context.tag, context.nonce, context.responder_nonce, self._i2_options(context))

    def _i2bis(self, context: Context) -> I2bis:
        return I2bis(context.tag, context.nonce, context.responder_nonce, context.packet_tag, self._i2_options(context))

    def _i2_options(self, context: Context) -> tuple[Option, ...]:
        return (ResponderValidator(context.validator), *_name_options(context), *self._tell(context))

    def _tell(self, context: Context) -> tuple[Option, ...]:
        host = self._hosts[context.name.local]
        context.told |= {host}
        return host.options

    def _record_peer(self, context: Context, arrival: ReceivedShim6Message, tag: int, now: float) -> None:
        """Take note of what the peer told, and forget contexts that it must have lost (sections 7.13 to 7.16)."""
        self._contexts.set_peer_tag(context, tag)
        if arrival.known is not None:
            context.learn(arrival.known, arrival.pair.peer)
        for other in self._contexts.confused_with(context):
            self.fire(other, Trigger.CONFUSED, ReceivedShim6Message(other.pair), now)

    def _enter(self, state: State, context: Context, trigger: Trigger) -> None:
        """Go to a state, and tell what became of the context."""
        before, context.state = context.state, state
        if state in _WITH_TRIES:
            context.tries = context.tries + (trigger is Trigger.TIMEOUT) if state is before else 0
        if state is State.ESTABLISHED:
            context.i1s = 0
        if before in USABLE and state not in USABLE:
            self._outbox.add(Lost(context.name, trigger))
        if state is before:
            return
        if state is State.I1_SENT or state in HOLDDOWN_TIMES:
            self._contexts.set_peer_tag(context, None)
            context.told = frozenset()
        if state in HOLDDOWN_TIMES:
            self._outbox.add(Failed(context.name, state))
        if state is State.IDLE:
            self._contexts.remove(context)

    def _arm(self, context: Context, now: float) -> None:
        """Set the timer of a state, or take away the one of the state before."""
        match context.state:
            case State.I1_SENT:
                self.timers.set(context.name, now + self._back_off(context.i1s - 1))
            case State.I2_SENT | State.I2BIS_SENT:
                self.timers.set(context.name, now + self._back_off(context.tries))
            case State.E_FAILED | State.NO_SUPPORT:
                self.timers.set(context.name, now + HOLDDOWN_TIMES[context.state])
            case _:
                self.timers.cancel(context.name)

    def _back_off(self, repetitions: int) -> float:
        """Twice as long each time, and then between half of it and half more (section 14)."""
        return FIRST_TIMEOUT * (1 << repetitions) * self._rng.uniform(0.5, 1.5)


def check_size(host: LocalHost) -> None:
    """Raise MessageError if the longest message that tells a host's locators were too long."""
    options = (ResponderValidator(bytes(VALIDATOR_OCTETS)), UlidPair(host.ulid, host.ulid), ForkedInstance(1))
    encode(I2bis(0, 0, 0, 0, (*options, *host.options)))


def _timeout(context: Context) -> Trigger:
    """Tell what a timeout means.

    I1s are counted over the whole set-up: a peer that answers each I1 but never I2 does not keep us busy for ever.
    """
    if context.state in _WITH_TRIES and context.tries < I2_RETRIES_MAX:
        return Trigger.TIMEOUT
    if context.state in HOLDDOWN_TIMES:
        return Trigger.TIMEOUT
    if context.i1s > I1_RETRIES_MAX:
        return Trigger.OUT_OF_I1S
    return Trigger.TIMEOUT if context.state is State.I1_SENT else Trigger.OUT_OF_TRIES


def _name_options(context: Context) -> tuple[Option, ...]:
    """Name the context, where the addresses of the packet do not."""
    options: tuple[Option, ...] = ()
    if context.exchange != context.name[:2]:
        options += (UlidPair(context.name.local, context.name.peer),)
    if context.name.instance:
        options += (ForkedInstance(context.name.instance),)
    return options


def r1_question(pair: Pair, tag: int, name: SessionKey) -> Question:
    """Return what the validator of an R1 answers for (section 7.10.1)."""
    return Question(tag, pair.peer, pair.local, (name.peer, name.local), name.instance)


def r1bis_question(pair: Pair, tag: int) -> Question:
    """Return what the validator of an R1bis answers for (section 7.17.1)."""
    return Question(tag, pair.peer, pair.local)


def validator_of(message: R1 | R1bis | I2 | I2bis) -> bytes:
    """Return a message's validator, which it must have."""
    option = option_of(message.options, ResponderValidator)
    if option is None:
        raise MessageError(f"{type(message).__name__} without a validator")
    return option.validator
