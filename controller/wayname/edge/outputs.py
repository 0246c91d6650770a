"""Where managers put what should leave: entries, packets, events."""

from __future__ import annotations

from collections.abc import Mapping

from wayname.edge.boundary import (
    AskNames,
    Captured,
    Event,
    FindModifier,
    Json,
    Output,
    PacketOut,
    Remember,
    Severity,
    StopAsking,
    Write,
)
from wayname.edge.desired import Desired
from wayname.escape import escaped, escaped_inside


class Outputs:
    """Collects outputs in order; entries that changed are written before the next packet leaves."""

    def __init__(self) -> None:
        self.desired = Desired()
        self.connected = False
        self._queue: list[Output] = []

    def packet(self, packet: PacketOut) -> None:
        """Send a packet behind all that was put before it; without a switch it is lost."""
        if self.connected:
            self._flush()
            self._queue.append(packet)

    def captured(self, captured: Captured) -> None:
        """Hand on a captured packet."""
        self._queue.append(captured)

    def remember(self, key: str, value: Json) -> None:
        """Write something down before anything is done that another controller would have to know of."""
        self._queue.append(Remember(key, value))

    def find(self, search: FindModifier) -> None:
        """Have a modifier searched for, in the background."""
        self._queue.append(search)

    def ask(self, wish: AskNames | StopAsking) -> None:
        """Send a message to a DNS server, or wait no more for its answers."""
        self._queue.append(wish)

    def event(
        self,
        now: float,
        kind: str,
        subject: object,
        text: str,
        severity: Severity = Severity.INFO,
        details: Mapping[str, Json] | None = None,
    ) -> None:
        """Say that something happened, in words that may quote what came from the network."""
        quoted = {key: escaped_inside(value) for key, value in (details or {}).items()}
        self._queue.append(Event(now, kind, severity, escaped(str(subject)), escaped(text), quoted))

    def take(self) -> list[Output]:
        """Return all outputs since the last call."""
        self._flush()
        queue, self._queue = self._queue, []
        return queue

    def _flush(self) -> None:
        if self.connected:
            self._queue.extend(Write(updates) for updates in self.desired.updates())
