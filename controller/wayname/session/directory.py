"""Names in the DNS, of any protocol: tells a server of the hosts here until it took it, and asks it about peers.

A message that is not answered is sent again; what the server refuses is told again later. A question that nobody
answers is as good as one without records.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.update

from wayname.config.names import Names
from wayname.edge.boundary import DnsResponse, Severity
from wayname.edge.outputs import Outputs
from wayname.session.dns_client import LONGEST_TIMEOUT, TRIES, TRIES_OF_QUESTIONS, DnsClient
from wayname.timers import Timers, earliest

# A peer that nothing is known of is looked up again, so that who is told of later than we began is found.
FIRST_WATCH = 0.5
# How long resolvers may keep what hosts have for long: keys, identifiers, pointers; in seconds.
NAME_LIFETIME = 3600

Told = TypeVar("Told")
Question = TypeVar("Question")


@dataclass(slots=True)
class PublishedName(Generic[Told]):
    """What the DNS is to tell under a name."""

    name: dns.name.Name
    told: Told
    is_told: bool = False


class Directory(ABC, Generic[Told, Question]):
    """Sends messages to one server, and takes what it answers."""

    def __init__(self, names: Names, rng: random.Random, outputs: Outputs) -> None:
        self._outputs = outputs
        self._zone = dns.name.from_text(names.zone or ".")
        self._server: DnsClient[PublishedName[Told] | Question] = DnsClient(names, rng, outputs)
        self._refused: Timers[dns.name.Name] = Timers()
        self.published: dict[dns.name.Name, PublishedName[Told]] = {}

    @abstractmethod
    def _update(self, name: dns.name.Name, told: Told) -> dns.update.UpdateMessage:
        """Return the message that puts it in the place of all before (RFC 2136)."""

    @abstractmethod
    def _in_words(self, told: Told) -> str:
        """Return it as people read it."""

    @abstractmethod
    def _take(self, question: Question, answer: dns.message.Message | None, now: float) -> None:
        """Take what a question is answered; None if by nobody, or not to be believed."""

    def answered(self, answered: DnsResponse, now: float) -> None:
        """Take what the server says; what is no answer to a message of ours is left alone."""
        taken = self._server.answered(answered, now)
        if taken is None:
            return
        about, answer = taken
        is_good = answer.rcode() == dns.rcode.NOERROR
        if not isinstance(about, PublishedName):
            self._take(about, answer if is_good and self._server.is_believed(answer) else None, now)
        elif is_good:
            about.is_told = True
            text = f"the DNS tells of {about.name} now: {self._in_words(about.told)}"
            self._outputs.event(now, "names.updated", about.name, text)
        else:
            # Saying it again at once would change nothing.
            self._refused.set(about.name, now + LONGEST_TIMEOUT)
            self._untold(about, f"the server says {dns.rcode.to_text(answer.rcode())}", now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self._server.next_timer(), self._refused.next()))

    def handle_timer(self, now: float) -> None:
        """Send again what was not answered, and what was refused."""
        for asked in self._server.silent(now):
            about = asked.about
            if isinstance(about, PublishedName):
                if asked.tries == TRIES:
                    self._untold(about, "the server does not answer", now)
                self._send_update(about, asked.tries + 1, now)
            elif asked.tries < TRIES_OF_QUESTIONS:
                self._server.send(asked.message, about, asked.tries + 1, now)
            else:
                self._take(about, None, now)
        for name in self._refused.due(now):
            self._send_update(self.published[name], 1, now)

    def _tell(self, name: dns.name.Name, told: Told, now: float) -> None:
        """Have the DNS tell this under a name, unless it is what was told last."""
        before = self.published.get(name)
        if before is not None:
            if before.told == told:
                return
            self._server.forget(before)
            self._refused.cancel(name)
        self.published[name] = published = PublishedName(name, told)
        self._send_update(published, 1, now)

    def _ask(self, name: dns.name.Name, kind: dns.rdatatype.RdataType, question: Question, now: float) -> None:
        self._server.send(dns.message.make_query(name, kind, flags=dns.flags.RD), question, 1, now)

    def _send_update(self, published: PublishedName[Told], tries: int, now: float) -> None:
        self._server.send(self._update(published.name, published.told), published, tries, now)

    def _untold(self, published: PublishedName[Told], why: str, now: float) -> None:
        text = f"the DNS does not tell of {published.name}: {why}; it is told again"
        self._outputs.event(now, "names.untold", published.name, text, Severity.WARNING)
