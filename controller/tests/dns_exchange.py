"""Something that asks a DNS server, and the server; messages may get lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from wayname.edge.boundary import DnsQuery, DnsResponse, Event
from wayname.edge.outputs import Outputs
from wayname_lab.dns_server import DnsServer

KEY_NAME, KEY = "edge.lab.test", b"secret"


class Asks(Protocol):
    """What is tested."""

    def answered(self, answered: DnsResponse, now: float) -> None:
        """Take what the server says."""

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""

    def handle_timer(self, now: float) -> None:
        """Do what is due."""


D = TypeVar("D", bound=Asks)


class NameDesk(Generic[D]):
    """Carries messages between the two."""

    directory: D

    def __init__(self, records: Iterable[str]) -> None:
        self.server = DnsServer("lab.test", KEY_NAME, KEY, records)
        self.outputs = Outputs()
        self.events: list[Event] = []
        self.works = True
        self.asked = 0

    def exchange(self, now: float) -> None:
        """Carry what waits."""
        while outputs := self.outputs.take():
            self.events += [output for output in outputs if isinstance(output, Event)]
            for question in (output for output in outputs if isinstance(output, DnsQuery)):
                self.asked += 1
                answer = self.server.answer(question.message, question.transport) if self.works else None
                if answer is not None:
                    self.directory.answered(DnsResponse(question, answer), now)

    def run(self, until: float) -> None:
        """Let time pass."""
        while (at := self.directory.next_timer()) is not None and at <= until:
            self.directory.handle_timer(at)
            self.exchange(at)

    def told(self, name: str) -> list[str]:
        """Return the records of a name."""
        return [record for record in self.server.records() if record.startswith(f"{name}.")]
