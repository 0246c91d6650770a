"""Carries out what the rows of the state machine say: messages, timers, and what became of an association."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.hip.admission_control import Limits
from wayname.hip.association import Association, LocalHost, Names, Transport
from wayname.hip.associations import Associations
from wayname.hip.exchange import Answer, Exchange
from wayname.hip.messages import Kind, Message
from wayname.hip.outputs import Failed, Gone, Outbox, Standing, Up
from wayname.hip.parameters import EchoRequestSigned
from wayname.hip.proofs import seal, seal_answer
from wayname.hip.settings import (
    CLOSED_TIME,
    CLOSING_TIME,
    EXCHANGE_COMPLETE_TIME,
    FAILED_TIME,
    FIRST_TIMEOUT,
    I1_RETRIES_MAX,
    I2_RETRIES_MAX,
    Settings,
)
from wayname.hip.states import TRANSITIONS, USABLE, Action, State, Trigger
from wayname.hip.updates import NONCE_OCTETS, Updates
from wayname.session.keys import Pair
from wayname.timers import Timers

_TRIES = {State.I1_SENT: I1_RETRIES_MAX, State.I2_SENT: I2_RETRIES_MAX}
_REPEATING = {*_TRIES, State.CLOSING}


@dataclass(frozen=True, slots=True)
class ReceivedHipPacket:
    """What arrived: the addresses as seen from here, the message, and what the exchange makes of it."""

    pair: Pair
    message: Message | None = None
    octets: bytes = b""
    answer: Answer | None = None
    transport: Transport | None = None


class Machine:
    """All associations' state machines; whoever calls `fire` has checked what arrived."""

    def __init__(
        self,
        hosts: Mapping[IPv6Address, LocalHost],
        associations: Associations,
        exchange: Exchange,
        updates: Updates,
        outbox: Outbox,
        limits: Limits,
        settings: Settings,
        rng: random.Random,
    ) -> None:
        self.timers: Timers[Names] = Timers()
        self._hosts = hosts
        self._associations = associations
        self._exchange = exchange
        self._updates = updates
        self._outbox = outbox
        self._limits = limits
        self._settings = settings
        self._rng = rng

    def fire(self, association: Association, trigger: Trigger, arrival: ReceivedHipPacket, now: float) -> bool:
        """Follow a row; tell whether there is one."""
        before = association.state
        row = TRANSITIONS[before].get(trigger)
        if row is None:
            return False
        if before in USABLE and (row.state not in USABLE or Action.TAKE_I2 in row.actions):
            self._forget_transport(association, before, trigger, row.state)
        for action in row.actions:
            self._do(action, association, arrival, now)
        association.state = row.state
        if row.state is State.UNASSOCIATED:
            # Whoever only answers I1s keeps nothing.
            self.timers.cancel(association.names)
            self._associations.remove(association)
            return True
        if row.state is State.E_FAILED and before is not State.E_FAILED:
            self._outbox.add(Failed(association.names))
        if row.state is not before or trigger in (Trigger.TIMEOUT, Trigger.R1, Trigger.I2):
            self._arm(association, trigger, now)
        if Action.TAKE_I2 in row.actions or Action.TAKE_R2 in row.actions:
            self._outbox.add(Up(Standing.of(association, now)))
            association.used = now
        if row.state is State.ESTABLISHED and before is not State.ESTABLISHED:
            # The peer can take it now.
            self._updates.tell(association, now)
        return True

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        for names in self.timers.due(now):
            association = self._associations.named(names)
            if association is not None:
                self.fire(association, self._meaning(association, now), ReceivedHipPacket(association.pair), now)
                if association.state is State.ESTABLISHED and self.timers.at(names) is None:
                    self._arm(association, Trigger.DATA, now)

    def _meaning(self, association: Association, now: float) -> Trigger:
        if association.state is State.ESTABLISHED:
            return Trigger.UNUSED if association.used + self._settings.unused_time <= now else Trigger.DATA
        if association.state is State.CLOSING:
            return Trigger.TIMEOUT if association.waited < CLOSING_TIME else Trigger.OUT_OF_TRIES
        most = _TRIES.get(association.state)
        return Trigger.OUT_OF_TRIES if most is not None and association.tries >= most else Trigger.TIMEOUT

    def _arm(self, association: Association, trigger: Trigger, now: float) -> None:
        """Set the timer of a state that was entered, or of a message that went once more."""
        state = association.state
        again = trigger is Trigger.TIMEOUT and state in _REPEATING
        association.tries = association.tries + 1 if again else 0
        delay = {
            State.R2_SENT: EXCHANGE_COMPLETE_TIME,
            State.CLOSED: CLOSED_TIME,
            State.E_FAILED: FAILED_TIME,
            State.ESTABLISHED: max(association.used + self._settings.unused_time - now, 0.0),
        }.get(state, FIRST_TIMEOUT * 2**association.tries * self._rng.uniform(1.0, 1.25))
        association.waited = association.waited + delay if again else delay
        if math.isinf(delay):
            self.timers.cancel(association.names)
        else:
            self.timers.set(association.names, now + delay)

    def _do(self, action: Action, association: Association, arrival: ReceivedHipPacket, now: float) -> None:
        match action, arrival:
            case Action.SEND_I1, _:
                association.sent = self._exchange.i1(association.names)
                self._send(association)
            case Action.ASK_ANEW, _:
                self._outbox.send(association.pair, self._exchange.i1(association.names))
            case Action.SEND_R1, ReceivedHipPacket(pair=pair, message=Message() as asked):
                longer = self._limits.longer(self._exchange.is_wanted(association.names, pair))
                if longer.is_open(pair.peer, now):
                    r1 = self._exchange.r1(asked, pair, now)
                    longer.take(pair.peer, now, max(len(r1) - len(arrival.octets), 1))
                    self._outbox.send(pair, r1)
            case Action.TAKE_R1, ReceivedHipPacket(message=Message() as r1, answer=Answer() as answer):
                self._take(association, answer)
                association.peer_counter = self._exchange.remember_counter(r1)
            case Action.TAKE_I2, ReceivedHipPacket(answer=Answer() as answer):
                self._take(association, answer)
                association.i2 = arrival.octets
            case Action.TAKE_R2, _:
                association.transport = arrival.transport
            case Action.SEND_I2 | Action.SEND_R2, _:
                self._send(association)
            case Action.SEND_CLOSE, _:
                association.close_nonce = association.close_nonce or self._rng.randbytes(NONCE_OCTETS)
                request = Message(Kind.CLOSE, *association.names, (EchoRequestSigned(association.close_nonce),))
                self._outbox.send(association.pair, self._seal(association, request))
            case Action.SEND_CLOSE_ACK, ReceivedHipPacket(pair=pair, message=Message() as close):
                # A CLOSE that is replayed may come from anywhere.
                if self._limits.answers.may(pair.peer, now):
                    self._outbox.send(pair, self._seal(association, Message(Kind.CLOSE_ACK, *association.names), close))
            case Action.PROCESS, ReceivedHipPacket(pair=pair, message=Message() as update):
                association.used = now
                self._updates.receive(association, update, pair, now)
            case _:
                raise AssertionError(f"{action} with {arrival}")

    def _take(self, association: Association, answer: Answer) -> None:
        """Take what an exchange agreed on in the place of what was before."""
        self._associations.release(association)
        self._updates.cancel(association)
        association.begin_anew()
        association.sent, association.secured, association.transport = answer.octets, answer.secured, answer.transport

    def _forget_transport(self, association: Association, before: State, trigger: Trigger, after: State) -> None:
        """Packets of an association can pass no more; a new one that takes its place says so itself."""
        if after in USABLE:
            return
        self._updates.cancel(association)
        self._associations.release(association)
        association.transport = association.rekeying = None
        self._outbox.add(Gone(association.names, trigger))

    def _send(self, association: Association) -> None:
        self._outbox.send(association.pair, association.sent)

    def _seal(self, association: Association, message: Message, asked: Message | None = None) -> bytes:
        assert association.secured is not None
        identity, secured = self._hosts[association.names.local].identity, association.secured
        if asked is None:
            return seal(message, identity, secured.outgoing.integrity, secured.rhash)
        return seal_answer(message, asked, identity, secured.outgoing.integrity, secured.rhash)
