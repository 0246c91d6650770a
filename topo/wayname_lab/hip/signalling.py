"""What a HIP host asks of who agrees on security associations with its peers, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Protocol

from wayname.hip.esp.keys import Keys
from wayname.hip.esp.suites import Suite
from wayname.session.keys import Pair
from wayname.wire.ipv6 import Packet


@dataclass(frozen=True, slots=True)
class Agreed:
    """What packets to and from a peer need. With the same SPIs as before only the locators are others."""

    peer: IPv6Address
    suite: Suite
    spi: int
    peer_spi: int
    outgoing: Keys
    incoming: Keys
    pairs: tuple[Pair, ...]  # of locators; the first one is used


@dataclass(frozen=True, slots=True)
class Ended:
    """There is nothing agreed with a peer any more, or nothing came of it."""

    peer: IPv6Address


@dataclass(frozen=True, slots=True)
class Say:
    """A packet for a peer, in the clear: it proves itself."""

    packet: Packet


@dataclass(frozen=True, slots=True)
class Note:
    """Something that somebody may want to know."""

    text: str


Said = Agreed | Ended | Say | Note


class Signalling(Protocol):
    """Agrees with peers, and is asked by the host; times in nanoseconds."""

    def want(self, peer: IPv6Address, now: int) -> bool:
        """A packet waits for an association with this peer; return whether there may be one."""

    def receive(self, packet: Packet, now: int) -> None:
        """Take a HIP packet."""

    def heard(self, peer: IPv6Address, octets: int, now: int) -> None:
        """Data of a peer came."""

    def rekey(self, peer: IPv6Address, now: int) -> None:
        """The keys were used for long enough."""

    def leave(self, left: Pair, now_used: Pair, now: int) -> None:
        """Nothing comes back that is sent between these locators; others are used now."""

    def take(self) -> list[Said]:
        """Return what came of it since the last call."""

    def next_timer(self) -> int | None:
        """Return when to call `handle_timer`."""

    def handle_timer(self, now: int) -> None:
        """Do what is due."""
