"""Where managers put what should leave: entries, packets, events."""

from __future__ import annotations

from collections.abc import Mapping

from wayname.edge.boundary import (
    CancelDnsQuery,
    Captured,
    DnsQuery,
    Event,
    FindHost,
    FindModifier,
    Json,
    LearnedFromProviders,
    Output,
    PacketOut,
    Persist,
    PublishHost,
    Severity,
    VrrpRoleWanted,
    Write,
)
from wayname.edge.desired_state import DesiredState
from wayname.escape import escaped, escaped_inside


class Outputs:
    """Collects outputs: what is written down comes first, then entries, and then all else in its order.

    So nothing is done that the next controller would not know of, and a packet finds the entries that it needs. All of
    a turn is written at once, however many inputs it had.
    """

    def __init__(self) -> None:
        self.desired = DesiredState()
        self.connected = False
        self._remembered: list[Output] = []
        self._queue: list[Output] = []

    def packet(self, packet: PacketOut) -> None:
        """Send a packet; without a switch it is lost."""
        if self.connected:
            self._queue.append(packet)

    def captured(self, captured: Captured) -> None:
        """Hand on a captured packet."""
        self._queue.append(captured)

    def remember(self, key: str, value: Json) -> None:
        """Write something down before anything is done that another controller would have to know of."""
        self._remembered.append(Persist(key, value))

    def find(self, search: FindModifier) -> None:
        """Have a modifier searched for, in the background."""
        self._queue.append(search)

    def ask(self, wish: DnsQuery | CancelDnsQuery) -> None:
        """Send a message to a DNS server, or wait no more for its answers."""
        self._queue.append(wish)

    def directory(self, wish: PublishHost | FindHost) -> None:
        """Tell the fleet's directory of a host, or ask it."""
        self._queue.append(wish)

    def learned(self, learned: LearnedFromProviders) -> None:
        """Have the configuration read with what providers say."""
        self._queue.append(learned)

    def want_role(self, wanted: VrrpRoleWanted) -> None:
        """Have an edge of another role go on in the place of this one."""
        self._queue.append(wanted)

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
        writes = map(Write, self.desired.updates()) if self.connected else ()
        taken = [*self._remembered, *writes, *self._queue]
        self._remembered, self._queue = [], []
        return taken
