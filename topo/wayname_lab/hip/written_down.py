"""Security associations that were written down beforehand, without an exchange: the same keys in each run, for labs."""

import random
from collections.abc import Mapping, Sequence
from ipaddress import IPv6Address

from wayname.hip.esp.keys import draw_keys
from wayname.hip.esp.suites import Suite
from wayname.shim6.context import Pair
from wayname.wire.ipv6 import Packet
from wayname_lab.hip.signalling import Agreed, Said


class WrittenDown:
    """What a host has with each of its peers: keys and SPIs follow from the HITs."""

    def __init__(
        self,
        hit: IPv6Address,
        locators: Sequence[IPv6Address],
        peers: Mapping[IPv6Address, Sequence[IPv6Address]],
        suite: Suite,
    ) -> None:
        self._said: list[Said] = [_agreed(hit, locators, peer, theirs, suite) for peer, theirs in peers.items()]

    def want(self, peer: IPv6Address, now: int) -> None:
        """Whoever is not written down is not reached."""

    def receive(self, packet: Packet, now: int) -> None:
        """Nobody is answered."""

    def heard(self, peer: IPv6Address, octets: int, now: int) -> None:
        """Nothing depends on it."""

    def leave(self, pair: Pair, now: int) -> None:
        """The peers know all locators."""

    def take(self) -> list[Said]:
        """Return all there is, once."""
        said, self._said = self._said, []
        return said

    def next_timer(self) -> int | None:
        """Nothing is ever due."""
        return None

    def handle_timer(self, now: int) -> None:
        """Nothing is due."""


def _agreed(
    hit: IPv6Address,
    locators: Sequence[IPv6Address],
    peer: IPv6Address,
    theirs: Sequence[IPv6Address],
    suite: Suite,
) -> Agreed:
    material = random.Random(f"{min(hit, peer)} {max(hit, peer)}")
    outgoing, incoming = draw_keys(material.randbytes, suite, hit, peer)
    greater, lesser = material.getrandbits(31) | 1 << 31, material.getrandbits(31) | 1 << 31
    spi, peer_spi = (greater, lesser) if hit > peer else (lesser, greater)
    return Agreed(peer, suite, spi, peer_spi, outgoing, incoming, pairs_of(locators, theirs))


def pairs_of(locators: Sequence[IPv6Address], theirs: Sequence[IPv6Address]) -> tuple[Pair, ...]:
    """Return every pair of locators, those first that are at one place in both lists."""
    straight = [Pair(*pair) for pair in zip(locators, theirs, strict=False)]
    return (*straight, *(pair for one in locators for other in theirs if (pair := Pair(one, other)) not in straight))
