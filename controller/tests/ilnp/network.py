"""Two edges that speak ILNP and what is on its way between them, on a virtual clock."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from two_sides import DELAY, TwoSides

from wayname.ilnp.cache import Entry, Names
from wayname.ilnp.endpoint import Endpoint
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.locators import Host, LocalLocator
from wayname.ilnp.nonce import with_nonce
from wayname.ilnp.outputs import Accepted, Event, Gone, Kind, Output, Up
from wayname.ilnp.policies import AdmissionPolicy
from wayname.ilnp.settings import Settings
from wayname.ilnp.states import Segment
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.wire.icmpv6 import Message
from wayname.wire.ipv6 import UDP, Packet

A_NID, B_NID, M_NID = NID(0x0000_00FF_FE00_000A), NID(0x0000_00FF_FE00_000B), NID(0x0000_00FF_FE00_0666)
# Providers of A, of B, and of somebody who is neither.
A1, A2, A3 = (L64(0x2001_0DB8_00A0_0000 + number) for number in (1, 2, 3))
B1, B2, B3 = (L64(0x2001_0DB8_00B0_0000 + number) for number in (1, 2, 3))
M1 = L64(0x2001_0DB8_0666_0001)
A, B = Names(A_NID, B_NID), Names(B_NID, A_NID)
AT = {A1: "A1", A2: "A2", A3: "A3", B1: "B1", B2: "B2", B3: "B3", M1: "M1"}
HERE, THERE = Vector(A1, A_NID), Vector(B1, B_NID)
OPENED = (Segment.SYN, Segment.SYN_ACK, Segment.ACK)


class Never:
    """A policy that grants nothing."""

    def refusal(self, wish: object, now: float) -> str:
        return "not today"

    def granted(self, wish: object, now: float) -> None:
        raise AssertionError("granted what was refused")


def host(nid: NID, *locators: L64 | LocalLocator) -> Host:
    """Return a host with locators, the first of them the most preferred."""
    return Host(
        nid,
        tuple(
            one if isinstance(one, LocalLocator) else LocalLocator(one, 10 + at, 300) for at, one in enumerate(locators)
        ),
    )


def listed(*locators: L64, lifetime: int = 300) -> tuple[Listed, ...]:
    """Return locators as the DNS tells them."""
    return tuple(Listed(locator, 10 + at, lifetime) for at, locator in enumerate(locators))


def data(source: Vector, destination: Vector, nonce: bytes | None = None) -> Packet:
    """Return a datagram, whatever is in it."""
    packet = Packet(source.address, destination.address, UDP, bytes(8))
    return packet if nonce is None else with_nonce(packet, nonce)


def handshake(source: Vector, destination: Vector, message: Handshake, nonce: bytes | None = None) -> Packet:
    """Return a message of the handshake as anybody could send it."""
    packet = Message(SESSION_REQUEST, 0, message.encode()).packet(source.address, destination.address)
    return with_nonce(packet, message.source_nonce if nonce is None else nonce)


def update(
    source: Vector,
    destination: Vector,
    told: Sequence[Listed],
    nonce: bytes | None,
    operation: Operation = Operation.ADVERTISEMENT,
) -> Packet:
    """Return a Locator Update as anybody could send it."""
    message = Message(LOCATOR_UPDATE, 0, LocatorUpdate(operation, tuple(told)).encode())
    packet = message.packet(source.address, destination.address)
    return packet if nonce is None else with_nonce(packet, nonce)


@dataclass
class Side:
    """One edge, the locators that work, and what came out of it other than packets."""

    endpoint: Endpoint
    names: Names
    works: set[L64]
    outputs: list[Output] = field(default_factory=list)

    def take(self) -> list[Output]:
        """Return what came out since the last call."""
        outputs, self.outputs = self.outputs, []
        return outputs

    def entry(self) -> Entry:
        """Return the session with the other side."""
        entry = self.endpoint.cache.named(self.names)
        assert entry is not None
        return entry

    def events(self, kind: Kind) -> list[str]:
        """Return what was said of a kind of thing."""
        return [one.words for one in self.outputs if isinstance(one, Event) and one.kind is kind]

    def accepted(self) -> int:
        """Return how many packets went to the host."""
        return sum(isinstance(one, Accepted) for one in self.outputs)


class Network(TwoSides[Side]):
    """A and B, each with two providers; packets arrive in order unless something is done to them."""

    def __init__(
        self,
        seed: int = 1,
        settings: Settings | None = None,
        policies: Sequence[AdmissionPolicy] = (),
        hosts: tuple[Host, Host] | None = None,
    ) -> None:
        super().__init__()
        self.seed = seed
        hosts = hosts or (host(A_NID, A1), host(B_NID, B1))
        self.a = self._side(A, seed, hosts[0], settings)
        self.b = self._side(B, seed + 1_000_000, hosts[1], settings, policies)
        self.seen: list[Packet] = []
        # With chances: that a packet is lost, that it comes twice, and for how long it may be late.
        self.loss = self.duplication = self.lateness = 0.0
        self._lot = random.Random(seed + 2_000_000)

    def _side(
        self, names: Names, seed: int, served: Host, settings: Settings | None, policies: Sequence[AdmissionPolicy] = ()
    ) -> Side:
        endpoint = Endpoint(random.Random(seed), self.now, settings, policies)
        endpoint.serve(served, self.now)
        return Side(endpoint, names, {one.locator for one in served.locators})

    def restart(self, side: Side, served: Host, seed: int = 99) -> None:
        """Let a side forget everything."""
        side.endpoint = self._side(side.names, seed, served, None).endpoint

    def connect(self, side: Side, told: Sequence[Listed] = ()) -> None:
        """Let a side ask for a session, at the first locators of both."""
        ends = [Vector(A1, A_NID), Vector(B1, B_NID)]
        local, peer = ends if side is self.a else reversed(ends)
        side.endpoint.connect(local, peer, self.now, told)
        self.collect()

    def establish(self) -> None:
        """Let a session stand, confirmed both ways."""
        self.connect(self.a)
        self.run(0.1)
        self.say(self.b)
        self.run(0.1)
        for side in (self.a, self.b):
            side.take()

    def say(self, side: Side, locator: L64 | None = None) -> None:
        """Let a side send a datagram of the session."""
        entry = side.entry()
        source = Vector(locator or entry.source, side.names.local)
        nonce = entry.nonce_to_peer if entry.bears_nonce else None
        self.inject(data(source, Vector(entry.destination, side.names.peer), nonce))

    def move(self, side: Side, served: Host) -> None:
        """Give the host of a side other locators; those that are not among them work no more."""
        side.works = {one.locator for one in served.locators}
        side.endpoint.serve(served, self.now)
        self.collect()

    def inject(self, packet: Packet) -> None:
        """Put a packet on its way, if it can leave from where it says."""
        self.seen.append(packet)
        source = Vector.of(packet.source)
        if any(source.nid == side.names.local and source.locator not in side.works for side in (self.a, self.b)):
            return
        if self._lot.random() < self.loss:
            return
        for _ in range(2 if self._lot.random() < self.duplication else 1):
            self.under_way.append((self.now + DELAY + self._lot.random() * self.lateness, packet))
        self.under_way.sort(key=lambda one: one[0])

    def expire(self, side: Side) -> str:
        """Let the next timer of a side run out; it does not matter whose it was."""
        super().expire(side)
        return "timer"

    def arrow(self, packet: Packet) -> str:
        """Tell a packet as `A1 --REQUEST-> B1`."""
        return arrow(packet)

    def deliver(self, packet: Packet) -> str:
        """Let a packet arrive now, where its destination works."""
        destination = Vector.of(packet.destination)
        for side in (self.a, self.b):
            if destination.nid == side.names.local and destination.locator in side.works:
                side.endpoint.receive(packet, self.now)
        self.collect()
        return arrow(packet)

    def run(self, seconds: float) -> list[str]:
        """Let so much time pass; tell all that happened."""
        end = self.now + seconds
        arrows = []
        while (told := self.step(end)) is not None:
            arrows.append(told)
        self.now = end
        return arrows

    def agree(self) -> bool:
        """Whether both have the session, with each other's nonces."""
        a, b = self.a.endpoint.cache.named(A), self.b.endpoint.cache.named(B)
        return a is not None and b is not None and crossed(a) == (b.nonce_from_peer, b.nonce_to_peer)


def crossed(entry: Entry) -> tuple[bytes, bytes]:
    """Return the nonces of a session, ours first."""
    return entry.nonce_to_peer, entry.nonce_from_peer


def ups(side: Side) -> int:
    """Return how often a session came to stand."""
    return sum(isinstance(one, Up) for one in side.outputs)


def gones(side: Side) -> list[str]:
    """Return why sessions are over."""
    return [one.why for one in side.outputs if isinstance(one, Gone)]


def arrow(packet: Packet) -> str:
    """Tell a packet as `A1 --REQUEST-> B1`."""
    upper = packet.upper_layer()
    kind = "data"
    if upper.number == 58 and upper.data[0] == SESSION_REQUEST:
        message = Handshake.decode(upper.data[1], upper.data[4:])
        kind = message.control.name
        if message.control is Control.REQUEST and message.destination_nonce is not None:
            kind = "QUESTION"
    elif upper.number == 58 and upper.data[0] == LOCATOR_UPDATE:
        kind = LocatorUpdate.decode(upper.data[1], upper.data[4:]).operation.name
    return f"{_place(packet.source)} --{kind}-> {_place(packet.destination)}"


def _place(address: IPv6Address) -> str:
    vector = Vector.of(address)
    return AT.get(vector.locator, str(address))
