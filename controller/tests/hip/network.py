"""Two endpoints of HIP and what is on its way between them, on a virtual clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address

from hip.keys import ecdsa
from two_sides import TwoSides

from wayname.hip.association import Association, LocalHost, Names
from wayname.hip.endpoint import BEFORE_HIP, Endpoint
from wayname.hip.exchange import Policy
from wayname.hip.identities import Identity
from wayname.hip.messages import Kind, Message, decode, with_checksum
from wayname.hip.outputs import Event, Output
from wayname.hip.parameters import HipMac, HipMac2, HipSignature, Parameter
from wayname.hip.proofs import seal
from wayname.hip.settings import Settings
from wayname.session.keys import Pair
from wayname.wire.ipv6 import HIP, ICMPV6, Packet

A1, A2, A3, B1, B2, B3 = (IPv6Address(f"2001:db8:{number}::{host}") for host in ("a", "b") for number in (1, 2, 3))
ENDS = {A1: "A1", A2: "A2", A3: "A3", B1: "B1", B2: "B2", B3: "B3"}
ALICE, BOB = sorted((ecdsa(1), ecdsa(2)), key=lambda one: one.hit)
EASY = Settings(least_difficulty=1)


def anybody(*_: object) -> None:
    """Want everybody."""


@dataclass
class Side:
    """One endpoint, and what came out of it other than packets."""

    endpoint: Endpoint
    identity: Identity
    locators: tuple[IPv6Address, ...]
    settings: Settings
    policy: Policy
    outputs: list[Output] = field(default_factory=list)

    def take(self) -> list[Output]:
        """Return what came out since the last call, but for events."""
        outputs: list[Output] = [one for one in self.outputs if not isinstance(one, Event)]
        self.outputs = [one for one in self.outputs if isinstance(one, Event)]
        return outputs

    def events(self) -> list[str]:
        """Return the events since the last call."""
        events = [one.text for one in self.outputs if isinstance(one, Event)]
        self.outputs = [one for one in self.outputs if not isinstance(one, Event)]
        return events


class Network(TwoSides[Side]):
    """A at A1 and A2, B at B1 and B2; A has the smaller HIT unless the identities are given otherwise."""

    def __init__(
        self,
        settings: Settings = EASY,
        other: Settings | None = None,
        seed: int = 1,
        identities: tuple[Identity, Identity] = (ALICE, BOB),
        policies: tuple[Policy, Policy] = (anybody, anybody),
    ) -> None:
        super().__init__()
        self.a = self._side(seed, identities[0], (A1,), settings, policies[0])
        self.b = self._side(seed + 1, identities[1], (B1,), other or settings, policies[1])
        self.dead: set[IPv6Address] = set()

    def _side(
        self,
        seed: int,
        identity: Identity,
        locators: tuple[IPv6Address, ...],
        settings: Settings,
        policy: Policy,
    ) -> Side:
        endpoint = Endpoint(random.Random(seed), settings, policy, first_counter=seed)
        endpoint.serve(LocalHost(identity, locators), self.now)
        return Side(endpoint, identity, locators, settings, policy)

    @property
    def names(self) -> Names:
        """The association as A sees it."""
        return Names(self.a.identity.hit, self.b.identity.hit)

    def association(self, side: Side) -> Association:
        """Return what a side knows of the association."""
        names = self.names if side is self.a else Names(*reversed(self.names))
        association = side.endpoint.associations.named(names)
        assert association is not None
        return association

    def connect(self, side: Side) -> None:
        """Let a side ask for an association."""
        names, pair = (self.names, Pair(A1, B1)) if side is self.a else (Names(*reversed(self.names)), Pair(B1, A1))
        side.endpoint.connect(names, pair, self.now)
        self.collect()

    def established(self) -> Network:
        """Set up the association, and forget what came out."""
        self.connect(self.a)
        self.drive(40.0)
        assert self.association(self.a).state is self.association(self.b).state
        for side in (self.a, self.b):
            side.take()
            side.events()
        return self

    def restart(self, side: Side, seed: int = 99) -> None:
        """Let a side forget everything."""
        side.endpoint = self._side(seed, side.identity, side.locators, side.settings, side.policy).endpoint

    def move(self, side: Side, *locators: IPv6Address) -> None:
        """Let the host of a side be elsewhere."""
        side.locators = locators
        side.endpoint.serve(LocalHost(side.identity, locators), self.now)
        self.collect()

    def deliver(self, packet: Packet) -> str:
        """Let a packet arrive now, where somebody is."""
        if {packet.source, packet.destination} & self.dead:
            return arrow(packet).replace("->", "-x")
        if packet.next_header == HIP and (receiver := self._receiver(packet)) is not None:
            receiver.endpoint.receive(packet, self.now)
            self.collect()
        return arrow(packet)

    def arrow(self, packet: Packet) -> str:
        """Tell a packet as `A1 --I1-> B1`."""
        return arrow(packet)

    def drive(self, until: float = 5.0, each: Callable[[], None] = lambda: None) -> list[str]:
        """Go on for so many seconds; tell all that happened."""
        end = self.now + until
        arrows: list[str] = []
        while (arrow := self.step(end)) is not None:
            arrows.append(arrow)
            each()
        self.now = end
        return [one for one in arrows if "timer" not in one]

    def _receiver(self, packet: Packet) -> Side | None:
        known = {one: side for side, ends in ((self.a, (A1, A2, A3)), (self.b, (B1, B2, B3))) for one in ends}
        return known.get(packet.destination)


def message_of(packet: Packet) -> Message:
    """Return the message in a packet."""
    return decode(packet.upper_layer(BEFORE_HIP).data, packet.source, packet.destination)


def resealed(
    network: Network, side: Side, packet: Packet, *parameters: Parameter, without: tuple[type, ...] = ()
) -> Packet:
    """Return what a side sent, with other parameters in the place of those of their kinds, sealed by its keys again."""
    message, secured = message_of(packet), network.association(side).secured
    assert secured is not None
    gone = (HipMac, HipMac2, HipSignature, *without, *(type(one) for one in parameters))
    kept = [one for one in message.parameters if type(one) not in gone]
    octets = seal(
        replace(message, parameters=(*kept, *parameters)), side.identity, secured.outgoing.integrity, secured.rhash
    )
    return replace(packet, payload=with_checksum(octets, packet.source, packet.destination))


def arrow(packet: Packet) -> str:
    """Tell a packet as `A1 --I1-> B1`, an ICMPv6 error as `A1 --ICMP-> B1`."""
    data = packet.upper_layer(BEFORE_HIP).data
    source, destination = (ENDS.get(one, str(one)) for one in (packet.source, packet.destination))
    return f"{source} --{'ICMP' if packet.next_header == ICMPV6 else Kind(data[2]).name}-> {destination}"
