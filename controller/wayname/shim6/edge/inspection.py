"""Checks the Shim6 messages of hosts that speak it themselves: what tells locators must prove them.

I2, I2bis and R2 tell a host's locators when a context begins, UR when they change. R2 and UR do not say whose they are:
R2 answers the nonce of an I2, and UR bears the tag that its receiver gave out. Both are noted when they pass.

Nothing here proves that anybody is where it says, so what is noted is bounded by the prefixes of both hosts and in all,
and an R2 counts that comes by another link than its I2 did: nobody plays both hosts from one side. Proofs are looked at
at a rate, by prefix and in all.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address

from wayname.bounded_by_source import BoundedBySource
from wayname.identity.errors import ProofError
from wayname.session.keys import Pair
from wayname.shim6.context import KnownPeer, option_of
from wayname.shim6.locators import learn
from wayname.token_buckets import ADDRESS_BITS, PREFIX_BITS, PrefixTokenBuckets, Rate
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import I2, R2, I2bis, UpdateRequest, decode
from wayname.wire.shim6.options import CgaParameters, CgaSignature, LocatorList, Option, UlidPair
from wayname.wire.shim6.payload import BEFORE_SHIM6

MOST_CONTEXTS = 65536
# Between the same two /48s.
MOST_OF_PREFIXES = 4096
STRANGERS, STRANGERS_IN_ALL = Rate(10, 40), Rate(40, 80)
# Updates of contexts that began here.
UPDATES, UPDATES_IN_ALL = Rate(50, 200), Rate(500, 1000)
_PROVING = (CgaParameters, CgaSignature, LocatorList)

_Prefixes = tuple[int, int]


class Shim6RateLimitError(ProofError):
    """A message whose proofs were not looked at: too many like it were."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """An I2 that passed: who asked whom, with which tag, by which link, and what is known of the one who asked."""

    name: Pair
    tag: int = field(repr=False)
    link: int
    known: KnownPeer


@dataclass(frozen=True, slots=True)
class _Sender:
    """Who sends to the holder of a tag, between which hosts, and what is known of them."""

    ulid: IPv6Address
    prefixes: _Prefixes
    known: KnownPeer


class Shim6Inspection:
    """Judges messages."""

    def __init__(self, rng: random.Random) -> None:
        self._asked: BoundedBySource[int, _Asked, _Prefixes] = BoundedBySource(MOST_CONTEXTS, MOST_OF_PREFIXES)
        # By tag. Only contexts that both hosts had a part in, each from its own side.
        self._senders: BoundedBySource[int, _Sender, _Prefixes] = BoundedBySource(MOST_CONTEXTS, MOST_OF_PREFIXES)
        self._strangers = PrefixTokenBuckets(rng, STRANGERS, STRANGERS_IN_ALL)
        self._updates = PrefixTokenBuckets(rng, UPDATES, UPDATES_IN_ALL)

    def check(self, packet: Packet, link: int, now: float) -> None:
        """Raise DecodeError or ProofError if a message that came by a link tells locators that it does not prove."""
        match decode(packet.upper_layer(BEFORE_SHIM6).data):
            case I2() | I2bis() as message:
                self._count(self._strangers, packet, message.options, now)
                named = option_of(message.options, UlidPair)
                name = Pair(named.sender, named.receiver) if named else Pair(packet.source, packet.destination)
                asked = _Asked(name, message.tag, link, _first(name.local, message.options))
                self._asked.put(message.initiator_nonce, asked, _prefixes(name))
            case R2() as message:
                self._check_r2(message, packet, link, now)
            case UpdateRequest() as message:
                sender = self._senders.get(message.tag)
                if sender is None:
                    raise ProofError("an update of a context that did not begin here")
                self._count(self._updates, packet, message.options, now)
                known = learn(sender.ulid, message.options, sender.known)
                self._senders.put(message.tag, replace(sender, known=known), sender.prefixes)

    def _check_r2(self, message: R2, packet: Packet, link: int, now: float) -> None:
        asked = self._asked.get(message.initiator_nonce)
        if asked is None or asked.link == link:
            # It answers an I1 without I2 between (both began at once), or nothing at all: it may not tell locators.
            if message.options:
                raise ProofError("R2 tells locators, but answers no I2 that passed here from the other side")
            return
        self._count(self._strangers, packet, message.options, now)
        known, prefixes = _first(asked.name.peer, message.options), _prefixes(asked.name)
        self._senders.put(message.tag, _Sender(asked.name.local, prefixes, asked.known), prefixes)
        self._senders.put(asked.tag, _Sender(asked.name.peer, prefixes, known), prefixes)

    def _count(self, limit: PrefixTokenBuckets, packet: Packet, options: tuple[Option, ...], now: float) -> None:
        if any(isinstance(option, _PROVING) for option in options) and not limit.may(packet.source, now):
            raise Shim6RateLimitError(
                f"more proofs come from the prefix of {packet.source}, or from all, than are looked at"
            )


def _first(ulid: IPv6Address, options: tuple[Option, ...]) -> KnownPeer:
    return learn(ulid, options, KnownPeer(frozenset({ulid})))


def _prefixes(name: Pair) -> _Prefixes:
    one, other = sorted(int(address) >> ADDRESS_BITS - PREFIX_BITS for address in name)
    return one, other
