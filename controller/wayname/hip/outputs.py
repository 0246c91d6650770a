"""What comes out of an endpoint of HIP: packets, what became of associations, and events in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv6Address

from wayname.event_limiter import EventLimiter
from wayname.hip.association import Association, Names, Transport
from wayname.hip.messages import with_checksum
from wayname.hip.states import Trigger
from wayname.outbox import Outbox as BaseOutbox
from wayname.outbox import Send as Send
from wayname.session.keys import Pair
from wayname.wire.ipv6 import HIP, Packet
from wayname.wire.path_reports import PathReports


@dataclass(frozen=True, slots=True)
class Standing:
    """What packets of an association need; the exchange's addresses are what hosts without HIP know each other by."""

    names: Names
    exchange: Pair
    pair: Pair
    transport: Transport
    peer_locators: tuple[IPv6Address, ...]  # verified ones
    path_reports: PathReports | None  # what the peer's edge said of them

    @classmethod
    def of(cls, association: Association, now: float) -> Standing:
        """Show an association that stands."""
        assert association.transport is not None
        active = tuple(one.address for one in association.peer.active(now))
        names, exchange, reports = association.names, association.exchange, association.path_reports
        return cls(names, exchange, association.pair, association.transport, active, reports)


@dataclass(frozen=True, slots=True)
class Up:
    """An association stands; one between the same names is replaced."""

    standing: Standing


@dataclass(frozen=True, slots=True)
class Changed:
    """Locators, keys or SPIs of an association changed."""

    standing: Standing


@dataclass(frozen=True, slots=True)
class Gone:
    """An association that stood does so no more; the trigger says why."""

    names: Names
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Failed:
    """Nobody answered, or not as they should."""

    names: Names


class EventKind(Enum):
    """What an event is about."""

    DROPPED = "dropped"
    REFUSED = "refused"
    NOTIFIED = "notified"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that somebody may want to know; of a kind one a second is told, with the number of the others."""

    kind: EventKind
    text: str


Output = Send | Up | Changed | Gone | Failed | Event


class Outbox(BaseOutbox[Output]):
    """What came out of a HIP endpoint."""

    def __init__(self) -> None:
        super().__init__()
        self._event_limiter = EventLimiter[EventKind]()

    def send(self, pair: Pair, octets: bytes) -> None:
        """Let a HIP packet go from here to the peer."""
        self.add(Send(Packet(pair.local, pair.peer, HIP, with_checksum(octets, pair.local, pair.peer))))

    def tell(self, kind: EventKind, text: str, now: float) -> None:
        """Let an event come out, unless one of its kind just did."""
        more = self._event_limiter.untold_before(kind, now)
        if more is not None:
            self.add(Event(kind, text + (f" (and {more} more before)" if more else "")))
