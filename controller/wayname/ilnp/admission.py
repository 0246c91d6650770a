"""Carries out what the rows of the session's state machine say: messages, timers, entries."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from wayname.ilnp.cache import Cache, Entry, Names
from wayname.ilnp.config import NonceUse
from wayname.ilnp.cookies import Asked, Cookies
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.locator_update import Listed
from wayname.ilnp.locators import Host, PeerLocators
from wayname.ilnp.nonce import with_nonce
from wayname.ilnp.outputs import Changed, Gone, Kind, Outbox, Send, Session, Up
from wayname.ilnp.settings import (
    FIRST_TIMEOUT,
    HOLD_DOWN_TIME,
    NONCE_TIME,
    SEEN_LIFETIME,
    TRIES,
    WITHOUT_ILNP_TIME,
    Settings,
)
from wayname.ilnp.states import TRANSITIONS, USABLE, Action, State, Trigger
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.timers import Timers
from wayname.wire.icmpv6 import Message

HOLD_DOWN_TIMES = {State.UNANSWERED: HOLD_DOWN_TIME, State.WITHOUT_ILNP: WITHOUT_ILNP_TIME}


class Due(Enum):
    """What a timer is for."""

    TRY = auto()
    IDLE = auto()
    LIFETIME = auto()
    NONCE = auto()
    TELL = auto()
    GRACE = auto()


@dataclass(slots=True)
class Setup:
    """A session that a host here asked for and that does not stand."""

    local: Vector
    peer: Vector
    nonce: bytes = field(repr=False)
    peer_locators: PeerLocators
    state: State = State.CLOSED
    tries: int = 0


@dataclass(frozen=True, slots=True)
class ReceivedIlnpMessage:
    """What came, seen from here, checked: between which vectors, and which nonces it leads to."""

    local: Vector
    peer: Vector
    nonce_to_peer: bytes = field(default=b"", repr=False)
    nonce_from_peer: bytes = field(default=b"", repr=False)
    # Whether the hosts know each other by these vectors: a flow of theirs bears them.
    is_flow: bool = False


NOTHING_CAME = ReceivedIlnpMessage(Vector(L64(0), NID(0)), Vector(L64(0), NID(0)))
_WITH_TRIES = frozenset({State.REQUESTED, State.ACKNOWLEDGED})


class Admission:
    """All sessions' state machines; whoever calls `fire` has checked what arrived."""

    def __init__(
        self,
        hosts: Mapping[NID, Host],
        cache: Cache,
        outbox: Outbox,
        rng: random.Random,
        settings: Settings,
        on_established: Callable[[Entry, float], None],
    ) -> None:
        self.cookies = Cookies(rng, settings.capacity, settings.secret)
        # The least proven first: those that did not answer, then those that were asked longest ago.
        self.setups: OrderedDict[Names, Setup] = OrderedDict()
        self.timers: Timers[tuple[Due, Names]] = Timers()
        self._hosts = hosts
        self._cache = cache
        self._outbox = outbox
        self._rng = rng
        self._settings = settings
        self._on_established = on_established

    @property
    def places(self) -> int:
        """How many places of the cache are taken; who is only asked for has one until somebody proven wants it."""
        return len(self._cache) + len(self.setups)

    def state_of(self, names: Names) -> State:
        """Return how far a session is."""
        entry, setup = self._cache.named(names), self.setups.get(names)
        if entry is not None:
            return entry.state
        return State.CLOSED if setup is None else setup.state

    def prepare(self, names: Names, local: Vector, peer: Vector, peer_locators: PeerLocators, now: float) -> None:
        """Make ready to ask for a session."""
        if len(self.setups) >= self._settings.half_open:
            self.give_up_least_proven(now)
        self.setups[names] = Setup(local, peer, self.new_nonce(), peer_locators)

    def give_up_least_proven(self, now: float) -> None:
        """Forget a session that is only asked for."""
        names, _ = self.setups.popitem(last=False)
        self._forget_timers(names)
        self._outbox.event(Kind.HALF_OPEN, f"{names}: given up before anybody answered, for want of room", now)

    def new_nonce(self) -> bytes:
        """Return a random nonce, which is not zero."""
        nonce = self._rng.randbytes(self._settings.nonce_octets)
        while not any(nonce):
            nonce = self._rng.randbytes(self._settings.nonce_octets)
        return nonce

    def fire(self, names: Names, trigger: Trigger, arrival: ReceivedIlnpMessage, now: float) -> None:
        """Follow a row."""
        before = self.state_of(names)
        row = TRANSITIONS[before].get(trigger)
        if row is None:
            self._outbox.event(Kind.PROTOCOL, f"{names}: {trigger.name} while {before.name}", now)
            return
        for action in row.actions:
            self._do(action, names, arrival, now)
        self._enter(names, before, row.state, now)
        if row.state is not before or trigger is Trigger.TIMEOUT:
            self._arm(names, row.state, now)
        if row.state is State.ESTABLISHED and (before is not row.state or Action.ADMIT in row.actions):
            self._on_established(self._entry(names), now)

    def out_of_time(self, names: Names, now: float) -> None:
        """Try again, or give up."""
        state = self.state_of(names)
        trigger = Trigger.TIMEOUT
        if state in _WITH_TRIES and self._tries(names) >= TRIES:
            trigger = Trigger.OUT_OF_TRIES
            if state is State.REQUESTED:
                self._outbox.event(Kind.UNANSWERED, f"{names}: nobody answered {TRIES} requests for a session", now)
        self.fire(names, trigger, NOTHING_CAME, now)

    def changed(self, entry: Entry, now: float) -> None:
        """Let the tables know what became of a session."""
        self._outbox.add(Changed(Session.of(entry, self._hosts[entry.names.local], now)))

    def remove(self, names: Names, why: str) -> None:
        """Forget a session, and let the tables do so."""
        self._cache.remove(names)
        self._forget_timers(names)
        self._outbox.add(Gone(names, why))

    def bear_nonce(self, entry: Entry, now: float) -> None:
        """Let the packets of a session bear the nonce: for a while, or as long as it stands."""
        entry.bears_nonce = True
        if self._settings.nonce_use is NonceUse.AT_FIRST:
            self.timers.set((Due.NONCE, entry.names), now + NONCE_TIME)

    def watch_use(self, entry: Entry) -> None:
        """Look whether a session is in use when it may not be any more."""
        if self._settings.idle is not None:
            self.timers.set((Due.IDLE, entry.names), entry.used + self._settings.idle)

    def resume(self, entry: Entry, now: float) -> None:
        """Have a session of an earlier program."""
        self._cache.put(entry)
        if entry.bears_nonce:
            self.bear_nonce(entry, now)
        self.watch_lifetimes(entry, now)
        self.watch_use(entry)
        self._arm(entry.names, entry.state, now)

    def watch_lifetimes(self, entry: Entry, now: float) -> None:
        """Look at a session again when the lifetime of a locator is over, if there is another one to go to."""
        at = entry.peer_locators.next_expiry(now)
        if at is None or len(entry.peer_locators.known) == 1:
            self.timers.cancel((Due.LIFETIME, entry.names))
        else:
            self.timers.set((Due.LIFETIME, entry.names), at)

    def _do(self, action: Action, names: Names, arrival: ReceivedIlnpMessage, now: float) -> None:
        match action:
            case Action.ADMIT:
                self._admit(names, arrival, now)
            case Action.ANSWER_WITHOUT_STATE:
                asked = Asked(arrival.local, arrival.peer, arrival.nonce_from_peer)
                nonce = self.cookies.make(asked, now)
                self._send(arrival, Handshake(Control.REQUEST_AND_ACKNOWLEDGE, nonce, arrival.nonce_from_peer))
            case Action.SEND_REQUEST:
                self._request(self.setups[names])
            case Action.SEND_ANSWER:
                own = self._own_nonce(names)
                self._send(arrival, Handshake(Control.REQUEST_AND_ACKNOWLEDGE, own, arrival.nonce_from_peer))
            case Action.SEND_ACKNOWLEDGEMENT:
                entry = self._entry(names)
                message = Handshake(Control.ACKNOWLEDGE, entry.nonce_to_peer, entry.nonce_from_peer)
                self._send(arrival, message)
            case Action.SEND_QUESTION:
                entry = self._entry(names)
                entry.tries += 1
                ends = ReceivedIlnpMessage(Vector(entry.source, names.local), Vector(entry.destination, names.peer))
                self._send(ends, Handshake(Control.REQUEST, entry.nonce_to_peer, entry.nonce_from_peer))

    def _admit(self, names: Names, arrival: ReceivedIlnpMessage, now: float) -> None:
        """Make an entry; what a host here asked for keeps the identities that it asked by."""
        setup = self.setups.pop(names, None)
        seen = Listed(arrival.peer.locator, 0, SEEN_LIFETIME)
        known = PeerLocators.of([seen], now)
        local, peer = arrival.local, arrival.peer
        own = self._hosts[names.local].own
        if own is not None:
            local = Vector(own, names.local)
        if setup is not None and arrival.peer.locator in setup.peer_locators:
            known = setup.peer_locators
            if not arrival.is_flow:
                local, peer = setup.local, setup.peer
        entry = Entry(
            names,
            State.ESTABLISHED,
            local,
            peer,
            arrival.nonce_to_peer,
            arrival.nonce_from_peer,
            arrival.local.locator,
            arrival.peer.locator,
            known,
            used=now,
        )
        known.use(entry.destination, now)
        entry.told.listed = tuple(one for one in self._hosts[names.local].listed if one.locator == entry.source)
        self._forget_timers(names)
        self._cache.put(entry)
        self.bear_nonce(entry, now)
        self.watch_lifetimes(entry, now)
        self.watch_use(entry)
        self._outbox.add(Up(Session.of(entry, self._hosts[names.local], now)))

    def _request(self, setup: Setup) -> None:
        """Ask; each time at another locator of the peer if it has more than one."""
        host = self._hosts[setup.local.nid]
        locators = list(setup.peer_locators.known)
        there = Vector(locators[setup.tries % len(locators)], setup.peer.nid)
        setup.tries += 1
        here = Vector(setup.local.locator if setup.local.locator in host else host.best, host.nid)
        self._send(ReceivedIlnpMessage(here, there), Handshake(Control.REQUEST, setup.nonce))

    def _enter(self, names: Names, before: State, after: State, now: float) -> None:
        """Note the state of what there is after the row's actions; forget what nothing is kept of."""
        entry, setup = self._cache.named(names), self.setups.get(names)
        if after in USABLE:
            assert entry is not None
            entry.state = after
        elif entry is not None:
            unconfirmed = before is State.ACKNOWLEDGED
            self.remove(names, "the peer never confirmed it" if unconfirmed else "it is not wanted any more")
        elif setup is not None:
            setup.state = after
            if after is State.CLOSED:
                del self.setups[names]
            elif after in HOLD_DOWN_TIMES:
                self.setups.move_to_end(names, last=False)

    def _arm(self, names: Names, state: State, now: float) -> None:
        if state in HOLD_DOWN_TIMES:
            self.timers.set((Due.TRY, names), now + HOLD_DOWN_TIMES[state])
        elif state in _WITH_TRIES:
            self.timers.set((Due.TRY, names), now + FIRST_TIMEOUT * 2 ** (self._tries(names) - 1))
        else:
            self.timers.cancel((Due.TRY, names))

    def _send(self, ends: ReceivedIlnpMessage, message: Handshake) -> None:
        packet = Message(SESSION_REQUEST, 0, message.encode()).packet(ends.local.address, ends.peer.address)
        self._outbox.add(Send(with_nonce(packet, message.source_nonce)))

    def _forget_timers(self, names: Names) -> None:
        for due in Due:
            self.timers.cancel((due, names))

    def _tries(self, names: Names) -> int:
        """Return how often a message was sent, the first time among them."""
        entry = self._cache.named(names)
        return self.setups[names].tries if entry is None else entry.tries

    def _own_nonce(self, names: Names) -> bytes:
        entry = self._cache.named(names)
        return entry.nonce_to_peer if entry is not None else self.setups[names].nonce

    def _entry(self, names: Names) -> Entry:
        entry = self._cache.named(names)
        assert entry is not None
        return entry
