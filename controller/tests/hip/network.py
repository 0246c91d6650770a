"""Two endpoints of HIP and what is on its way between them, on a virtual clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from hip.keys import ecdsa

from wayname.hip.association import Association, LocalHost, Names
from wayname.hip.endpoint import BEFORE_HIP, Endpoint
from wayname.hip.exchange import Policy
from wayname.hip.identities import Identity
from wayname.hip.messages import Kind, Message, decode
from wayname.hip.outputs import Event, Output, Send
from wayname.hip.settings import Settings
from wayname.shim6.context import Pair
from wayname.wire.ipv6 import Packet

A1, A2, A3, B1, B2, B3 = (IPv6Address(f"2001:db8:{number}::{host}") for host in ("a", "b") for number in (1, 2, 3))
ENDS = {A1: "A1", A2: "A2", A3: "A3", B1: "B1", B2: "B2", B3: "B3"}
ALICE, BOB = sorted((ecdsa(1), ecdsa(2)), key=lambda one: one.hit)
DELAY = 0.01
EASY = Settings(least_difficulty=1)


def anybody(*_: object) -> None:
    """Want everybody."""


@dataclass
class Side:
    """One endpoint, and what came out of it other than packets."""

    letter: str
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


class Network:
    """A at A1 and A2, B at B1 and B2; A has the smaller HIT unless the identities are given otherwise."""

    def __init__(
        self,
        settings: Settings = EASY,
        other: Settings | None = None,
        seed: int = 1,
        identities: tuple[Identity, Identity] = (ALICE, BOB),
        policies: tuple[Policy, Policy] = (anybody, anybody),
    ) -> None:
        self.now = 1000.0
        self.a = self._side("A", seed, identities[0], (A1,), settings, policies[0])
        self.b = self._side("B", seed + 1, identities[1], (B1,), other or settings, policies[1])
        self.under_way: list[tuple[float, Packet]] = []
        self.dead: set[IPv6Address] = set()

    def _side(
        self,
        letter: str,
        seed: int,
        identity: Identity,
        locators: tuple[IPv6Address, ...],
        settings: Settings,
        policy: Policy,
    ) -> Side:
        endpoint = Endpoint(random.Random(seed), settings, policy, first_counter=seed)
        endpoint.serve(LocalHost(identity, locators), self.now)
        return Side(letter, endpoint, identity, locators, settings, policy)

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
        side.endpoint = self._side(side.letter, seed, side.identity, side.locators, side.settings, side.policy).endpoint

    def move(self, side: Side, *locators: IPv6Address) -> None:
        """Let the host of a side be elsewhere."""
        side.locators = locators
        side.endpoint.serve(LocalHost(side.identity, locators), self.now)
        self.collect()

    def inject(self, packet: Packet) -> None:
        """Put a packet on its way."""
        self.under_way.append((self.now + DELAY, packet))

    def collect(self) -> None:
        """Put what was sent on its way."""
        for side in (self.a, self.b):
            for output in side.endpoint.take_outputs():
                if isinstance(output, Send):
                    self.inject(output.packet)
                else:
                    side.outputs.append(output)

    def step(self) -> str | None:
        """Deliver the next packet, or let the next timer run out; tell it as an arrow."""
        timers = [(at, side) for side in (self.a, self.b) if (at := side.endpoint.next_timer()) is not None]
        first = min(timers, key=lambda timer: timer[0], default=None)
        arrives = self.under_way[0][0] if self.under_way else None
        if arrives is not None and (first is None or arrives <= first[0]):
            at, packet = self.under_way.pop(0)
            self.now = max(self.now, at)
            if {packet.source, packet.destination} & self.dead:
                return arrow(packet).replace("->", "-x")
            if (receiver := self._receiver(packet)) is not None:
                receiver.endpoint.receive(packet, self.now)
                self.collect()
            return arrow(packet)
        if first is None:
            return None
        self.now, side = max(self.now, first[0]), first[1]
        side.endpoint.handle_timer(self.now)
        self.collect()
        return f"{side.letter} timer"

    def lose(self) -> str:
        """Lose the next packet; tell it as an arrow that goes nowhere."""
        return arrow(self.under_way.pop(0)[1]).replace("->", "-x")

    def drive(self, until: float = 5.0, each: Callable[[], None] = lambda: None) -> list[str]:
        """Go on for so many seconds; tell all that happened."""
        end = self.now + until
        arrows: list[str] = []
        while (at := self._next()) is not None and at <= end and (arrow := self.step()) is not None:
            arrows.append(arrow)
            each()
        self.now = end
        return [one for one in arrows if "timer" not in one]

    def _next(self) -> float | None:
        times = [side.endpoint.next_timer() for side in (self.a, self.b)] + [at for at, _ in self.under_way[:1]]
        return min((at for at in times if at is not None), default=None)

    def _receiver(self, packet: Packet) -> Side | None:
        known = {one: side for side, ends in ((self.a, (A1, A2, A3)), (self.b, (B1, B2, B3))) for one in ends}
        return known.get(packet.destination)


def message_of(packet: Packet) -> Message:
    """Return the message in a packet."""
    return decode(packet.upper_layer(BEFORE_HIP).data, packet.source, packet.destination)


def arrow(packet: Packet) -> str:
    """Tell a packet as `A1 --I1-> B1`."""
    data = packet.upper_layer(BEFORE_HIP).data
    source, destination = (ENDS.get(one, str(one)) for one in (packet.source, packet.destination))
    return f"{source} --{Kind(data[2]).name}-> {destination}"
