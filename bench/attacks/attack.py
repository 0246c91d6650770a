"""What an attack is, and the conditions that are drawn for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address

from bench.attacks.frames import framed
from bench.attacks.site import FIRST_LINK, FORGED, LAN, MALLORY, PROVIDER_MACS, A
from wayname.wire.ipv6 import Packet

SLOWEST, FASTEST = 2_000, 20_000
# How many prefixes (/48) forged sources come from.
PREFIXES = (1, 16, 4096)
# When a flood begins at the latest, in seconds of its window: not always at the same moment of what else goes on.
LATEST = 0.1
# How long a flood lasts beside others of its kind.
SHORTEST, LONGEST = 0.7, 1.3
# Different frames of a flood; then they come again.
FRAMES = 4096


class Group(StrEnum):
    """Where an attack comes from."""

    OFF_PATH = "off-path, unauthenticated messages"
    ON_LINK = "on a link of the edge"
    LAN = "a LAN host's tricks"
    SLOTS = "slots of the data plane"
    LOCAL = "local users"


@dataclass(slots=True)
class Draw:
    """What is drawn for one run of an attack."""

    rng: random.Random
    rate: float  # packets a second
    prefixes: int
    offset: float  # seconds from the beginning of the window until the flood begins
    length: float  # how many times as long as usual the flood lasts

    @classmethod
    def of(cls, rng: random.Random, slowest: float = SLOWEST, fastest: float = FASTEST) -> Draw:
        """Draw it; rates are spread evenly over their orders of magnitude."""
        rate = slowest * (fastest / slowest) ** rng.random()
        return cls(rng, rate, rng.choice(PREFIXES), rng.uniform(0, LATEST), rng.uniform(SHORTEST, LONGEST))

    def forged(self) -> IPv6Address:
        """Return a source that is nobody's."""
        prefix = self.rng.randrange(self.prefixes) << 80
        return IPv6Address(int(FORGED.network_address) | prefix | self.rng.getrandbits(63) | 1)

    def times(self, make: Callable[[], bytes], count: int = FRAMES) -> list[bytes]:
        """Return so many frames."""
        return [make() for _ in range(count)]


Make = Callable[[Draw], Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Attack:
    """A flood of frames from a wire."""

    name: str
    about: str
    group: Group
    wire: str
    make: Make
    slowest: float = SLOWEST
    fastest: float = FASTEST
    # Whether each frame is a message that the controller has to read: its processor time is bounded.
    is_message: bool = False
    # How many times as long as others it takes to fill what it attacks.
    lasts: int = 1
    # What others want meanwhile that it is to keep them from, and what is counted beside admissions.
    against: str = ""


def from_provider(packet: Packet) -> bytes:
    """Return the frame of a packet that comes to the edge by its first provider."""
    return framed(packet, A.router_mac(FIRST_LINK), PROVIDER_MACS["p"])


def from_lan(packet: Packet) -> bytes:
    """Return the frame of a packet to the router from the attacker on the LAN."""
    return framed(packet, A.router_mac(LAN), MALLORY)
