"""One DNS server as the edge sees it: sends it messages, knows its answers, and says which of them do not come.

What is asked or told is for others to say: each message is about something of theirs. An answer counts if it came to
the port that its question left by (the adapter takes one for each), with its number and its question, letter by letter
(RFC 5452, section 9): a question is written in random case, which servers copy. With a key everything is signed, both
ways (RFC 8945).
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.tsig
import dns.update

from wayname.config.names import Names, Transport
from wayname.edge.boundary import CancelDnsQuery, DnsQuery, DnsResponse
from wayname.edge.outputs import Outputs
from wayname.timers import Timers

FIRST_TIMEOUT = 1.0
LONGEST_TIMEOUT = 64.0
# Of messages that tell: then somebody hears that the server does not take them.
TRIES = 4
# Somebody waits meanwhile.
TRIES_OF_QUESTIONS = 2
IDS = 1 << 16
# What passes every link of IPv6 in one piece; of a longer answer the server sends a part, and the rest by TCP.
UDP_OCTETS = 1232
LETTERS = frozenset(string.ascii_letters.encode())
OTHER_CASE = 0x20

A = TypeVar("A")


def back_off(first: float, tries: int) -> float:
    """Return how long to wait after so many tries: twice as long each time, up to the longest."""
    # However long the server is away: a float has no room for two to the power of what a day of it takes.
    return min(first * float(1 << min(tries, 16)), LONGEST_TIMEOUT)


@dataclass(frozen=True, slots=True)
class PendingQuery(Generic[A]):
    """A message that waits for its answer."""

    message: dns.message.Message
    about: A
    tries: int
    question: DnsQuery


class DnsClient(Generic[A]):
    """Sends messages to the server, and takes what it answers."""

    def __init__(self, names: Names, rng: random.Random, outputs: Outputs) -> None:
        self._names = names
        self._rng = rng
        self._outputs = outputs
        self._keys = None
        if names.key_name:
            self._keys = {(name := dns.name.from_text(names.key_name)): dns.tsig.Key(name, names.key)}
        self._asked: dict[int, PendingQuery[A]] = {}
        self._timers: Timers[int] = Timers()

    def send(self, message: dns.message.Message, about: A, tries: int, now: float) -> None:
        """Send a message, for the first time or again."""
        self._send(message, about, tries, self._names.transport, now)

    def answered(self, answered: DnsResponse, now: float) -> tuple[A, dns.message.Message] | None:
        """Return what an answer is about; what is no answer to a message of ours is left alone."""
        octets = answered.message
        asked = self._asked.get(int.from_bytes(octets[:2]))
        if asked is None or asked.question is not answered.question:
            return None
        try:
            answer = dns.message.from_wire(octets, keyring=self._keys, request_mac=asked.message.mac)
        except dns.exception.DNSException:
            return None
        if not self._is_answer(asked.message, answer):
            return None
        self._forget(asked.message.id)
        if answer.flags & dns.flags.TC and asked.question.transport is Transport.UDP:
            self._send(asked.message, asked.about, asked.tries, Transport.TCP, now)
            return None
        return asked.about, answer

    def is_believed(self, answer: dns.message.Message) -> bool:
        """Whether an answer may be used: with `dnssec` only if the server says that it is authentic (RFC 4035)."""
        return not self._names.dnssec or bool(answer.flags & dns.flags.AD)

    def forget(self, about: A) -> None:
        """Wait no more for answers about something."""
        for number in [number for number, asked in self._asked.items() if asked.about is about]:
            self._forget(number)

    def next_timer(self) -> float | None:
        """Return when to look for `silent` at the latest."""
        return self._timers.next()

    def silent(self, now: float) -> Iterator[PendingQuery[A]]:
        """Yield the messages whose answers have not come in time."""
        for number in self._timers.due(now):
            asked = self._asked.pop(number)
            self._outputs.ask(CancelDnsQuery(asked.question))
            yield asked

    def _send(self, message: dns.message.Message, about: A, tries: int, transport: Transport, now: float) -> None:
        number = self._rng.randrange(IDS)
        while number in self._asked:
            number = (number + 1) % IDS
        message.id = number
        if not isinstance(message, dns.update.UpdateMessage):
            self._prepare_question(message)
        if self._keys is not None:
            message.use_tsig(self._keys)
        question = DnsQuery(self._names.server, self._names.port, transport, message.to_wire())
        self._asked[number] = PendingQuery(message, about, tries, question)
        self._timers.set(number, now + back_off(FIRST_TIMEOUT, tries - 1))
        self._outputs.ask(question)

    def _prepare_question(self, message: dns.message.Message) -> None:
        [question] = message.question
        question.name = dns.name.Name([bytes(map(self._in_random_case, label)) for label in question.name.labels])
        message.use_edns(payload=UDP_OCTETS)
        # That we know what the flag means makes a server set it in its answer (RFC 6840, section 5.7).
        message.flags |= dns.flags.AD

    def _in_random_case(self, octet: int) -> int:
        return octet ^ OTHER_CASE if octet in LETTERS and self._rng.getrandbits(1) else octet

    def _is_answer(self, message: dns.message.Message, answer: dns.message.Message) -> bool:
        if not message.is_response(answer) or bool(message.mac) != answer.had_tsig:
            return False
        if isinstance(message, dns.update.UpdateMessage):
            return True
        return [each.name.labels for each in answer.question] == [each.name.labels for each in message.question]

    def _forget(self, number: int) -> None:
        self._outputs.ask(CancelDnsQuery(self._asked.pop(number).question))
        self._timers.cancel(number)
