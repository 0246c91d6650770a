"""What is known of a context (RFC 5533, sections 6.1 and 6.2), and of the host that it serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv6Address
from typing import TypeVar

from wayname.identity.parameters import Parameters
from wayname.session.keys import Pair, SessionKey
from wayname.shim6.states import State
from wayname.wire.shim6.options import (
    ExactKeepaliveTimeout,
    KeepaliveTimeout,
    LocatorList,
    LocatorPreferences,
    Option,
    PathReports,
    encode_options,
)

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class LocalHost:
    """A host that we speak for: its identity, and the options that tell its locators, made and signed in advance.

    All its contexts have it, so what follows from it is found out once.
    """

    ulid: IPv6Address
    options: tuple[Option, ...] = ()

    def __hash__(self) -> int:
        return hash(self.ulid)

    @cached_property
    def octets(self) -> bytes:
        """The options as messages bear them."""
        return encode_options(self.options)

    @cached_property
    def locators(self) -> frozenset[IPv6Address]:
        """Where it can be reached; without a list, by its identity."""
        listed = option_of(self.options, LocatorList)
        return frozenset(locator.address for locator in listed.locators) if listed else frozenset({self.ulid})

    def first_among(self, locators: frozenset[IPv6Address]) -> IPv6Address:
        """Return where it is best reached among some locators: by its identity if it can be."""
        return min(locators, key=lambda one: (one != self.ulid, one), default=self.ulid)


@dataclass(frozen=True, slots=True)
class KnownPeer:
    """What is known of a peer: its locators, each of which was proved, and how many seconds of silence it bears."""

    locators: frozenset[IPv6Address]
    listed: LocatorList | None = None
    preferences: LocatorPreferences | None = None
    parameters: Parameters | None = None
    keepalive_timeout: KeepaliveTimeout | None = None
    exact_keepalive_timeout: ExactKeepaliveTimeout | None = None
    path_reports: PathReports | None = None


@dataclass(slots=True)
class Context:
    """A context: `pair` is where packets go, `exchange` where the messages of its set-up go."""

    name: SessionKey
    tag: int = field(repr=False)
    pair: Pair
    exchange: Pair
    state: State = State.IDLE
    peer_tag: int | None = field(default=None, repr=False)
    known: KnownPeer = field(default_factory=lambda: KnownPeer(frozenset()))
    # What the peer may have been told of our host (one of these, and which is not known), and what it is being told.
    told: frozenset[LocalHost] = frozenset()
    telling: LocalHost | None = None
    update_nonce: int = field(default=0, repr=False)
    update_tries: int = 0
    # Of the exchange that is under way.
    nonce: int = field(default=0, repr=False)
    responder_nonce: int = field(default=0, repr=False)
    packet_tag: int = field(default=0, repr=False)
    validator: bytes = field(default=b"", repr=False)
    tries: int = 0  # repetitions of I2 or I2bis
    i1s: int = 0  # all that were sent

    def learn(self, known: KnownPeer, heard_from: IPv6Address) -> None:
        """Take note of the peer's locators, and send no more packets to one that it gave up."""
        self.known = known
        if self.pair.peer in known.locators or known.listed is None:
            return
        if heard_from in known.locators:
            self.pair = self.pair._replace(peer=heard_from)
        elif known.listed.locators:
            self.pair = self.pair._replace(peer=known.listed.locators[0].address)


def option_of(options: tuple[Option, ...], kind: type[Kind]) -> Kind | None:
    """Return the option of a kind, if it is there."""
    for option in options:
        if isinstance(option, kind):
            return option
    return None
