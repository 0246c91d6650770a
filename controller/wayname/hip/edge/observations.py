"""What the messages of two HIP hosts say of their ESP: by which SPIs it is known, and where each of them is.

Whoever calls has checked the signatures. Nobody but the hosts can check MACs, and signatures say nothing of when: so
nothing counts twice, and an exchange begins with an I2 that did not pass before. A locator counts when its host sent
back a nonce that went there (RFC 8046, section 3.2): the middle sees both packets. Keys cost nothing, so anybody can
play both hosts; but not on both sides of the router: an R2 counts that comes by another link than its I2 did.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import IPv6Address
from typing import NamedTuple

from wayname.bounded_by_source import BoundedBySource
from wayname.hip.locator_set import LocatorSet
from wayname.hip.messages import Kind, Message, covered
from wayname.hip.parameters import EchoRequestSigned, EchoResponseSigned, HipSignature, Seq
from wayname.hip.path_reports import AddedPathReports
from wayname.hip.peer_locators import PeerLocator, PeerLocators, Status
from wayname.hip.transports import EspInfo
from wayname.hip.updates import WINDOW, is_after
from wayname.session.keys import Pair
from wayname.timers import Timers, earliest
from wayname.token_buckets import ADDRESS_BITS, PREFIX_BITS
from wayname.wire.ipv6 import Packet

MOST_ASSOCIATIONS = 10_000
MOST_OF_PREFIX = 2048
# How many exchanges and ends of the same two hosts are remembered, so that none of them counts again.
MOST_SEEN = 16
DIGEST_OCTETS = 8
# So long what is under way may bear an SPI that was replaced.
OLD_SPI_TIME = 60.0


@dataclass(slots=True)
class Side:
    """What one of the two hosts said; its SPIs are those that it chose, the newest first."""

    hit: IPv6Address
    spis: tuple[int, ...]
    locators: PeerLocators
    newest: int = -1  # the number of its last UPDATE, and of the last that told locators
    told: int = -1
    # What its edge put into its messages, if it has one that does.
    path_reports: AddedPathReports | None = None
    numbers: deque[int] = field(default_factory=lambda: deque(maxlen=WINDOW))

    def is_new(self, number: int) -> bool:
        """Whether an UPDATE did not pass before; several may be under way, by ways that differ. Take note of it."""
        if number in self.numbers or number <= self.newest - WINDOW:
            return False
        self.numbers.append(number)
        if is_after(number, self.newest):
            self.newest = number
        return True

    def refuse_old(self) -> None:
        """Let no UPDATE count that came before: an earlier controller may have seen it."""
        self.numbers.extend(range(max(0, self.newest - WINDOW + 1), self.newest + 1))


@dataclass(slots=True)
class Observed:
    """An association of two hosts, as its messages tell of it; the initiator and the responder."""

    sides: tuple[Side, Side]

    @property
    def hits(self) -> frozenset[IPv6Address]:
        """Between whom it is."""
        return frozenset(side.hit for side in self.sides)

    def side(self, hit: IPv6Address) -> Side:
        """Return what one of the two said."""
        return self.sides[0] if self.sides[0].hit == hit else self.sides[1]

    def other(self, hit: IPv6Address) -> Side:
        """Return what its peer said."""
        return self.sides[1] if self.sides[0].hit == hit else self.sides[0]


class _Asked(NamedTuple):
    """What an I2 says, and by which link it came. Copies of it may go from elsewhere."""

    initiator: IPv6Address
    info: EspInfo
    told: LocatorSet | None
    reports: AddedPathReports | None
    link: int


@dataclass(slots=True)
class _Between:
    """What is remembered of two hosts beside their association."""

    # By an I2 that went between these.
    asked: OrderedDict[Pair, _Asked] = field(default_factory=OrderedDict)
    closing: tuple[IPv6Address, bytes] | None = None
    seen: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    observed: Observed | None = None


class Observations:
    """The associations of all hosts whose messages pass.

    Those that stand stay until somebody says that they are over. What is remembered of others, exchanges that are under
    way and ends that must not count again, is bounded by the prefix that their I2 came from, and in all.
    """

    def __init__(self) -> None:
        self._standing: dict[frozenset[IPv6Address], _Between] = {}
        self._newcomers: BoundedBySource[frozenset[IPv6Address], _Between, int] = BoundedBySource(
            MOST_ASSOCIATIONS, MOST_OF_PREFIX
        )
        self._old_spis: Timers[frozenset[IPv6Address]] = Timers()
        self._lifetimes: Timers[frozenset[IPv6Address]] = Timers()
        self._changed: dict[frozenset[IPv6Address], Observed | None] = {}

    def take_changes(self) -> dict[frozenset[IPv6Address], Observed | None]:
        """Return what is new since the last call: associations by their HITs, None for one that ended."""
        changed, self._changed = self._changed, {}
        return changed

    def observed(self, hits: frozenset[IPv6Address]) -> Observed | None:
        """Return the association of two hosts."""
        between = self._standing.get(hits)
        return between.observed if between else None

    def seen(self, hits: frozenset[IPv6Address]) -> tuple[bytes, ...]:
        """Return what must not count again between two hosts, for whoever writes it down."""
        between = self._get(hits)
        return tuple(between.seen) if between else ()

    def recall(self, observed: Observed, seen: tuple[bytes, ...]) -> None:
        """Know an association that an earlier controller saw."""
        self._standing[observed.hits] = _Between(seen=OrderedDict.fromkeys(seen), observed=observed)

    def forget(self, hits: frozenset[IPv6Address]) -> None:
        """Forget an association, but not what must not count again."""
        between = self._standing.pop(hits, None)
        if between is not None and between.observed is not None:
            source = between.observed.sides[0].locators.current
            between.observed = None
            self._newcomers.put(hits, between, _prefix(source))

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self._old_spis.next(), self._lifetimes.next()))

    def handle_timer(self, now: float) -> None:
        """Let SPIs go that were replaced, and locators whose time is over."""
        for hits in self._old_spis.due(now):
            if (observed := self.observed(hits)) is not None:
                for side in observed.sides:
                    side.spis = side.spis[:1]
                self._changed[hits] = observed
        for hits in self._lifetimes.due(now):
            if (observed := self.observed(hits)) is not None:
                self._changes(observed, now)

    def receive(self, message: Message, octets: bytes, packet: Packet, link: int, now: float) -> None:
        """Take a message that is its sender's, and came by a link."""
        hits = frozenset((message.sender, message.receiver))
        between = self._get(hits)
        if message.kind is Kind.I2 and (info := message.find(EspInfo)) is not None:
            between = between or _Between()
            if _is_first(between, octets, packet):
                pair = Pair(packet.source, packet.destination)
                told, reports = message.find(LocatorSet), message.find(AddedPathReports)
                between.asked[pair] = _Asked(message.sender, info, told, reports, link)
                if len(between.asked) > MOST_SEEN:
                    between.asked.popitem(last=False)
            if hits not in self._standing:
                self._newcomers.put(hits, between, _prefix(packet.source))
            return
        if between is None:
            return
        match message.kind:
            case Kind.R2 if (info := message.find(EspInfo)) is not None:
                self._stands(between, message, info, packet, link, now)
            case Kind.UPDATE if between.observed is not None:
                self._updated(between.observed, message, packet, now)
            case Kind.CLOSE if between.observed is not None and (nonce := message.find(EchoRequestSigned)) is not None:
                if _is_first(between, octets, None):
                    between.closing = message.sender, nonce.data
            case Kind.CLOSE_ACK if between.observed is not None and between.closing is not None:
                answer = message.find(EchoResponseSigned)
                if answer is not None and (message.receiver, answer.data) == between.closing:
                    self._changed[hits] = None
                    between.closing = None
                    self.forget(hits)

    def _stands(
        self, between: _Between, message: Message, info: EspInfo, packet: Packet, link: int, now: float
    ) -> None:
        """An R2 answers an I2, by the way that it came."""
        pair = Pair(packet.destination, packet.source)
        if pair not in between.asked:
            return
        asked = between.asked[pair]
        if asked.initiator != message.receiver or asked.link == link:
            return
        between.asked.clear()
        between.closing = None
        # Both of them have sent back there what only the other one can have sent: a puzzle, and its solution.
        sides = (
            Side(asked.initiator, (asked.info.new_spi,), PeerLocators(pair.local)),
            Side(message.sender, (info.new_spi,), PeerLocators(pair.peer)),
        )
        between.observed = Observed(sides)
        hits = between.observed.hits
        self._newcomers.pop(hits)
        self._standing[hits] = between
        sides[0].path_reports, sides[1].path_reports = asked.reports, message.find(AddedPathReports)
        for side, locators in zip(sides, (asked.told, message.find(LocatorSet)), strict=True):
            if locators is not None:
                side.locators.take(locators, now)
        self._changes(between.observed, now)

    def _changes(self, observed: Observed, now: float) -> None:
        """Something is new; some of it may be so for a while only."""
        self._changed[observed.hits] = observed
        ends = [
            one.expires for side in observed.sides for one in side.locators.known.values() if one.expires is not None
        ]
        later = [end for end in ends if end > now]
        if later:
            self._lifetimes.set(observed.hits, min(later))

    def _updated(self, observed: Observed, message: Message, packet: Packet, now: float) -> None:
        side, other = observed.side(message.sender), observed.other(message.sender)
        before = _shown(observed, now)
        seq = message.find(Seq)
        if seq is not None and side.is_new(seq.update):
            side.path_reports = message.find(AddedPathReports)
            info, told, request = message.find(EspInfo), message.find(LocatorSet), message.find(EchoRequestSigned)
            if info is not None and info.old_spi == side.spis[0] != info.new_spi:
                side.spis = info.new_spi, info.old_spi
                self._old_spis.set(observed.hits, now + OLD_SPI_TIME)
            if told is not None and is_after(seq.update, side.told):
                side.locators.take(told, now)
                side.told = seq.update
            asked = other.locators.known.get(packet.destination)
            if request is not None and asked is not None:
                asked.nonce = request.data
        answer = message.find(EchoResponseSigned)
        if answer is not None:
            side.locators.verified(answer.data)
        side.locators.choose(now)
        if _shown(observed, now) != before:
            self._changes(observed, now)

    def _get(self, hits: frozenset[IPv6Address]) -> _Between | None:
        return self._standing.get(hits) or self._newcomers.get(hits)


def proven(locators: PeerLocators, now: float) -> tuple[IPv6Address, ...]:
    """Return where a host is for certain, what it prefers first."""
    active = sorted(locators.active(now), key=lambda one: (not one.preferred, one.address != locators.current))
    return tuple(one.address for one in active)


def known_at(addresses: list[IPv6Address]) -> PeerLocators:
    """Return locators that were proven before, what the host prefers first."""
    locators = PeerLocators(addresses[0])
    locators.known.update({each: PeerLocator(each, Status.ACTIVE) for each in addresses[1:]})
    return locators


def _is_first(between: _Between, octets: bytes, packet: Packet | None) -> bool:
    """Whether a message did not pass before, between the same addresses where those count; take note of it.

    What stands behind its signature anybody can change.
    """
    ways = packet.source.packed + packet.destination.packed if packet else b""
    digest = sha256(covered(octets, HipSignature.number) + ways).digest()[:DIGEST_OCTETS]
    if digest in between.seen:
        return False
    between.seen[digest] = None
    if len(between.seen) > MOST_SEEN:
        between.seen.popitem(last=False)
    return True


def _shown(observed: Observed, now: float) -> list[object]:
    return [(side.spis, proven(side.locators, now), side.path_reports) for side in observed.sides]


def _prefix(address: IPv6Address) -> int:
    return int(address) >> ADDRESS_BITS - PREFIX_BITS
