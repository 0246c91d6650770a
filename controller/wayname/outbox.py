"""What a machine without sockets wants done, until somebody takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from wayname.wire.ipv6 import Packet

Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Send:
    """A packet to send."""

    packet: Packet


class Outbox(Generic[Out]):
    """What came out and was not taken yet, in order."""

    def __init__(self) -> None:
        self._outputs: list[Out] = []

    def add(self, output: Out) -> None:
        """Let something come out."""
        self._outputs.append(output)

    def take(self) -> list[Out]:
        """Return all of it."""
        outputs, self._outputs = self._outputs, []
        return outputs
