"""What comes out of an endpoint of ILNP: packets, what the tables are to hold, and events in plain words."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from ipaddress import IPv6Address

from wayname.event_limiter import EventLimiter
from wayname.ilnp.cache import Entry, Names
from wayname.ilnp.locators import Host, Validity
from wayname.ilnp.vectors import L64
from wayname.outbox import Outbox as BaseOutbox
from wayname.outbox import Send as Send
from wayname.wire.ipv6 import Packet


@dataclass(frozen=True, slots=True)
class KnownLocator:
    """A locator of a peer, as the tables and the screen show it."""

    locator: L64
    preference: int
    validity: Validity


@dataclass(frozen=True, slots=True)
class Session:
    """All that the tables need of a session; the identities are what hosts here know it by."""

    names: Names
    local_identity: IPv6Address
    peer_identity: IPv6Address
    source: L64
    destination: L64
    taken: tuple[L64, ...]  # our locators that packets of it may come to
    known: tuple[KnownLocator, ...]
    nonce_to_peer: bytes = field(repr=False)
    nonce_from_peer: bytes = field(repr=False)
    bears_nonce: bool

    @classmethod
    def of(cls, entry: Entry, host: Host, now: float) -> Session:
        """Show an entry of the cache."""
        ours = [one.locator for one in host.listed]
        return cls(
            entry.names,
            entry.local_identity.address,
            entry.peer_identity.address,
            entry.source,
            entry.destination,
            tuple(ours) + tuple(locator for locator in entry.leaving if locator not in ours),
            tuple(
                KnownLocator(locator, one.listed.preference, one.validity(now))
                for locator, one in entry.peer_locators.known.items()
            ),
            entry.nonce_to_peer,
            entry.nonce_from_peer,
            entry.bears_nonce,
        )


@dataclass(frozen=True, slots=True)
class Up:
    """A session stands: the tables are to have it. One between the same names is replaced."""

    session: Session


@dataclass(frozen=True, slots=True)
class Changed:
    """Locators of a session changed, or whether its packets bear the nonce."""

    session: Session


@dataclass(frozen=True, slots=True)
class Gone:
    """A session is over, and why."""

    names: Names
    why: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """A packet of a session, with its nonce checked, for the host."""

    names: Names
    packet: Packet


@dataclass(frozen=True, slots=True)
class UpdateUnacknowledged:
    """A peer acknowledged none of our updates: the DNS may know where it is."""

    names: Names


class Kind(Enum):
    """What an event is about."""

    NAIVE = "each packet with a nonce makes a session"
    UNANSWERED = "a peer did not answer"
    WITHOUT_ILNP = "a peer has no ILNP"
    HALF_OPEN = "too many sessions are asked for"
    REFUSED = "a wish for a session was not granted"
    FORGED = "a forgery"
    REPLAYED = "a replay"
    CLAIMED = "an identifier claimed by two sites"
    PROTOCOL = "a protocol error"
    DROPPED = "a packet that is no use"
    MOVED = "a hand-off"
    UNTOLD = "a peer does not know of a move"


SECURITY = frozenset({Kind.FORGED, Kind.REPLAYED, Kind.CLAIMED})


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth a line; of very many of a kind in a second one is told, and how many others there were."""

    kind: Kind
    words: str
    others: int = 0

    @property
    def is_security(self) -> bool:
        """Whether it belongs into the security log (RFC 6741, section 11.1)."""
        return self.kind in SECURITY


Output = Send | Up | Changed | Gone | Accepted | UpdateUnacknowledged | Event


class Outbox(BaseOutbox[Output]):
    """What came out of an endpoint of ILNP."""

    def __init__(self) -> None:
        super().__init__()
        self._event_limiter = EventLimiter[Kind]()

    def event(self, kind: Kind, words: str, now: float) -> None:
        """Let an event come out, or count it, so that a flood does not fill the log."""
        others = self._event_limiter.untold_before(kind, now)
        if others is not None:
            self.add(Event(kind, words, others))
