"""What is known of the ways between the two ends of a context."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from ipaddress import IPv6Address

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.states import State
from wayname.session.reap.timing import Timing
from wayname.wire.shim6.messages import ProbeRecord

# Records in a message: a probe of 16 of them, and an IPv6 header, have 696 octets, which every link takes.
MOST_TOLD = 8
MOST_SENT_PROBES = 32
# So many checks in a row must be lost before a pair is none that works; then they get rarer.
MOST_UNANSWERED = 3
# The send timeout follows the longest of so many round trips.
MOST_ROUND_TRIPS = 8


class Clock(Enum):
    """The timers of a context."""

    PROBE = auto()
    SEND = auto()
    KEEPALIVE = auto()  # for what the host of the peer sent
    AFTER_PROBE = auto()  # for the peer's last probe: its send timer runs (RFC 5534, section 6.8)
    DOUBT = auto()
    VERIFY = auto()
    CHECK = auto()
    SUSPICION = auto()


@dataclass(slots=True)
class PairState:
    """What is known of a pair, in the direction from here to the peer."""

    pair: Pair
    due: float  # to be checked, unless it is in use
    verified: bool = False
    since: float = 0.0
    failed: float = float("-inf")
    unanswered: int = 0  # checks in a row
    asked: float = float("-inf")  # the first of them
    missed: float = float("-inf")  # the one that made them too many
    heard: float = float("-inf")  # a probe of the peer by this pair
    round_trip: float | None = None  # of the last check, in seconds

    @property
    def is_silent(self) -> bool:
        """Whether it was asked and did not answer."""
        return not self.verified and (self.unanswered > 0 or self.failed > float("-inf"))

    @property
    def is_failed(self) -> bool:
        """Whether it is known not to work."""
        return not self.verified and (self.failed > float("-inf") or self.unanswered >= MOST_UNANSWERED)


@dataclass(slots=True)
class Sent:
    """A probe that was sent; those of checks belong to no exploration."""

    record: ProbeRecord
    pair: Pair
    at: float
    exploration: int | None
    reported: bool = False


@dataclass(slots=True)
class ReapContext:
    """A context. The first of its ways is the preferred one."""

    name: SessionKey
    peer_tag: int = field(repr=False)
    timing: Timing
    current: Pair
    ways: dict[Pair, PairState]
    active: float
    # Where the peer was ever reached: a locator that does not mind our packets (RFC 5534, section 8).
    reached: set[IPv6Address] = field(default_factory=set)
    state: State = State.OPERATIONAL
    # Whether packets go back to the preferred way when it works again: not where the peer or a command led them away.
    returning: bool = False
    # Whether the peer answers a probe in state Operational that reports nothing, as edges do.
    answers_checks: bool = True
    # Whether the peer checks pairs too, so that what is heard by a pair tells whether the peer can use it.
    peer_checks: bool = False
    # Pairs that some flows go by whichever is in use: their traffic does not tell whether they work, so probes do.
    also_used: frozenset[Pair] = frozenset()
    # The last probe of the peer by the pair that it uses, for checks of a peer that knows no others.
    last_heard: ProbeRecord | None = None
    # When packets went back last, and how often in a row that was too early.
    went_back: float = float("-inf")
    relapses: int = 0
    # When packets were sent by another way last.
    moved: float = float("-inf")
    # Of the exploration that is under way, or of the last one.
    exploration: int = 0
    why: str = ""
    suspect: Pair | None = None  # the pair that this is said of
    order: tuple[Pair, ...] = ()
    turn: int = 0
    probes: int = 0
    has_slot: bool = False
    sent: dict[int, Sent] = field(default_factory=dict)
    received: list[ProbeRecord] = field(default_factory=list)
    # Probes of the pair in use since it was doubted, and when that began.
    doubts: int = 0
    doubted: float = float("-inf")
    # The same since it was suspected, for want of an answer to what the host sends.
    suspicions: int = 0
    suspected: float | None = None
    # When the last probe left that the peer reported, by whichever pair.
    answered: float = float("-inf")
    # Of the last checks; a deque would take 760 octets however few there are.
    round_trips: tuple[float, ...] = ()

    @property
    def preferred(self) -> Pair:
        """The pair to use if all work."""
        return next(iter(self.ways), self.current)

    @property
    def verified(self) -> frozenset[Pair]:
        """The pairs that are proven to work."""
        return frozenset(way.pair for way in self.ways.values() if way.verified)

    @property
    def failed(self) -> frozenset[Pair]:
        """The pairs that are known not to work."""
        return frozenset(way.pair for way in self.ways.values() if way.is_failed)

    def set_pairs(self, pairs: Iterable[Pair], now: float) -> None:
        """Have these pairs; what is known of those that stay is kept, others are due at once."""
        self.ways = {pair: self.ways.get(pair) or PairState(pair, now) for pair in pairs}
        self.reached &= {pair.peer for pair in self.ways}

    def keep_received(self, record: ProbeRecord) -> None:
        """Remember a probe, to be reported."""
        self.received = [record, *(each for each in self.received if each != record)][:MOST_TOLD]

    def keep_sent(self, sent: Sent) -> None:
        """Remember a probe, to know its report."""
        self.sent[sent.record.nonce] = sent
        if len(self.sent) > MOST_SENT_PROBES:
            del self.sent[next(iter(self.sent))]
