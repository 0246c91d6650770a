"""Two endpoints of a protocol and what is on its way between them, on a virtual clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from wayname.outbox import Send
from wayname.wire.ipv6 import Packet

DELAY = 0.01
START = 1000.0
NEVER = float("inf")


class Endpoint(Protocol):
    """An endpoint of any protocol."""

    def receive(self, packet: Packet, now: float) -> None:
        """Take a packet."""

    def take_outputs(self) -> list[Any]:
        """Return what came out since the last call."""

    def next_timer(self) -> float | None:
        """Return when to call handle_timer at the latest."""

    def handle_timer(self, now: float) -> None:
        """Do what is due."""


class Side(Protocol):
    """One endpoint, and what came out of it other than packets."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint as it is now."""

    @property
    def outputs(self) -> list[Any]:
        """What nobody took yet."""


S = TypeVar("S", bound=Side)


class TwoSides(ABC, Generic[S]):
    """A and B; packets arrive in order unless something is done to them."""

    a: S
    b: S

    def __init__(self) -> None:
        self.now = START
        self.under_way: list[tuple[float, Packet]] = []

    @abstractmethod
    def deliver(self, packet: Packet) -> str:
        """Let a packet arrive now, if it can; tell it as an arrow."""

    @abstractmethod
    def arrow(self, packet: Packet) -> str:
        """Tell a packet as `A1 --I1-> B1`."""

    def inject(self, packet: Packet) -> None:
        """Put a packet on its way."""
        self.under_way.append((self.now + DELAY, packet))

    def collect(self) -> None:
        """Put what was sent on its way."""
        for side in (self.a, self.b):
            for output in side.endpoint.take_outputs():
                if isinstance(output, Send):
                    self.inject(output.packet)
                else:
                    side.outputs.append(output)

    def step(self, end: float = NEVER) -> str | None:
        """Deliver the next packet, or let the next timer run out, unless that is after the end; tell what it was."""
        timers = [(at, side) for side in (self.a, self.b) if (at := side.endpoint.next_timer()) is not None]
        expires, side = min(timers, key=lambda timer: timer[0], default=(NEVER, self.a))
        arrives = self.under_way[0][0] if self.under_way else NEVER
        if min(arrives, expires) > end or arrives == expires == NEVER:
            return None
        self.now = max(self.now, min(arrives, expires))
        if arrives <= expires:
            return self.deliver(self.under_way.pop(0)[1])
        return self.expire(side)

    def expire(self, side: S) -> str:
        """Let the next timer of a side run out; tell whose it was."""
        side.endpoint.handle_timer(self.now)
        self.collect()
        return "A timer" if side is self.a else "B timer"

    def lose(self) -> str:
        """Lose the next packet; tell it as an arrow that goes nowhere."""
        return self.arrow(self.under_way.pop(0)[1]).replace("->", "-x")
