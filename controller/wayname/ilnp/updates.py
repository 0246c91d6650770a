"""Locator Updates: tells peers where hosts here are, and learns from peers where they are (RFC 6743; RFC 6740, 6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

from wayname.ilnp.admission import Admission, Due
from wayname.ilnp.cache import REMEMBERED_LISTS, Entry
from wayname.ilnp.errors import MessageError, ReplayError
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.locators import HandOff, Host, PeerLocators, hand_off
from wayname.ilnp.nonce import with_nonce
from wayname.ilnp.outputs import Kind, Outbox, Send, UpdateUnacknowledged
from wayname.ilnp.sequence import with_sequence
from wayname.ilnp.settings import GRACE_TIME, OLD_LIST_TIME, UPDATE_TIMEOUT, UPDATE_TRIES
from wayname.ilnp.states import TELLINGS, UpdateAction, UpdateState, UpdateTrigger
from wayname.ilnp.vectors import L64, NID, Vector, half_text
from wayname.wire.icmpv6 import Message

# So many lists in a row are told apart by their lifetimes.
SERIALS = 8


class Updates:
    """Both directions of Locator Updates, for all sessions; nonces were checked before."""

    def __init__(self, hosts: Mapping[NID, Host], admission: Admission, outbox: Outbox) -> None:
        self._hosts = hosts
        self._admission = admission
        self._outbox = outbox

    def move(self, entry: Entry, before: Host, now: float) -> None:
        """Let a session follow its host, which has other locators now."""
        host = self._hosts[entry.names.local]
        for one in before.locators:
            if one.locator not in host:
                entry.leaving[one.locator] = now + GRACE_TIME
        self._watch_left(entry)
        self._leave_if_gone(entry, now)
        self._admission.bear_nonce(entry, now)
        self._admission.changed(entry, now)
        self.tell(entry, now)

    def resume(self, entry: Entry, now: float) -> None:
        """Go on with a session of an earlier program: its host may have moved, and an answer may be lost."""
        self._leave_if_gone(entry, now)
        self._watch_left(entry)
        self._admission.changed(entry, now)
        if entry.told.state is UpdateState.TOLD:
            self.tell(entry, now)
        else:
            self._tell_anew(entry, now)

    def tell(self, entry: Entry, now: float) -> None:
        """Tell a peer all locators, unless it knows them already or is being told."""
        listed = self._hosts[entry.names.local].listed
        told = entry.told
        if told.state is not UpdateState.UNHEARD and _same(listed, told.listed):
            return
        told.overtaken = told.overtaken or told.state is UpdateState.UNDER_WAY
        self._tell_anew(entry, now)

    def out_of_time(self, entry: Entry, now: float) -> None:
        """Tell again, or give up."""
        told = entry.told
        if told.state is UpdateState.TOLD:
            self._renew(entry)
            told.tries = 0
        self._fire(entry, UpdateTrigger.OUT_OF_TRIES if told.tries >= UPDATE_TRIES else UpdateTrigger.TIMEOUT, now)

    def forget_left(self, entry: Entry, now: float) -> None:
        """Take no more packets to locators that were given up long enough ago."""
        entry.leaving = {locator: until for locator, until in entry.leaving.items() if until > now}
        self._watch_left(entry)
        self._admission.changed(entry, now)

    def receive(
        self, entry: Entry, source: L64, destination: L64, update: LocatorUpdate, number: int | None, now: float
    ) -> None:
        """Take an update whose nonce is right."""
        if update.operation is Operation.ACKNOWLEDGEMENT:
            if update.listed != entry.told.listed:
                self._wonder(entry, now)
                raise MessageError("an acknowledgement of locators that were not told last")
            self._fire(entry, UpdateTrigger.ACKNOWLEDGED, now)
            doubted, entry.heard.doubted = entry.heard.doubted, ()
            if doubted and source == _first(doubted):
                self._learn(entry, source, doubted, now)
            return
        self._check_order(entry, update.listed, number, now)
        if update.listed != entry.heard.listed:
            self._learn(entry, source, update.listed, now)
        if number is not None:
            entry.heard.number = number
        ends = Vector(destination, entry.names.local), Vector(source, entry.names.peer)
        self._send(entry, *ends, LocatorUpdate(Operation.ACKNOWLEDGEMENT, update.listed))

    def look_again(self, entry: Entry, listed: Iterable[Listed], now: float) -> None:
        """Take locators of a peer from the DNS: it may have moved at the same time as we did (RFC 6740, 6.2)."""
        entry.peer_locators = PeerLocators.of(listed, now, entry.peer_locators)
        entry.destination = entry.peer_locators.best(now)
        self._admission.watch_lifetimes(entry, now)
        self._admission.changed(entry, now)
        if entry.told.state is UpdateState.UNHEARD:
            self._tell_anew(entry, now)

    def choose_again(self, entry: Entry, now: float) -> None:
        """Leave a locator whose lifetime is over, if another one is better."""
        best = entry.peer_locators.best(now)
        if best != entry.destination:
            entry.destination = best
            self._admission.changed(entry, now)
        self._admission.watch_lifetimes(entry, now)

    def _leave_if_gone(self, entry: Entry, now: float) -> None:
        host = self._hosts[entry.names.local]
        if hand_off(entry.source, host) is not HandOff.HARD:
            return
        gone, entry.source = entry.source, host.best
        words = f"{entry.names}: {half_text(gone)} is gone, packets leave from {half_text(entry.source)} at once"
        self._outbox.event(Kind.MOVED, words, now)

    def _watch_left(self, entry: Entry) -> None:
        if entry.leaving:
            self._admission.timers.set((Due.GRACE, entry.names), min(entry.leaving.values()))

    def _wonder(self, entry: Entry, now: float) -> None:
        """Tell the last list as a new one: perhaps the peer took an older one that was under way for longer."""
        match entry.told.state:
            case UpdateState.UNDER_WAY:
                self._renew(entry)
            case UpdateState.TOLD:
                entry.told.overtaken = True
                self._settle(entry, now)
            case UpdateState.UNHEARD:
                self._tell_anew(entry, now)

    def _tell_anew(self, entry: Entry, now: float) -> None:
        entry.told.tries = 0
        self._renew(entry)
        self._fire(entry, UpdateTrigger.MOVED, now)

    def _renew(self, entry: Entry) -> None:
        """Make the list that the peer is to know."""
        entry.told.serial += 1
        entry.told.listed = _numbered(self._hosts[entry.names.local].listed, entry.told.serial)

    def _settle(self, entry: Entry, now: float) -> None:
        """If an update overtook another one, tell all once more when that one cannot arrive any more."""
        if entry.told.overtaken:
            entry.told.overtaken = False
            self._admission.timers.set((Due.TELL, entry.names), now + OLD_LIST_TIME)

    def _check_order(self, entry: Entry, listed: tuple[Listed, ...], number: int | None, now: float) -> None:
        """Check that a list is the last one or a newer one; where nobody can tell, ask who is there."""
        heard = entry.heard
        if listed == heard.listed and number in (None, heard.number):
            return
        if number is not None and heard.number is not None and number <= heard.number:
            raise ReplayError(f"a Locator Update with the number {number}, and {heard.number} was heard already")
        if number is None and (heard.number is not None or listed in heard.earlier):
            self._doubt(entry, listed, now)
            raise ReplayError("a Locator Update that was replaced already: the peer is asked where it is")

    def _doubt(self, entry: Entry, listed: tuple[Listed, ...], now: float) -> None:
        """Ask at the first of the locators by an update of our own; only who is there can acknowledge that."""
        if entry.heard.doubted != listed or entry.told.state is not UpdateState.UNDER_WAY:
            entry.heard.doubted = listed
            self._tell_anew(entry, now)

    def _learn(self, entry: Entry, source: L64, listed: tuple[Listed, ...], now: float) -> None:
        heard = entry.heard
        if source not in entry.peer_locators and all(source != one.locator for one in listed):
            raise MessageError(f"a Locator Update from {half_text(source)}, which it does not list")
        if heard.listed:
            heard.earlier = (*heard.earlier, heard.listed)[-REMEMBERED_LISTS:]
        heard.listed = listed
        entry.peer_locators = PeerLocators.of(listed, now, entry.peer_locators)
        entry.destination = entry.peer_locators.best(now)
        words = f"{entry.names}: the peer told its locators, packets go to {half_text(entry.destination)}"
        self._outbox.event(Kind.MOVED, words, now)
        self._admission.watch_lifetimes(entry, now)
        self._admission.changed(entry, now)

    def _fire(self, entry: Entry, move: UpdateTrigger, now: float) -> None:
        told = entry.told
        row = TELLINGS[told.state].get(move)
        if row is None:
            raise MessageError(f"{move.name} of a Locator Update while {told.state.name}")
        told.state = row[0]
        self._admission.timers.cancel((Due.TELL, entry.names))
        for deed in row[1]:
            match deed:
                case UpdateAction.SEND_UPDATE:
                    self._advertise(entry, now)
                case UpdateAction.SWITCH:
                    self._switch(entry, now)
                    self._settle(entry, now)
                case UpdateAction.REPORT:
                    words = f"{entry.names}: the peer acknowledged none of {UPDATE_TRIES} Locator Updates"
                    self._outbox.event(Kind.UNTOLD, words, now)
                    self._outbox.add(UpdateUnacknowledged(entry.names))

    def _advertise(self, entry: Entry, now: float) -> None:
        """Send an update; each time between other locators, since it is not known which ones work."""
        told = entry.told
        asked = [_first(entry.heard.doubted)] if entry.heard.doubted else []
        peers = dict.fromkeys([*asked, entry.destination, *entry.peer_locators.known])
        pairs = list(product(peers, [one.locator for one in told.listed]))
        there, here = pairs[told.tries % len(pairs)]
        told.tries += 1
        ends = Vector(here, entry.names.local), Vector(there, entry.names.peer)
        self._send(entry, *ends, LocatorUpdate(Operation.ADVERTISEMENT, told.listed), told.serial)
        self._admission.timers.set((Due.TELL, entry.names), now + UPDATE_TIMEOUT * 2 ** (told.tries - 1))

    def _switch(self, entry: Entry, now: float) -> None:
        """Let packets leave from the best locator, which the peer knows of by now."""
        best = self._hosts[entry.names.local].best
        if entry.source == best:
            return
        entry.source = best
        self._outbox.event(Kind.MOVED, f"{entry.names}: the peer knows, packets leave from {half_text(best)} now", now)
        self._admission.bear_nonce(entry, now)
        self._admission.changed(entry, now)

    def _send(
        self, entry: Entry, here: Vector, there: Vector, update: LocatorUpdate, number: int | None = None
    ) -> None:
        packet = Message(LOCATOR_UPDATE, 0, update.encode()).packet(here.address, there.address)
        if number is not None:
            packet = with_sequence(packet, number)
        self._outbox.add(Send(with_nonce(packet, entry.nonce_to_peer)))


def _first(listed: tuple[Listed, ...]) -> L64:
    """Return the most preferred locator of a list."""
    return min(listed, key=lambda one: one.preference).locator


def _numbered(listed: tuple[Listed, ...], serial: int) -> tuple[Listed, ...]:
    """Change lifetimes by some seconds, so that a list is none of those that the peer may take for late copies."""
    seconds = serial % SERIALS
    return tuple(
        replace(one, lifetime=one.lifetime + (seconds if one.lifetime < SERIALS else -seconds)) for one in listed
    )


def _same(one: tuple[Listed, ...], other: tuple[Listed, ...]) -> bool:
    """Whether two lists say the same but for some seconds of lifetime."""
    return [(each.locator, each.preference) for each in one] == [(each.locator, each.preference) for each in other]
