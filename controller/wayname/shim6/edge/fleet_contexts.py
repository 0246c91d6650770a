"""Contexts with hosts of other edges of the fleet: both edges read what they need in the directory (docs/fleet.md).

The edge that begins has its context as soon as it has read the record of its peer. The other edge hears of that by the
first packet whose tag it does not know, reads who is there, and has the same context if the tag is the one that follows
from both records. Where anything else is so, edges do as with everybody: by I1 and R1bis (RFC 5533, sections 7.7 and
7.17).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from ipaddress import IPv6Address

from wayname.edge.boundary import FindHost, HostFound, PublishHost
from wayname.edge.outputs import Outputs
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.identity.errors import ProofError
from wayname.session.keys import SessionKey
from wayname.shim6.context import KnownPeer, LocalHost
from wayname.shim6.endpoint import Endpoint, Learn
from wayname.shim6.host_record import FleetTags, HostRecord
from wayname.token_buckets import PrefixTokenBuckets, Rate
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import MessageType, kind_and_tag
from wayname.wire.shim6.payload import BEFORE_SHIM6, PayloadHeader, is_payload

# Addresses that an edge has in the directory, questions that wait for answers, and what waits for one answer.
MOST_PUBLISHED = 65536
MOST_QUESTIONS = 256
MOST_WAITING = 8
# Questions about who sends tags that nobody here knows: that can be anybody, and etcd is everybody's.
STRANGERS, STRANGERS_IN_ALL = Rate(50, 200), Rate(200, 400)


class FleetContexts:
    """Tells the directory of hosts here, asks it about peers, and makes contexts of what both edges know."""

    def __init__(
        self,
        endpoint: Endpoint,
        hosts: Mapping[IPv6Address, LocalHost],
        learn: Learn,
        outputs: Outputs,
        events: RateLimitedEvents,
        rng: random.Random,
        exchange: Callable[[SessionKey, float], None],
    ) -> None:
        """`exchange` sets up a context as with peers of no fleet."""
        self._endpoint = endpoint
        self._hosts = hosts
        self._learn = learn
        self._outputs = outputs
        self._events = events
        self._exchange = exchange
        self._tags = FleetTags(rng)
        self._strangers = PrefixTokenBuckets(rng, STRANGERS, STRANGERS_IN_ALL)
        # Who of the hosts here is at an address, as the directory has it, and where each is.
        self._at: dict[IPv6Address, IPv6Address] = {}
        self._published: dict[IPv6Address, frozenset[IPv6Address]] = {}
        self._waiting: dict[FindHost, list[SessionKey | Packet]] = {}
        # What came of questions.
        self.results: Counter[str] = Counter()

    def publish(self, host: LocalHost, now: float) -> None:
        """Have other edges find a host under each of its locators, and no more under those that it gave up."""
        for address in sorted(self._published.get(host.ulid, frozenset()) - host.locators):
            self._at.pop(address, None)
            self._outputs.directory(PublishHost(address, None))
        self._published[host.ulid] = host.locators
        octets = HostRecord.of(self._tags.public_key, host).octets
        for address in sorted(host.locators):
            if len(self._at) >= MOST_PUBLISHED and address not in self._at:
                text = f"the edge has {MOST_PUBLISHED} addresses in the directory: {address} has no place there"
                self._events.tell(now, "directory.full", host.ulid, text)
                return
            self._at[address] = host.ulid
            self._outputs.directory(PublishHost(address, octets))

    def begins(self, name: SessionKey) -> bool:
        """Ask the directory about a peer before a context is set up; False if that is not asked."""
        if name.instance or self._at.get(name.local) != name.local:
            return False
        return self._ask(FindHost(name.peer, name.local), name)

    def recognises(self, packet: Packet, now: float) -> bool:
        """Ask about the sender of a tag that is not known here; then the packet waits, and True comes back."""
        local = self._at.get(packet.destination)
        if local is None or self._knows(packet):
            return False
        question = FindHost(packet.source, local)
        if question not in self._waiting and not self._strangers.may(packet.source, now):
            self.results["too many"] += 1
            return False
        return self._ask(question, packet)

    def found(self, found: HostFound, now: float) -> None:
        """Take an answer, and go on with all that waited for it."""
        waiting = self._waiting.pop(found.question, None)
        if waiting is None:
            return
        record = self._read(found, now)
        for each in waiting:
            if isinstance(each, SessionKey):
                if self._endpoint.contexts.named(each) is None and not (record and self._agree(found, record, now)):
                    self._exchange(each, now)
            else:
                if record is not None and not self._knows(each):
                    self._agree(found, record, now, _tag_of(each))
                self._endpoint.receive(each, now)

    def _ask(self, question: FindHost, waits: SessionKey | Packet) -> bool:
        waiting = self._waiting.get(question)
        if waiting is None:
            if len(self._waiting) >= MOST_QUESTIONS:
                self.results["too many"] += 1
                return False
            self._waiting[question] = [waits]
            self._outputs.directory(question)
            return True
        if len(waiting) >= MOST_WAITING:
            return False
        waiting.append(waits)
        return True

    def _knows(self, packet: Packet) -> bool:
        """Whether a packet bears a tag of ours, or none that a context would be found by."""
        tag = _tag_of(packet)
        return tag is None or self._endpoint.contexts.tagged(tag) is not None

    def _read(self, found: HostFound, now: float) -> HostRecord | None:
        if found.octets is None:
            self.results[found.why] += 1
            if found.text:
                self._events.tell(now, "directory.refused", found.question.address, found.text)
            return None
        try:
            return HostRecord.decode(found.octets)
        except DecodeError as wrong:
            self._refuse(found.question, wrong, now)
            return None

    def _agree(self, found: HostFound, record: HostRecord, now: float, tag: int | None = None) -> bool:
        """Have the context that follows from both records, if the record proves what it says, and it is of that tag."""
        host = self._hosts[found.question.asked_for]
        name = SessionKey(host.ulid, record.ulid)
        if self._endpoint.contexts.named(name) is not None:
            return False
        try:
            known = self._learn(name, record.options, KnownPeer(frozenset({record.ulid})))
            if known.parameters is None:
                raise ProofError(f"nothing proves that it tells of {record.ulid}")
            if not {record.ulid, found.question.address} <= known.locators:
                raise ProofError(f"it does not say that {record.ulid} is there")
            ours, theirs = self._tags.derive(HostRecord.of(self._tags.public_key, host), record)
        except (DecodeError, ProofError) as wrong:
            self._refuse(found.question, wrong, now)
            return False
        contexts = self._endpoint.contexts
        if tag not in (None, ours) or contexts.tagged(ours) is not None or host.ulid not in host.locators:
            self.results["other tag"] += 1
            return False
        self.results["agreed"] += 1
        self._endpoint.agree(name, ours, theirs, known)
        return True

    def _refuse(self, question: FindHost, wrong: Exception, now: float) -> None:
        self.results["unproven"] += 1
        text = f"what the fleet's directory has at {question.address} is not believed: {wrong}"
        self._events.tell(now, "directory.refused", question.address, text)


def _tag_of(packet: Packet) -> int | None:
    """Return the tag that a packet bears within a context; None if it is no such packet."""
    try:
        upper = packet.upper_layer(BEFORE_SHIM6)
        if upper.number != SHIM6 or not upper.is_whole:
            return None
        if is_payload(upper.data):
            return PayloadHeader.decode(upper.data).tag
        kind, tag = kind_and_tag(upper.data)
    except DecodeError:
        return None
    return tag if kind >= MessageType.UPDATE_REQUEST else None
