"""Where a peer is (RFC 8046, sections 5.1 to 5.6): what is told is unverified until the peer answers from there.

Packets go to unverified locators only as far as the peer's own packets have earned it, so nobody can have somebody else
flooded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import IPv6Address

from wayname.hip.errors import MessageError, NotifyType
from wayname.hip.locator_set import FOR_EVER, Locator, LocatorSet, TrafficType
from wayname.identity.hits import HITS

MOST_LOCATORS = 16
CREDIT_AGING_FACTOR = 7 / 8
CREDIT_AGING_INTERVAL = 5.0


class Status(Enum):
    """What is known of a locator."""

    UNVERIFIED = "unverified"
    ACTIVE = "active"
    DEPRECATED = "deprecated"


@dataclass(slots=True)
class PeerLocator:
    """A locator of the peer."""

    address: IPv6Address
    status: Status
    expires: float | None = None
    preferred: bool = False
    nonce: bytes = field(default=b"", repr=False)
    traffic: int = TrafficType.BOTH

    def status_at(self, now: float) -> Status:
        """Return what is known of it; beyond its lifetime it is deprecated."""
        return Status.DEPRECATED if self.expires is not None and self.expires <= now else self.status


@dataclass(slots=True)
class PeerLocators:
    """All locators of a peer, and its credit."""

    current: IPv6Address
    known: dict[IPv6Address, PeerLocator] = field(default_factory=dict)
    _credit: float = 0.0
    _aged: float = 0.0

    def __post_init__(self) -> None:
        self.known[self.current] = PeerLocator(self.current, Status.ACTIVE, preferred=True)

    def take(self, told: LocatorSet, now: float) -> list[IPv6Address]:
        """Take a set in the place of the one before; return what is to be verified, the preferred one first."""
        check_locators(told)
        listed = _listed(told)
        for old in self.known.values():
            old.status, old.preferred = (
                Status.DEPRECATED if old.address not in _addresses(listed) else old.status,
                False,
            )
        for one in listed:
            locator = self.known.setdefault(one.address, PeerLocator(one.address, Status.UNVERIFIED))
            if locator.status_at(now) is Status.DEPRECATED:
                locator.status = Status.UNVERIFIED
            locator.expires = None if one.lifetime == FOR_EVER else now + one.lifetime
            locator.preferred, locator.traffic = one.preferred, one.traffic
        # What is gone and was replaced is of no use any more; the one in use stays until another is verified.
        for address in [one.address for one in self.known.values() if one.status is Status.DEPRECATED]:
            if address != self.current:
                del self.known[address]
        unverified = [one for one in self.known.values() if one.status is Status.UNVERIFIED]
        return [one.address for one in sorted(unverified, key=lambda one: not one.preferred)]

    def deprecate_all(self) -> None:
        """The peer gave up the security association that its locators are of (RFC 8046, section 5.3)."""
        for one in self.known.values():
            one.status = Status.DEPRECATED

    def next_end(self) -> float | None:
        """Return when the next lifetime is over; what is over already does not count."""
        ends = (one.expires for one in self.known.values() if one.status is not Status.DEPRECATED)
        return min((one for one in ends if one is not None), default=None)

    def end_outlived(self, now: float) -> None:
        """Deprecate what is beyond its lifetime."""
        for one in self.known.values():
            one.status = one.status_at(now)

    def verified(self, nonce: bytes) -> IPv6Address | None:
        """The peer sent back what was sent to one of its locators: return which."""
        for one in self.known.values():
            if one.nonce and one.nonce == nonce:
                one.nonce = b""
                if one.status is Status.UNVERIFIED:
                    one.status = Status.ACTIVE
                return one.address
        return None

    def choose(self, now: float) -> bool:
        """Go to the best locator that is verified; tell whether it is another one."""
        best = min(self.active(now), key=self._rank, default=None)
        if best is None or best.address == self.current:
            return False
        old, self.current = self.current, best.address
        if self.known[old].status_at(now) is Status.DEPRECATED:
            del self.known[old]
        return True

    def active(self, now: float) -> Iterator[PeerLocator]:
        """Yield the locators that data may go to."""
        return (one for one in self._for_data() if one.status_at(now) is Status.ACTIVE)

    def earn(self, octets: int, now: float) -> None:
        """The peer sent a packet."""
        self._age(now)
        self._credit += octets

    def destination(self, octets: int, now: float) -> IPv6Address | None:
        """Return where a packet goes; None if it must wait until a locator is verified."""
        self._age(now)
        active = sorted(self.active(now), key=lambda one: (one.address != self.current, not one.preferred))
        if active:
            return active[0].address
        unverified = [one for one in self._for_data() if one.status_at(now) is Status.UNVERIFIED]
        if not unverified or self._credit < octets:
            return None
        self._credit -= octets
        return min(unverified, key=lambda one: not one.preferred).address

    def _for_data(self) -> Iterator[PeerLocator]:
        return (one for one in self.known.values() if one.traffic != TrafficType.SIGNALLING)

    def _rank(self, one: PeerLocator) -> tuple[bool, bool, bool]:
        """A preference for data counts more than one for all (RFC 8046, section 4.1)."""
        return not one.preferred, one.preferred and one.traffic != TrafficType.DATA, one.address != self.current

    def _age(self, now: float) -> None:
        intervals = int((now - self._aged) // CREDIT_AGING_INTERVAL)
        if intervals > 0:
            self._credit *= CREDIT_AGING_FACTOR**intervals
            self._aged += intervals * CREDIT_AGING_INTERVAL


def check_locators(told: LocatorSet) -> None:
    """Raise MessageError if a set has what can be no locator."""
    for one in _listed(told):
        if not is_host(one.address):
            raise MessageError(f"{one.address} is no locator of a host", NotifyType.INVALID_SYNTAX)


def is_host(address: IPv6Address) -> bool:
    """Tell whether packets can go to an address by a router; tags look like addresses, and are none (RFC 7343)."""
    return not (
        address in HITS
        or address.is_multicast
        or address.is_unspecified
        or address.is_loopback
        or address.is_link_local
    )


def _listed(told: LocatorSet) -> list[Locator]:
    return [one for one in told.locators if isinstance(one, Locator)][:MOST_LOCATORS]


def _addresses(listed: list[Locator]) -> set[IPv6Address]:
    return {one.address for one in listed}
