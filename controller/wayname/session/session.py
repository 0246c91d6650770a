"""A session: the paths between a host here and its peer, and which one is in use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address

from wayname.config.session_rules import SessionRules
from wayname.session.keys import Pair, SessionKey
from wayname.session.numbers import GENERATIONS
from wayname.session.path_numbers import MOST_PATHS, renumbered
from wayname.session.reap.timing import ROUND_TRIPS

# A send timeout that gets shorter by less is not worth a write.
LEAST_CHANGE = 0.8


class PathHealth(StrEnum):
    """What is known of a path."""

    UNTRIED = "not tried"
    WORKS = "works"
    SILENT = "does not answer"
    CLOSED = "its provider is down"


@dataclass(frozen=True, slots=True)
class Fork:
    """Which flows of a session have one of their own (RFC 5533, section 13): those between two ports.

    `of` is the number of their session, or 0 while it is not there. While it ends, nothing more is sent by it.
    """

    of: int
    local_port: int
    peer_port: int
    ending: bool = False


@dataclass(frozen=True, slots=True)
class Esp:
    """By which SPIs a session of hosts that encrypt is known: those that our host chose, and its peer."""

    spis: tuple[int, ...]
    peer_spis: tuple[int, ...]


@dataclass(slots=True)
class Session:
    """What is known of a session; paths have the numbers that the switch knows them by."""

    number: int
    name: SessionKey
    rules: SessionRules
    tag: int = field(repr=False)
    peer_tag: int = field(repr=False)
    generation: int
    keepalive: float
    path: int = 0
    paths: dict[int, Pair] = field(default_factory=dict)
    # Paths that worked once.
    trusted: frozenset[int] = frozenset()
    # Why those do not work that worked before.
    failed: dict[Pair, str] = field(default_factory=dict)
    # While it explores, the switch reports what is heard.
    exploring: bool = False
    # The pairs that there are now, best first. The one in use may be gone; then it stays until another one is proven.
    order: tuple[Pair, ...] = ()
    # Whether an earlier controller wanted it to go back to the preferred path.
    returning: bool = False
    # Whether the peer is an edge, whose REAP answers checks.
    peer_is_edge: bool = False
    # Whether its packets are numbered by path, and each edge reports what came.
    numbered: bool = False
    # Whether those also have an order, in which the receiving switch puts them.
    in_order: bool = False
    # Whether they may go in several copies: the peer's switch drops all but the first.
    takes_copies: bool = False
    # The pairs that a command wants flows of a policy to take, by its name.
    preferences: dict[str, Pair] = field(default_factory=dict)
    # Why it is on this path.
    reason: str = "it was the first"
    fork: Fork | None = None
    esp: Esp | None = None
    # Between which HITs the messages about it go, ours first.
    hits: tuple[IPv6Address, IPv6Address] | None = None
    # What its round trips make of a send timeout that follows them.
    _adapted: float | None = None

    @property
    def send_timeout(self) -> float:
        """After how much silence a path is left (Tsend)."""
        return self.rules.send_timeout if self._adapted is None else self._adapted

    def adapt(self, round_trip: float) -> bool:
        """Let the send timeout follow the longest round trip, if it is to; return whether that changes it enough."""
        if self.rules.min_send_timeout is None:
            return False
        wanted = min(max(ROUND_TRIPS * round_trip, self.rules.min_send_timeout), self.rules.send_timeout)
        if LEAST_CHANGE * self.send_timeout < wanted <= self.send_timeout:
            return False
        self._adapted = wanted
        return True

    @property
    def pair(self) -> Pair:
        """The locators in use."""
        return self.paths[self.path]

    @property
    def ordered(self) -> tuple[Pair, ...]:
        """The pairs that there are, best first."""
        return self.order or tuple(self.paths.values())

    def is_plain(self, pair: Pair) -> bool:
        """Whether packets on a path need no header: of ESP, and those that bear the identities themselves.

        Those of a fork that did so would be its session's, and a number without a header would prove nothing.
        """
        return self.esp is not None or (self.fork is None and not self.numbered and pair == self.name[:2])

    def path_of(self, pair: Pair) -> int | None:
        """Return the number of a path."""
        return next((number for number, each in self.paths.items() if each == pair), None)

    def set_pairs(self, pairs: Iterable[Pair], in_use: Pair) -> None:
        """Have these paths, best first: those that stay keep their numbers, and so does the one in use.

        A peer's word is not enough to send packets elsewhere: that might be somebody whom it wants to have flooded.
        """
        wanted = list(pairs)
        there = [in_use, *(pair for pair in wanted if pair != in_use)][:MOST_PATHS]
        self.order = tuple(pair for pair in wanted if pair in there)
        self.trusted &= {number for number, pair in self.paths.items() if pair in there}
        self.failed = {pair: why for pair, why in self.failed.items() if pair in there}
        self.paths = renumbered(self.paths, (*self.order, in_use))
        self.path = self.path_of(in_use) or 0

    def move(self, path: int, reason: str) -> None:
        """Let the controller's word count from now on, whatever the switch did in the meantime."""
        self.generation = (self.generation + 1) % GENERATIONS
        self.note(path, reason)

    def note(self, path: int, reason: str) -> None:
        """Take note of a path that the switch went to by itself."""
        self.path, self.reason = path, reason
        self.paths = {number: pair for number, pair in self.paths.items() if number == path or pair in self.ordered}
