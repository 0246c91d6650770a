"""The cache of sessions (RFC 6741, section 5): bounded, found by identifiers and nonce, collected when idle."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from wayname.ilnp.locator_update import Listed
from wayname.ilnp.locators import PeerLocators
from wayname.ilnp.states import State, UpdateState
from wayname.ilnp.vectors import L64, NID, Vector, half_text

# Lists of locators that are remembered of a peer that numbers nothing, so that an old one changes nothing by itself.
REMEMBERED_LISTS = 8


@dataclass(frozen=True, slots=True, order=True)
class Names:
    """Between which identifiers a session is."""

    local: NID
    peer: NID

    def __str__(self) -> str:
        return f"{half_text(self.local)} with {half_text(self.peer)}"


@dataclass(slots=True)
class AdvertisedLocators:
    """What the peer was told of our locators."""

    state: UpdateState = UpdateState.TOLD
    listed: tuple[Listed, ...] = ()
    tries: int = 0
    serial: int = 0
    # A list was told before the one before it was acknowledged, so the peer may hear of it later.
    overtaken: bool = False


@dataclass(slots=True)
class ReceivedLocators:
    """What the peer told of its locators last, and before that."""

    listed: tuple[Listed, ...] = ()
    earlier: tuple[tuple[Listed, ...], ...] = ()
    # The number of the last list; None: the peer numbers nothing.
    number: int | None = None
    # An old list that came again, of which is being found out whether the peer is there.
    doubted: tuple[Listed, ...] = ()


@dataclass(slots=True)
class Entry:
    """A session: identifiers, nonces both ways, locators of both ends."""

    names: Names
    state: State
    # How the hosts here see it, whatever becomes of the locators.
    local_identity: Vector
    peer_identity: Vector
    nonce_to_peer: bytes = field(repr=False)
    nonce_from_peer: bytes = field(repr=False)
    source: L64
    destination: L64
    peer_locators: PeerLocators
    used: float
    bears_nonce: bool = True
    # How often the peer was acknowledged or asked for a confirmation.
    tries: int = 1
    # Locators that were given up, and until when packets to them are still taken.
    leaving: dict[L64, float] = field(default_factory=dict)
    told: AdvertisedLocators = field(default_factory=AdvertisedLocators)
    heard: ReceivedLocators = field(default_factory=ReceivedLocators)


class Cache:
    """All sessions; no more than its capacity."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._count = 0
        self._of_host: dict[NID, dict[NID, Entry]] = {}

    def __len__(self) -> int:
        return self._count

    def of_host(self, nid: NID) -> list[Entry]:
        """Return the sessions of a host here."""
        return list(self._of_host.get(nid, {}).values())

    def named(self, names: Names) -> Entry | None:
        """Return the session between two identifiers."""
        return self._of_host.get(names.local, {}).get(names.peer)

    def find(self, names: Names, nonce: bytes) -> Entry | None:
        """Return the session that a packet with a nonce belongs to (section 5.4)."""
        entry = self.named(names)
        return entry if entry is not None and hmac.compare_digest(entry.nonce_from_peer, nonce) else None

    def put(self, entry: Entry) -> None:
        """Keep a session, in the place of the one between the same identifiers if there is one."""
        if self.named(entry.names) is None:
            if self._count >= self.capacity:
                raise ValueError(f"the cache holds {self.capacity} sessions already")
            self._count += 1
        self._of_host.setdefault(entry.names.local, {})[entry.names.peer] = entry

    def remove(self, names: Names) -> None:
        """Forget a session."""
        peers = self._of_host[names.local]
        del peers[names.peer]
        self._count -= 1
        if not peers:
            del self._of_host[names.local]
