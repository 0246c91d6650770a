"""Locators of hosts here and of their peers: preference, lifetime, validity, and which one to use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from wayname.ilnp.locator_update import MOST_WORD, Listed
from wayname.ilnp.vectors import L64, NID, half_text, is_routable

# Packets came from a locator, or went there, not longer ago than this.
IN_USE_TIME = 60.0
# A path of a session has four bits in the tables.
MOST_LOCATORS = 16
LEAVING_LIFETIME = 30
LEAVING_PREFERENCE = MOST_WORD


class Validity(Enum):
    """What a locator of a peer is still good for (RFC 6741, section 5.1)."""

    VALID = auto()
    ACTIVE = auto()
    EXPIRED = auto()  # in use, but beyond its lifetime
    AGED = auto()  # neither


_UNEXPIRED = frozenset({Validity.VALID, Validity.ACTIVE})


@dataclass(slots=True)
class PeerLocator:
    """A locator that a peer told, or that the DNS did."""

    listed: Listed
    expires: float
    used: float | None = None

    def validity(self, now: float) -> Validity:
        """Return what it is good for."""
        in_use = self.used is not None and now - self.used < IN_USE_TIME
        if now < self.expires:
            return Validity.ACTIVE if in_use else Validity.VALID
        return Validity.EXPIRED if in_use else Validity.AGED


@dataclass(slots=True)
class PeerLocators:
    """All locators of a peer, the most preferred first."""

    known: dict[L64, PeerLocator] = field(default_factory=dict)

    @classmethod
    def of(cls, listed: Iterable[Listed], now: float, before: PeerLocators | None = None) -> PeerLocators:
        """Take a list; of a very long one the most preferred (RFC 6741, section 5.3). It replaces all known before."""
        first = sorted(listed, key=lambda one: one.preference)[:MOST_LOCATORS]
        known = {one.locator: PeerLocator(one, now + one.lifetime) for one in first}
        for locator, old in (before.known if before else {}).items():
            if locator in known:
                known[locator].used = old.used
        return cls(known)

    def __contains__(self, locator: L64) -> bool:
        return locator in self.known

    def use(self, locator: L64, now: float) -> None:
        """Take note of a packet from a locator or to it."""
        if locator in self.known:
            self.known[locator].used = now

    def best(self, now: float) -> L64:
        """Return where packets go: by preference, but one beyond its lifetime only if all are (section 5.2)."""
        validities = {locator: one.validity(now) for locator, one in self.known.items()}
        for wanted in (_UNEXPIRED, frozenset({Validity.EXPIRED})):
            for locator, validity in validities.items():
                if validity in wanted:
                    return locator
        return next(iter(self.known))

    def next_expiry(self, now: float) -> float | None:
        """Return when the next lifetime is over."""
        return min((one.expires for one in self.known.values() if one.expires > now), default=None)


@dataclass(frozen=True, slots=True)
class LocalLocator:
    """A locator of a host here; one that is leaving still works, but will be given up."""

    locator: L64
    preference: int = 10
    lifetime: int = 300
    draining: bool = False

    @property
    def listed(self) -> Listed:
        """How peers are told of it."""
        if self.draining:
            return Listed(self.locator, LEAVING_PREFERENCE, min(self.lifetime, LEAVING_LIFETIME))
        return Listed(self.locator, self.preference, self.lifetime)


@dataclass(frozen=True, slots=True)
class Host:
    """A host here: its identifier, and its locators."""

    nid: NID
    locators: tuple[LocalLocator, ...]
    # By which the host itself knows its address, if it knows nothing of the others.
    own: L64 | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.locators) <= MOST_LOCATORS:
            raise ValueError(f"host {half_text(self.nid)} has {len(self.locators)} locators: 1 to {MOST_LOCATORS}")
        if len({one.locator for one in self.locators}) < len(self.locators):
            raise ValueError(f"host {half_text(self.nid)} has a locator twice")
        for one in self.locators:
            if not is_routable(one.locator):
                raise ValueError(f"{half_text(one.locator)} is no locator that packets could go to")
            if not (0 <= one.preference <= MOST_WORD and 0 <= one.lifetime <= MOST_WORD):
                raise ValueError(f"{half_text(one.locator)}: preference and lifetime are 0 to {MOST_WORD}")

    def __contains__(self, locator: L64) -> bool:
        return any(one.locator == locator for one in self.locators)

    @property
    def listed(self) -> tuple[Listed, ...]:
        """All of them as peers are told, the most preferred first."""
        return tuple(sorted((one.listed for one in self.locators), key=lambda one: one.preference))

    @property
    def best(self) -> L64:
        """From where packets go, if nothing speaks against it."""
        return self.listed[0].locator


class HandOff(Enum):
    """How a session gets to another locator of its host (RFC 6740, section 6.2)."""

    NONE = auto()
    SOFT = auto()  # the old one works until the peer knows of the new one
    HARD = auto()  # the old one is gone


def hand_off(source: L64, host: Host) -> HandOff:
    """Decide how a session leaves the locator that its packets come from."""
    if source not in host:
        return HandOff.HARD
    return HandOff.NONE if source == host.best else HandOff.SOFT
