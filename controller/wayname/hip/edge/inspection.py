"""Looks at HIP messages that pass between hosts which speak themselves (`verify`).

An R1 proves whose it is, and so does an I2 that shows its identity; from then on what that host says must be signed by
it. I1s, and I2s that hide who sends them, are for their receivers to judge, by puzzles. Whatever else is of a host
whose key is not known proves nothing, and does not pass.

Keys of hosts with sessions are pinned; those of others are newcomers'. Signatures are dear, so those of strangers are
looked at at a rate: by the prefix that they come from, and in all. Messages in the name of a host with a session have
a rate of that host's own: no flood of others keeps them from being read.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from wayname.bounded_by_source import BoundedBySource
from wayname.hip.admission_control import LeakyBucket
from wayname.hip.endpoint import BEFORE_HIP
from wayname.hip.errors import MessageError, ProofError
from wayname.hip.framing import places
from wayname.hip.messages import HEADER_OCTETS, KIND_MASK, RECEIVER_AT, SENDER_AT, Kind, Message, decode, own_octets
from wayname.hip.parameters import HostId
from wayname.hip.proofs import check_r1, check_signature
from wayname.hip.suites import hit_of
from wayname.token_buckets import ADDRESS_BITS, PREFIX_BITS, PrefixTokenBuckets, Rate
from wayname.wire.ipv6 import HIP, Packet

MOST_NEWCOMERS = 10_000
# Of one prefix, so that a site whose hosts have many keys of their own makes nobody else's forgotten.
MOST_OF_PREFIX = 1024
# Of an exchange three messages are looked at. Whoever has all prefixes fills the room of newcomers in four minutes.
STRANGERS, STRANGERS_IN_ALL = Rate(10, 40), Rate(40, 80)
# In the name of one host with a session; the switch's meter bounds what comes in the names of all.
OF_HOST = Rate(20, 40)
# What makes a key known; anything else that bears one proves that alone.
_INTRODUCES = frozenset((Kind.R1, Kind.I2))


class UnknownKeyError(ProofError):
    """A message that cannot be verified: nobody proved yet which key its sender has."""


class HipRateLimitError(MessageError):
    """A message that was not looked at: too many like it were."""


@dataclass(slots=True)
class _Host:
    """A host with sessions: how many, its key if it is known, and what was read in its name."""

    sessions: int = 0
    key: HostId | None = None
    read: LeakyBucket = field(default_factory=LeakyBucket)


class HipInspection:
    """Remembers the keys of hosts."""

    def __init__(self, rng: random.Random) -> None:
        self._hosts: dict[IPv6Address, _Host] = {}
        self._newcomers: BoundedBySource[IPv6Address, HostId, int] = BoundedBySource(MOST_NEWCOMERS, MOST_OF_PREFIX)
        self._strangers = PrefixTokenBuckets(rng, STRANGERS, STRANGERS_IN_ALL)

    def key_of(self, hit: IPv6Address) -> HostId | None:
        """Return the key of a host that proved itself."""
        pinned = self._hosts.get(hit)
        return (pinned and pinned.key) or self._newcomers.get(hit)

    def check(self, packet: Packet, now: float) -> tuple[Message, bytes] | None:
        """Return a message that is its sender's, and its octets; None if its receiver has to judge it.

        MessageError is raised if it is malformed, not its sender's, or cannot be verified.
        """
        upper = packet.upper_layer(BEFORE_HIP)
        if upper.number != HIP or not upper.is_whole:
            raise MessageError("no whole HIP packet")
        octets = own_octets(upper.data)
        self._refuse_unread(octets, packet, now)
        message = decode(octets, packet.source, packet.destination)
        if message.kind is Kind.I1:
            return None
        told, known = message.find(HostId), self.key_of(message.sender)
        if told is None and known is None:
            if message.kind is Kind.I2:
                return None
            raise UnknownKeyError(f"{message.kind.name} of {message.sender}, whose key is not known")
        if told is not None and known is not None and (told.algorithm, told.key) != (known.algorithm, known.key):
            raise ProofError(f"the identity in it is not that of {message.sender}")
        pinned = self._hosts.get(message.sender)
        if not (pinned.read.may(OF_HOST, now) if pinned else self._strangers.may(packet.source, now)):
            raise HipRateLimitError(f"{message.kind.name} of {message.sender}: more comes than is read")
        host = known or told
        assert host is not None
        if known is None and hit_of(host) != message.sender:
            raise ProofError(f"the identity in it is that of {hit_of(host)}, not of {message.sender}")
        if message.kind is Kind.R1:
            check_r1(octets, message, host)
        else:
            check_signature(octets, message, host)
        if message.kind in _INTRODUCES:
            self.know(host, packet.source)
        return message, octets

    def _refuse_unread(self, octets: bytes, packet: Packet, now: float) -> None:
        """Raise TooOftenError for what will not be looked at anyway, before it is taken apart."""
        if self._strangers.is_open(packet.source, now) or IPv6Address(octets[SENDER_AT:RECEIVER_AT]) in self._hosts:
            return
        kind = octets[2] & KIND_MASK
        is_hidden = kind == Kind.I2 and all(one.number != HostId.number for one in places(octets, HEADER_OCTETS))
        if kind != Kind.I1 and not is_hidden:
            raise HipRateLimitError(
                f"HIP messages from {packet.source}: more come from its prefix, or all, than are read"
            )

    def pin(self, hits: Iterable[IPv6Address]) -> None:
        """Keep the keys of hosts that have one more session now."""
        for hit in hits:
            host = self._hosts.setdefault(hit, _Host())
            host.sessions += 1
            host.key = host.key or self._newcomers.pop(hit)

    def unpin(self, hits: Iterable[IPv6Address]) -> None:
        """A session is over; what is said at its end may still come."""
        for hit in hits:
            host = self._hosts[hit]
            host.sessions -= 1
            if not host.sessions:
                del self._hosts[hit]
                if host.key is not None:
                    # By its own tag: where it is now may be crowded.
                    self.know(host.key, hit)

    def know(self, host: HostId, source: IPv6Address) -> None:
        """Remember the key of a host, which proved itself; of a newcomer by where it is."""
        hit = hit_of(host)
        if (pinned := self._hosts.get(hit)) is not None:
            pinned.key = host
        else:
            self._newcomers.put(hit, host, int(source) >> ADDRESS_BITS - PREFIX_BITS)
