"""Names of ILNP in the DNS (RFC 6742): tells where hosts here are, and asks where their peers are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import dns.message
import dns.name
import dns.update

from wayname.config.names import NetworkNames
from wayname.edge.outputs import Outputs
from wayname.ilnp.locator_update import Listed
from wayname.ilnp.lookup import Found, Lookup, Question, node_update
from wayname.ilnp.records import Identified, LocatedV4, Pointed, Told
from wayname.ilnp.vectors import NID, Vector, half_text
from wayname.session.directory import FIRST_WATCH, NAME_LIFETIME, Directory
from wayname.session.dns_client import back_off
from wayname.timers import Timers, earliest

# There is one identifier, and one network, so nothing is preferred to it.
PREFERENCE = 10


@dataclass(slots=True)
class PendingPeer:
    """A peer that is looked up."""

    lookup: Lookup
    waiting: set[Question] = field(default_factory=set)


class IlnpDirectory(Directory[tuple[Told, ...], tuple[NID, Question]]):
    """Tells where hosts here are, and looks up where their peers are."""

    def __init__(
        self,
        names: NetworkNames,
        rng: random.Random,
        outputs: Outputs,
        on_found: Callable[[NID, Found | None, float], None],
    ) -> None:
        super().__init__(names, rng, outputs)
        self._names = names
        self._on_found = on_found
        self._peers = {Vector.of(node.address).nid: dns.name.from_text(node.name) for node in names.peers}
        self._sought: dict[NID, PendingPeer] = {}
        self._watched: dict[NID, int] = {}
        self._watches: Timers[NID] = Timers()
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

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((super().next_timer(), self._watches.next()))

    def handle_timer(self, now: float) -> None:
        """Send again what was not answered, and look up again who was not there."""
        super().handle_timer(now)
        for nid in self._watches.due(now):
            self.seek(nid, now)

    def _update(self, name: dns.name.Name, told: tuple[Told, ...]) -> dns.update.UpdateMessage:
        return node_update(self._zone, name, told)

    def _in_words(self, told: tuple[Told, ...]) -> str:
        return in_words(told)

    def _go_on(self, nid: NID, now: float) -> None:
        sought = self._sought[nid]
        for question in sought.lookup.questions():
            if question not in sought.waiting:
                sought.waiting.add(question)
                self._ask(question.name, question.kind, (nid, question), now)
        if not sought.lookup.questions():
            del self._sought[nid]
            self.found[nid] = sought.lookup.found()
            if nid in self._watched and self.found[nid] is None:
                tries = self._watched[nid]
                self._watched[nid] += 1
                self._watches.set(nid, now + back_off(FIRST_WATCH, tries))
            self._on_found(nid, self.found[nid], now)

    def _take(self, question: tuple[NID, Question], answer: dns.message.Message | None, now: float) -> None:
        nid, asked = question
        self._sought[nid].lookup.take(asked, answer.answer if answer is not None else ())
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
