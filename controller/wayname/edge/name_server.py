"""One DNS server as the edge sees it: sends it messages, knows its answers, and says which of them do not come.

What is asked or told is for others to say: each message is about something of theirs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import dns.exception
import dns.message
import dns.name
import dns.tsig
import dns.update

from wayname.config.names import Names
from wayname.edge.boundary import AskNames
from wayname.edge.outputs import Outputs
from wayname.edge.timers import Timers

FIRST_TIMEOUT = 1.0
LONGEST_TIMEOUT = 64.0
# Of messages that tell: then somebody hears that the server does not take them.
TRIES = 4
# Somebody waits meanwhile.
TRIES_OF_QUESTIONS = 2
IDS = 1 << 16

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Asked(Generic[A]):
    """A message that waits for its answer."""

    message: dns.message.Message
    about: A
    tries: int


class NameServer(Generic[A]):
    """Sends messages to the server, updates signed if there is a key (RFC 8945), and takes what it answers."""

    def __init__(self, names: Names, rng: random.Random, outputs: Outputs) -> None:
        self._names = names
        self._rng = rng
        self._outputs = outputs
        self._keys = None
        if names.key_name:
            self._keys = {(name := dns.name.from_text(names.key_name)): dns.tsig.Key(name, names.key)}
        self._asked: dict[int, Asked[A]] = {}
        self._timers: Timers[int] = Timers()

    def send(self, message: dns.message.Message, about: A, tries: int, now: float) -> None:
        """Send a message, for the first time or again."""
        number = self._rng.randrange(IDS)
        while number in self._asked:
            number = (number + 1) % IDS
        message.id = number
        if self._keys is not None and isinstance(message, dns.update.UpdateMessage):
            message.use_tsig(self._keys)
        octets = message.to_wire()
        self._asked[number] = Asked(message, about, tries)
        self._timers.set(number, now + min(FIRST_TIMEOUT * 2 ** (tries - 1), LONGEST_TIMEOUT))
        self._outputs.ask(AskNames(self._names.server, self._names.port, octets))

    def answered(self, octets: bytes) -> tuple[A, dns.message.Message] | None:
        """Return what an answer is about; what is no answer to a message of ours is left alone."""
        if len(octets) < 2 or (asked := self._asked.get(int.from_bytes(octets[:2]))) is None:
            return None
        mac = asked.message.mac
        try:
            answer = dns.message.from_wire(octets, keyring=self._keys, request_mac=mac)
        except dns.exception.DNSException:
            return None
        if not asked.message.is_response(answer) or bool(mac) != answer.had_tsig:
            return None
        self._forget(asked.message.id)
        return asked.about, answer

    def forget(self, about: A) -> None:
        """Wait no more for answers about something."""
        for number in [number for number, asked in self._asked.items() if asked.about is about]:
            self._forget(number)

    def next_timer(self) -> float | None:
        """Return when to look for `silent` at the latest."""
        return self._timers.next()

    def silent(self, now: float) -> Iterator[Asked[A]]:
        """Yield the messages whose answers have not come in time."""
        for number in self._timers.due(now):
            yield self._asked.pop(number)

    def _forget(self, number: int) -> None:
        del self._asked[number]
        self._timers.cancel(number)
