"""Two endpoints of Shim6 and what is on its way between them, on a virtual clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from two_sides import TwoSides

from wayname.session.keys import SessionKey
from wayname.shim6.context import KnownPeer, LocalHost, option_of
from wayname.shim6.endpoint import Endpoint
from wayname.shim6.outputs import Output
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import MessageType
from wayname.wire.shim6.options import Locator, LocatorList, Option
from wayname.wire.shim6.payload import BEFORE_SHIM6

A1, A2, A3, B1, B2, B3 = (IPv6Address(f"2001:db8:{number}::{host}") for host in ("a", "b") for number in (1, 2, 3))
A = SessionKey(A1, B1)
B = SessionKey(B1, A1)
NAMES = {number: number.name.replace("BIS", "bis") for number in MessageType}


def trusting(ulid: IPv6Address, options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
    """Believe every list of locators without any proof."""
    listed = option_of(options, LocatorList)
    return KnownPeer(frozenset(one.address for one in listed.locators), listed) if listed else known


# What options prove of an identity's locators, added to what is known of them.
Prove = Callable[[IPv6Address, tuple[Option, ...], KnownPeer], KnownPeer]


def host(*locators: IPv6Address, ulid: IPv6Address | None = None, generation: int = 1) -> LocalHost:
    """Return a host with all its locators, the first of them its identity."""
    return LocalHost(ulid or locators[0], (LocatorList(generation, tuple(Locator(one, 1) for one in locators)),))


@dataclass
class Side:
    """One endpoint, and what came out of it other than packets."""

    endpoint: Endpoint
    host: LocalHost
    outputs: list[Output] = field(default_factory=list)

    def take(self) -> list[Output]:
        """Return what came out since the last call."""
        outputs, self.outputs = self.outputs, []
        return outputs


class Network(TwoSides[Side]):
    """A with A1 and A2, B with B1 and B2; packets arrive in order unless something is done to them."""

    def __init__(
        self,
        seed: int = 1,
        learn: Prove = trusting,
        hosts: tuple[LocalHost, LocalHost] = (host(A1, A2), host(B1, B2)),
    ) -> None:
        super().__init__()
        self._learn = learn
        self.a, self.b = self._side(seed, hosts[0]), self._side(seed + 1, hosts[1])

    def _side(self, seed: int, served: LocalHost) -> Side:
        endpoint = Endpoint(random.Random(seed), lambda name, *told: self._learn(name.peer, *told))
        endpoint.serve(served, self.now)
        return Side(endpoint, served)

    def establish(self, side: Side, name: SessionKey) -> None:
        """Let a side set up a context."""
        side.endpoint.establish(name, self.now)
        self.collect()

    def restart(self, side: Side, seed: int = 99) -> None:
        """Let a side forget everything."""
        side.endpoint = self._side(seed, side.host).endpoint

    def move(self, side: Side, served: LocalHost) -> None:
        """Give the host of a side other locators."""
        side.host = served
        side.endpoint.serve(served, self.now)
        self.collect()

    def deliver(self, packet: Packet) -> str:
        """Let a packet arrive now."""
        side = self.a if packet.destination in self.a.host.locators | {A1, A2, A3} else self.b
        side.endpoint.receive(packet, self.now)
        self.collect()
        return arrow(packet)

    def arrow(self, packet: Packet) -> str:
        """Tell a packet as `A1 --I1-> B1`."""
        return arrow(packet)

    def swap(self) -> None:
        """Let the second packet on its way arrive before the first."""
        self.under_way[:2] = reversed(self.under_way[:2])

    def drive(self, until: float = 3600.0, each: Callable[[], None] = lambda: None) -> list[str]:
        """Go on until nothing happens any more, or for so many seconds; tell all that happened."""
        end = self.now + until
        arrows = []
        while self.now < end and (arrow := self.step()) is not None:
            arrows.append(arrow)
            each()
        return arrows


def arrow(packet: Packet) -> str:
    """Tell a packet as `A1 --I1-> B1`."""
    data = packet.upper_layer(BEFORE_SHIM6).data
    kind = "payload" if data[2] & 0x80 else NAMES[MessageType(data[2])]
    ends = {A1: "A1", A2: "A2", A3: "A3", B1: "B1", B2: "B2", B3: "B3"}
    source, destination = (ends.get(one, str(one)) for one in (packet.source, packet.destination))
    return f"{source} --{kind}-> {destination}"
