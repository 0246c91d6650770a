"""UPDATEs (RFC 7401, sections 6.11 and 6.12): where hosts are, whether they are there, and new keys.

Locators are verified in three steps (RFC 8046, section 3.2): the set is told; a nonce goes to each locator that is new;
it comes back. Rekeying is that of RFC 7402, sections 6.8 to 6.10.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from ipaddress import IPv6Address

from wayname.hip.admission_control import Limits
from wayname.hip.association import Association, Esp, LocalHost, Names, Rekeying, Secured, Transport, Update
from wayname.hip.associations import Associations
from wayname.hip.error_replies import ErrorReplies
from wayname.hip.errors import MessageError, NotifyType
from wayname.hip.esp.associations import FIRST_SPI
from wayname.hip.esp.keys import draw_keys
from wayname.hip.esp.suites import SUITES
from wayname.hip.groups import make_pair
from wayname.hip.keymat import Keymat
from wayname.hip.locator_set import Locator, LocatorSet, UnknownLocator
from wayname.hip.messages import Kind, Message
from wayname.hip.outputs import Changed, EventKind, Outbox, Standing
from wayname.hip.parameters import (
    Ack,
    DiffieHellman,
    EchoRequestSigned,
    EchoResponseSigned,
    Parameter,
    Seq,
)
from wayname.hip.peer_locators import check_locators
from wayname.hip.proofs import seal, seal_answer
from wayname.hip.settings import UPDATE_RETRIES_MAX, UPDATE_TIMEOUT
from wayname.hip.transports import EspInfo
from wayname.session.keys import Pair
from wayname.timers import Timers

WINDOW = 32
NUMBERS = 1 << 32
NONCE_OCTETS = 16
VERIFICATION_RETRIES_MAX = 3
MOST_INDEX = 0xFFFF
MOST_QUOTED = 512
# How long a peer that heard of new keys may take for its half: as long as it repeats that.
REKEYING_TIME = UPDATE_TIMEOUT * 2 ** (UPDATE_RETRIES_MAX + 1)
# The timer that is about no UPDATE but about the lifetimes of the peer's locators.
LIFETIMES = -1


class Updates:
    """All UPDATEs that are under way; whoever calls `receive` has checked MAC, signature and state."""

    def __init__(
        self,
        hosts: Mapping[IPv6Address, LocalHost],
        associations: Associations,
        outbox: Outbox,
        objections: ErrorReplies,
        limits: Limits,
        rng: random.Random,
    ) -> None:
        self.timers: Timers[tuple[Names, int]] = Timers()
        self._hosts = hosts
        self._associations = associations
        self._outbox = outbox
        self._objections = objections
        self._limits = limits
        self._rng = rng

    def tell(self, association: Association, now: float) -> None:
        """Tell the peer where the host is now, unless it knows.

        That does not wait for new keys: several UPDATEs may be under way that do not depend on each other (section
        6.11). Locators are told once more when the new SPI is known, which is theirs from then on.
        """
        host = self._hosts[association.names.local]
        if association.transport is None:
            return
        told = _told(host, association.transport)
        if told == association.told or (not association.told and host.locators == (association.exchange.local,)):
            return
        association.told = told
        if association.local not in host.locators:
            association.local = host.locators[0]
        # What was told before is told no more: it would only make the peer believe it again.
        self.cancel(association, [number for number, one in association.updates.items() if one.tells])
        update = self._ask(association, [*_identify(association), LocatorSet(told)], now)
        update.tells = True

    def rekey(self, association: Association, fresh: bool, now: float) -> None:
        """Agree on new security associations, with a new Diffie-Hellman value or without."""
        if not isinstance(association.transport, Esp):
            raise ValueError("only associations with ESP have keys to agree on anew")
        if association.rekeying is None:
            self._ask(association, self._begin_rekeying(association, fresh), now)

    def receive(self, association: Association, message: Message, pair: Pair, now: float) -> None:
        """Take an UPDATE that is the peer's."""
        seq, ack = message.find(Seq), message.find(Ack)
        if seq is None and ack is None:
            raise MessageError("UPDATE with neither SEQ nor ACK", NotifyType.INVALID_SYNTAX)
        if seq is not None and (again := association.taken.get(seq.update)) is not None:
            # One that is replayed may come from anywhere.
            if self._limits.answers.may(pair.peer, now):
                self._outbox.send(pair, again)
            return
        if seq is None and ack is not None and not any(one in association.updates for one in ack.updates):
            # Section 6.12.2, step 1: what it says beside was said already, or was never asked for.
            return
        if seq is not None and (seq.update - association.peer_next + WINDOW) % NUMBERS >= 2 * WINDOW:
            raise MessageError(f"UPDATE {seq.update} is far from {association.peer_next}, which is the next")
        _check_info(association, message.find(EspInfo), message.find(DiffieHellman))
        if (told := message.find(LocatorSet)) is not None:
            check_locators(told)
        before = _shown(association, now)
        self._take_acknowledgement(association, ack, now)
        response = message.find(EchoResponseSigned)
        if response is not None:
            association.peer.verified(response.data)
        if seq is not None:
            self._take_request(association, message, seq, pair, now)
        self._finish_rekeying(association, now)
        association.peer.choose(now)
        self._watch_lifetimes(association)
        if _shown(association, now) != before:
            self._outbox.add(Changed(Standing.of(association, now)))

    def cancel(self, association: Association, numbers: list[int] | None = None) -> None:
        """Do not repeat some UPDATEs of an association, or all."""
        if numbers is None:
            self.timers.cancel((association.names, LIFETIMES))
            if association.rekeying is not None:
                self.timers.cancel((association.names, association.rekeying.update))
        for number in list(association.updates) if numbers is None else numbers:
            del association.updates[number]
            self.timers.cancel((association.names, number))

    def handle_timer(self, now: float) -> list[Association]:
        """Repeat what was not acknowledged; return the associations whose peers answer nothing."""
        broken = []
        for names, number in self.timers.due(now):
            association = self._associations.named(names)
            if association is None:
                continue
            if number == LIFETIMES:
                self._outlived(association, now)
                continue
            if number not in association.updates:
                self._abandon_rekeying(association, number, now)
                continue
            update = association.updates[number]
            update.tries += 1
            if update.destination is not None and update.tries > VERIFICATION_RETRIES_MAX:
                del association.updates[number]
                text = f"{names.peer} does not answer at {update.destination}, where it says that it is"
                self._outbox.tell(EventKind.UNREACHABLE, text, now)
            elif update.destination is None and update.tries > UPDATE_RETRIES_MAX:
                broken.append(association)
            else:
                self._send(association, number, now)
        return broken

    def _take_acknowledgement(self, association: Association, ack: Ack | None, now: float) -> None:
        for number in ack.updates if ack else ():
            if association.updates.pop(number, None) is not None:
                self.timers.cancel((association.names, number))
                if association.rekeying is not None and association.rekeying.update == number:
                    association.rekeying.acknowledged = True
                    self.timers.set((association.names, number), now + REKEYING_TIME)

    def _take_request(self, association: Association, message: Message, seq: Seq, pair: Pair, now: float) -> None:
        """Section 6.12.1: process what it says, acknowledge it, and ask in turn."""
        told = message.find(LocatorSet)
        unverified: list[IPv6Address] = []
        # Sets are taken in the order in which they were told, not in that in which they arrive.
        if told is not None and is_after(seq.update, association.peer_told):
            unverified = association.peer.take(told, now)
            association.peer_told = seq.update
            self._complain_of(association, told, now)
        _record(association, seq.update)
        info = message.find(EspInfo)
        if info is not None and not info.new_spi:
            association.peer.deprecate_all()
        elif info is not None and info.old_spi != info.new_spi:
            dh = message.find(DiffieHellman)
            begun = association.rekeying is None
            ours = self._begin_rekeying(association, dh is not None, info.keymat_index) if begun else []
            assert association.rekeying is not None
            association.rekeying.peer_spi, association.rekeying.peer_index = info.new_spi, info.keymat_index
            association.rekeying.peer_public = dh.value if dh else None
            if begun:
                self._ask(association, ours, now)
        octets = self._seal(association, [Ack((seq.update,))], message)
        association.taken[seq.update] = octets
        self._outbox.send(pair, octets)
        for address in unverified:
            self._verify(association, address, now)

    def _verify(self, association: Association, address: IPv6Address, now: float) -> None:
        """Send a nonce to where the peer says that it is, unless too much went there already."""
        # What was asked before may have been about a locator that was gone meanwhile: its answer does not count.
        self.cancel(association, [number for number, one in association.updates.items() if one.destination == address])
        if not self._limits.answers.may(address, now):
            return
        nonce = association.peer.known[address].nonce = self._rng.randbytes(NONCE_OCTETS)
        self._ask(association, [*_identify(association), EchoRequestSigned(nonce)], now, address)

    def _ask(
        self,
        association: Association,
        parameters: list[Parameter],
        now: float,
        destination: IPv6Address | None = None,
    ) -> Update:
        number = association.next_update
        association.next_update = (number + 1) % NUMBERS
        octets = self._seal(association, [*parameters, Seq(number)])
        update = association.updates[number] = Update(octets, destination)
        self._send(association, number, now)
        return update

    def _send(self, association: Association, number: int, now: float) -> None:
        """Send an UPDATE; one that is repeated goes round the locators of both ends."""
        update = association.updates[number]
        pair = association.pair
        if update.tries:
            host = self._hosts[association.names.local]
            locals_ = sorted(host.locators, key=lambda one: one != pair.local)
            peers = sorted((one.address for one in association.peer.active(now)), key=lambda one: one != pair.peer)
            ways = [Pair(local, peer) for peer in peers or [pair.peer] for local in locals_]
            pair = ways[update.tries % len(ways)]
        if update.destination is not None:
            pair = Pair(pair.local, update.destination)
        self._outbox.send(pair, update.octets)
        self.timers.set((association.names, number), now + UPDATE_TIMEOUT * 2**update.tries)

    def _seal(self, association: Association, parameters: list[Parameter], asked: Message | None = None) -> bytes:
        assert association.secured is not None
        secured, identity = association.secured, self._hosts[association.names.local].identity
        message = Message(Kind.UPDATE, *association.names, tuple(parameters))
        if asked is None:
            return seal(message, identity, secured.outgoing.integrity, secured.rhash)
        return seal_answer(message, asked, identity, secured.outgoing.integrity, secured.rhash)

    def _begin_rekeying(self, association: Association, fresh: bool, index: int = 0) -> list[Parameter]:
        """Return our half of new security associations; what is used up must come out of a new value."""
        assert association.secured is not None
        assert isinstance(association.transport, Esp)
        index = max(index, association.secured.keymat.at)
        fresh = fresh or not _has_keys_from(association.secured, association.transport, index)
        pair = make_pair(association.secured.pair.group, self._rng) if fresh else None
        index = 0 if pair else index
        spi = self._associations.new_spi(association.names)
        association.rekeying = Rekeying(association.next_update, spi, index, pair)
        ours: list[Parameter] = [EspInfo(index, association.transport.spi, spi)]
        return ours if pair is None else [*ours, DiffieHellman(pair.group, pair.public)]

    def _finish_rekeying(self, association: Association, now: float) -> None:
        """RFC 7402, section 6.10: ours is acknowledged, and the peer's is here."""
        new, secured, old = association.rekeying, association.secured, association.transport
        if new is None or not new.acknowledged or new.peer_spi is None or secured is None or not isinstance(old, Esp):
            return
        self.timers.cancel((association.names, new.update))
        if new.pair is not None or new.peer_public is not None:
            secured.pair = new.pair or secured.pair
            secured.peer_public = new.peer_public or secured.peer_public
            shared = secured.pair.shared_with(secured.peer_public)
            secured.keymat = Keymat.of(shared, secured.salt, association.names, secured.rhash)
        else:
            secured.keymat.at = max(new.index, new.peer_index)
        outgoing, incoming = draw_keys(secured.keymat.draw, SUITES[old.suite], *association.names)
        association.rekeying, association.replaced_peer_spi = None, old.peer_spi
        self._associations.release(association)
        association.transport = Esp(old.suite, new.spi, new.peer_spi, outgoing, incoming)
        self.tell(association, now)

    def _abandon_rekeying(self, association: Association, number: int, now: float) -> None:
        """The peer said that it heard of new keys, and never sent its half (RFC 7402, section 6.8, step 5)."""
        new = association.rekeying
        if new is not None and new.update == number:
            self._associations.forget_spi(new.spi)
            association.rekeying = None
            text = f"{association.names.peer} does not send its half of new keys; those before serve on"
            self._outbox.tell(EventKind.UNREACHABLE, text, now)
            self.tell(association, now)

    def _watch_lifetimes(self, association: Association) -> None:
        """Set the timer of whichever locator lives shortest."""
        ends = association.peer.next_end()
        if ends is None:
            self.timers.cancel((association.names, LIFETIMES))
        else:
            self.timers.set((association.names, LIFETIMES), ends)

    def _outlived(self, association: Association, now: float) -> None:
        """A locator is over: go to another one, if there is one."""
        association.peer.end_outlived(now)
        association.peer.choose(now)
        self._watch_lifetimes(association)
        if association.transport is not None:
            self._outbox.add(Changed(Standing.of(association, now)))

    def _complain_of(self, association: Association, told: LocatorSet, now: float) -> None:
        """Tell a peer that what it prefers is of no type known here (RFC 8046, section 5.3)."""
        unknown = [one for one in told.locators if isinstance(one, UnknownLocator) and one.preferred]
        if unknown:
            octets = b"".join(one.encode() for one in unknown)
            text = f"{len(unknown)} preferred locators of types that are not known here"
            error = MessageError(text, NotifyType.LOCATOR_TYPE_UNSUPPORTED, octets[:MOST_QUOTED])
            self._objections.to_peer(association, error, now)


def _told(host: LocalHost, transport: Transport) -> tuple[Locator, ...]:
    spi = transport.spi if isinstance(transport, Esp) else None
    return tuple(Locator(one, spi, preferred=one == host.locators[0]) for one in host.locators)


def _identify(association: Association) -> list[Parameter]:
    """Tell whoever looks on from outside which security association it is about (RFC 8046, section 5.2)."""
    transport = association.transport
    if not isinstance(transport, Esp) or association.secured is None:
        return []
    return [EspInfo(association.secured.keymat.at, transport.spi, transport.spi)]


def _check_info(association: Association, info: EspInfo | None, dh: DiffieHellman | None) -> None:
    """Refuse new keys that cannot be (RFC 8046, section 5.3, and RFC 7402, section 6.9), before anything is changed."""
    if info is None:
        return
    transport, secured = association.transport, association.secured
    wrong = NotifyType.INVALID_SYNTAX
    if not isinstance(transport, Esp) or secured is None:
        raise MessageError("ESP_INFO where packets have no ESP", wrong)
    if info.old_spi == info.new_spi and info.old_spi in _other_peer_spis(association):
        return
    if info.old_spi != transport.peer_spi or 0 < info.new_spi < FIRST_SPI:
        raise MessageError(f"ESP_INFO from SPI {info.old_spi:#x} to {info.new_spi:#x} is about no SPI in use", wrong)
    if info.new_spi in (0, info.old_spi):
        return
    if dh is not None:
        if dh.group != secured.pair.group or info.keymat_index:
            raise MessageError("a new Diffie-Hellman value must be of the same group, and keys begin at 0", wrong)
        # Refuse a value that is none while all is as it was.
        secured.pair.shared_with(dh.value)
    elif info.keymat_index < secured.keymat.at or not _has_keys_from(secured, transport, info.keymat_index):
        text = f"keys of ESP from octet {info.keymat_index} on, which were drawn already or are none"
        raise MessageError(text, wrong)


def _other_peer_spis(association: Association) -> tuple[int | None, int | None]:
    """Return what a peer may call its security association that has new keys already, or has none yet when we do."""
    new = association.rekeying.peer_spi if association.rekeying is not None else None
    return new, association.replaced_peer_spi


def _has_keys_from(secured: Secured, transport: Esp, index: int) -> bool:
    """Tell whether there is key material enough behind an octet; indices have 16 bits."""
    suite = SUITES[transport.suite]
    end = index + 2 * (suite.encryption_key + suite.integrity_key)
    return end <= secured.keymat.size and index <= MOST_INDEX


def is_after(number: int, other: int) -> bool:
    """Whether an UPDATE is later than another one, if there is one; numbers go round (RFC 7401, section 5.2.16)."""
    return other < 0 or 0 < (number - other) % NUMBERS < NUMBERS // 2


def _record(association: Association, number: int) -> None:
    """Take note of an UPDATE, so that it is not processed again."""
    association.taken[number] = b""
    if (number - association.peer_next) % NUMBERS < WINDOW:
        association.peer_next = (number + 1) % NUMBERS
    # What is older than the window is refused for its number.
    while len(association.taken) > 2 * WINDOW:
        association.taken.popitem(last=False)


def _shown(association: Association, now: float) -> tuple[object, ...]:
    return association.pair, association.transport, {one.address for one in association.peer.active(now)}
