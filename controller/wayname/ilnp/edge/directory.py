"""Names: tells the DNS where hosts here are, and asks it where their peers are.

A message that is not answered is sent again. What hosts have to tell is told until the server took it, since others
rely on it; a question that nobody answers is as good as one without records.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype

from wayname.config.names import NetworkNames
from wayname.edge.boundary import DnsResponse, Severity
from wayname.edge.outputs import Outputs
from wayname.ilnp.locator_update import Listed
from wayname.ilnp.lookup import Found, Lookup, Question, node_update
from wayname.ilnp.records import Identified, LocatedV4, Pointed, Told
from wayname.ilnp.vectors import NID, Vector, half_text
from wayname.session.dns_client import TRIES, TRIES_OF_QUESTIONS, DnsClient, back_off
from wayname.timers import Timers, earliest

# A peer that nothing is known of is looked up again, so that who is told of later than we began is found.
FIRST_WATCH = 0.5
# How long resolvers may keep an identifier or a pointer, in seconds: hosts have them for long.
NAME_LIFETIME = 3600
# There is one identifier, and one network, so nothing is preferred to it.
PREFERENCE = 10


@dataclass(slots=True)
class PublishedName:
    """What the DNS is to tell under a name."""

    name: dns.name.Name
    told: tuple[Told, ...]
    is_told: bool = False
    tries: int = 0


@dataclass(slots=True)
class PendingPeer:
    """A peer that is looked up."""

    lookup: Lookup
    waiting: dict[Question, int] = field(default_factory=dict)


class IlnpDirectory:
    """Sends messages to one server, and takes what it answers."""

    def __init__(
        self,
        names: NetworkNames,
        rng: random.Random,
        outputs: Outputs,
        on_found: Callable[[NID, Found | None, float], None],
    ) -> None:
        self._names = names
        self._outputs = outputs
        self._on_found = on_found
        self._zone = dns.name.from_text(names.zone or ".")
        self._server: DnsClient[PublishedName | tuple[NID, Question]] = DnsClient(names, rng, outputs)
        self._peers = {Vector.of(node.address).nid: dns.name.from_text(node.name) for node in names.peers}
        self._sought: dict[NID, PendingPeer] = {}
        self._watched: dict[NID, int] = {}
        self._watches: Timers[NID] = Timers()
        self.published: dict[dns.name.Name, PublishedName] = {}
        self.found: dict[NID, Found | None] = {}

    def name_of(self, nid: NID) -> dns.name.Name | None:
        """Return the name of a peer, if it has one."""
        return self._peers.get(nid)

    def known_as(self, nid: NID) -> Vector | None:
        """Return which node is meant by the configuration, if it names the peer."""
        return next((vector for node in self._names.peers if (vector := Vector.of(node.address)).nid == nid), None)

    @property
    def peers(self) -> dict[NID, dns.name.Name]:
        """Return the peers that have names."""
        return dict(self._peers)

    def publish(self, listed: Callable[[Vector], Iterable[Listed]], now: float) -> None:
        """Tell where hosts are, as far as it is not what was told last."""
        network = dns.name.from_text(self._names.network) if self._names.network else None
        for host in self._names.hosts:
            name, vector = dns.name.from_text(host.name), Vector.of(host.address)
            identified = Identified(vector.nid, PREFERENCE, NAME_LIFETIME)
            where = tuple(listed(vector))
            if network is None:
                self._tell(name, (identified, *where), now)
            else:
                self._tell(name, (identified, Pointed(network, PREFERENCE, NAME_LIFETIME)), now)
                self._tell(network, where, now)

    def seek(self, nid: NID, now: float) -> None:
        """Look a peer up by its name."""
        if nid in self._sought:
            return
        self._sought[nid] = PendingPeer(Lookup(self._peers[nid]))
        self._go_on(nid, now)

    def watch(self, nids: Iterable[NID], now: float) -> None:
        """Look peers up until something is known of them."""
        for nid in nids:
            self._watched[nid] = 0
            self.seek(nid, now)

    def answered(self, answered: DnsResponse, now: float) -> None:
        """Take what the server says; what is no answer to a question of ours is left alone."""
        taken = self._server.answered(answered, now)
        if taken is None:
            return
        about, answer = taken
        if isinstance(about, PublishedName):
            self._updated(about, answer, now)
        else:
            nid, question = about
            self._take(nid, question, answer, now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self._server.next_timer(), self._watches.next()))

    def handle_timer(self, now: float) -> None:
        """Send again what was not answered."""
        for asked in self._server.silent(now):
            if isinstance(asked.about, PublishedName):
                self._again(asked.about, "the server does not answer", now)
            elif asked.tries < TRIES_OF_QUESTIONS:
                self._server.send(asked.message, asked.about, asked.tries + 1, now)
            else:
                self._take(*asked.about, None, now)
        for nid in self._watches.due(now):
            self.seek(nid, now)

    def _tell(self, name: dns.name.Name, told: tuple[Told, ...], now: float) -> None:
        before = self.published.get(name)
        if before is not None and before.told == told:
            return
        self.published[name] = published = PublishedName(name, told)
        if before is not None:
            self._server.forget(before)
        self._send_update(published, now)

    def _send_update(self, published: PublishedName, now: float) -> None:
        published.tries += 1
        self._server.send(node_update(self._zone, published.name, published.told), published, published.tries, now)

    def _updated(self, published: PublishedName, answer: dns.message.Message, now: float) -> None:
        if answer.rcode() != dns.rcode.NOERROR:
            self._again(published, f"the server says {dns.rcode.to_text(answer.rcode())}", now)
            return
        published.is_told, published.tries = True, 0
        text = f"the DNS tells of {published.name} now: {in_words(published.told)}"
        self._outputs.event(now, "names.updated", published.name, text)

    def _again(self, published: PublishedName, why: str, now: float) -> None:
        if published.tries == TRIES:
            text = f"the DNS does not know where {published.name} is: {why}; it is told again"
            self._outputs.event(now, "names.untold", published.name, text, Severity.WARNING)
        self._send_update(published, now)

    def _go_on(self, nid: NID, now: float) -> None:
        sought = self._sought[nid]
        for question in sought.lookup.questions():
            if question not in sought.waiting:
                message = dns.message.make_query(question.name, question.kind, flags=dns.flags.RD)
                sought.waiting[question] = 1
                self._server.send(message, (nid, question), 1, now)
        if not sought.lookup.questions():
            del self._sought[nid]
            self.found[nid] = sought.lookup.found()
            if nid in self._watched and self.found[nid] is None:
                tries = self._watched[nid]
                self._watched[nid] += 1
                self._watches.set(nid, now + back_off(FIRST_WATCH, tries))
            self._on_found(nid, self.found[nid], now)

    def _take(self, nid: NID, question: Question, answer: dns.message.Message | None, now: float) -> None:
        lookup = self._sought[nid].lookup
        is_good = answer is not None and answer.rcode() == dns.rcode.NOERROR and self._server.is_believed(answer)
        lookup.take(question, answer.answer if answer is not None and is_good else ())
        self._go_on(nid, now)


def in_words(told: Iterable[Told]) -> str:
    """Tell records in words."""
    words: list[str] = []
    for one in told:
        match one:
            case Identified():
                words.append(half_text(one.nid))
            case Listed():
                words.append(f"at {half_text(one.locator)}")
            case Pointed():
                words.append(f"at {one.name}")
            case LocatedV4():
                words.append(f"at {one.locator}")
    return ", ".join(words)
