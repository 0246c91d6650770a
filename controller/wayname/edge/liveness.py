"""Whether next hops live.

Every `probe` seconds each is sent an echo request of the router to itself: the neighbour's forwarding returns it,
whether or not its control plane is there. Where that cannot be (no global address on the link, or the MAC is not known)
or stayed without an answer, it is solicited as well, and twice as often. Three probes without any answer: down. In a
turn that comes late nothing is counted: the answers may be there, and nobody has looked at them. The switch knows
probes that come back by their marks and meters them apart, so that no flood keeps them from coming.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import finsy as fy

from wayname.config.model import Config, LinkAddress
from wayname.edge.boundary import Severity
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.neighbours import Neighbours
from wayname.edge.outputs import Outputs
from wayname.edge.routes import Routes
from wayname.pipeline.entries import Entity
from wayname.pipeline.punts import own_probe
from wayname.timers import Timers
from wayname.wire import icmpv6
from wayname.wire.discovery import NeighbourAdvertisement
from wayname.wire.mac import Mac

MOST_MISSES = 3
# Of the time between probes.
LATE = 0.25
MARK_OCTETS = 8


class NextHopHealth(StrEnum):
    """What is known of a next hop; one that was never heard of is used until it fails."""

    UNKNOWN = "unknown"
    UP = "up"
    DOWN = "down"


@dataclass(slots=True)
class _Watched:
    health: NextHopHealth = NextHopHealth.UNKNOWN
    misses: int = 0
    asked: bool = False
    # Where it was last: what the switch forwards by may be gone when the line comes back.
    mac: Mac | None = None
    port: int | None = None


class Liveness:
    """Probes next hops, and tells `routes`, `neighbours` and whoever wants to know which ones are down."""

    def __init__(
        self,
        config: Config,
        routes: Routes,
        neighbours: Neighbours,
        links: Links,
        outputs: Outputs,
        rng: random.Random,
        on_change: Callable[[float], None],
    ) -> None:
        self._config = config
        self._routes = routes
        self._neighbours = neighbours
        self._links = links
        self._outputs = outputs
        self._rng = rng
        self._on_change = on_change
        # Each next hop has a mark of its own: one that sees its own cannot answer for another.
        self._marks = {hop: rng.randbytes(MARK_OCTETS) for hop in routes.next_hops}
        self._by_mark = {mark: hop for hop, mark in self._marks.items()}
        for hop in self._marks:
            outputs.desired.put(self._own_probe(hop))
        self._timers: Timers[LinkAddress] = Timers()
        self._watched = {hop: _Watched() for hop in routes.next_hops}

    def health(self, hop: LinkAddress) -> NextHopHealth:
        """Return what is known of a next hop."""
        return self._watched[hop].health

    def follow(self, now: float) -> None:
        """Watch the next hops that are there now, and no others."""
        for hop in [hop for hop in self._watched if hop not in self._routes.next_hops]:
            self._timers.cancel(hop)
            mark = self._marks.pop(hop)
            self._outputs.desired.remove(own_probe(hop.vlan, mark, 0))
            del self._by_mark[mark], self._watched[hop]
            self._neighbours.unwatched(hop, now)
        for hop in [hop for hop in self._routes.next_hops if hop not in self._watched]:
            mark = self._marks[hop] = self._rng.randbytes(MARK_OCTETS)
            self._by_mark[mark] = hop
            self._watched[hop] = _Watched()
            self._outputs.desired.put(self._own_probe(hop))
            if self._outputs.connected:
                self._probe_soon(hop, now)

    def adopt(self, entities: Iterable[Entity], now: float) -> None:
        """Start as the switch forwards: a next hop whose neighbour is not there was found dead earlier; marks stay."""
        tables = [entity for entity in entities if isinstance(entity, fy.P4TableEntry)]
        by_number = {self._routes.number(hop): hop for hop in self._watched}
        for entity in tables:
            if entity.table_id == "own_probes" and isinstance(entity.action, fy.P4TableAction):
                hop = by_number.get(entity.action.args["nexthop"])
                if hop is not None and hop.vlan == entity["vlan"]:
                    self._set_mark(hop, entity["mark"].to_bytes(MARK_OCTETS))
        if self._config.vrrp is not None:
            # A backup has entries before it has asked for any neighbour; what it knows goes on from edge to edge.
            return
        there = {entity["nexthop"] for entity in tables if entity.table_id == "nexthops"}
        resolved = {(entity["vlan"], entity["address"]) for entity in tables if entity.table_id == "neighbours"}
        for hop, watched in self._watched.items():
            known = (hop.vlan, int(hop.address)) in resolved
            if watched.health is NextHopHealth.UNKNOWN and self._routes.number(hop) in there and not known:
                watched.health = NextHopHealth.DOWN
                self._routes.set_down(hop, True)

    def go_on(self, before: Liveness) -> None:
        """Begin with what was known of next hops by an edge on the same switch."""
        for hop, was in before._watched.items():
            watched = self._watched.get(hop)
            if watched is not None:
                watched.health, watched.mac, watched.port = was.health, was.mac, was.port
                if was.health is NextHopHealth.DOWN:
                    self._routes.set_down(hop, True)

    def _set_mark(self, hop: LinkAddress, mark: bytes) -> None:
        self._outputs.desired.remove(self._own_probe(hop))
        del self._by_mark[self._marks[hop]]
        self._marks[hop] = mark
        self._by_mark[mark] = hop
        self._outputs.desired.put(self._own_probe(hop))

    def _own_probe(self, hop: LinkAddress) -> fy.P4TableEntry:
        return own_probe(hop.vlan, self._marks[hop], self._routes.number(hop))

    def start(self, now: float) -> None:
        """The switch is there: probe, each next hop at a time of its own."""
        for hop, watched in self._watched.items():
            watched.misses, watched.asked = 0, False
            self._probe_soon(hop, now)

    def _probe_soon(self, hop: LinkAddress, now: float) -> None:
        self._timers.set(hop, now + self._rng.uniform(0, self._config.timing.probe / 4))

    def stop(self) -> None:
        """Nothing can be said of next hops while the switch is away."""
        for hop in self._watched:
            self._timers.cancel(hop)

    def returned(self, arrival: ReceivedPacket, message: icmpv6.Message, now: float) -> bool:
        """Take an echo request that came back; return whether it is a probe."""
        hop = self._by_mark.get(message.body[4 : 4 + MARK_OCTETS]) if message.type == icmpv6.ECHO_REQUEST else None
        if hop is None or hop.vlan != arrival.interface.vlan:
            return False
        self._heard(hop, now)
        return True

    def advertised(self, arrival: ReceivedPacket, said: NeighbourAdvertisement, now: float) -> None:
        """A next hop may have answered a solicitation."""
        hop = LinkAddress(arrival.interface.vlan, said.target)
        neighbour = self._neighbours.get(hop)
        # Others can say so too: it counts from where the next hop is.
        macs = (said.target_mac, arrival.frame.source)
        if said.solicited and neighbour and neighbour.port == arrival.port and neighbour.mac in macs:
            self._heard(hop, now)

    def _heard(self, hop: LinkAddress, now: float) -> None:
        watched = self._watched.get(hop)
        if watched is None:
            return
        watched.misses, watched.asked = 0, False
        neighbour = self._neighbours.get(hop)
        if neighbour is not None:
            watched.mac, watched.port = neighbour.mac, neighbour.port
        if watched.mac is not None and watched.port is not None:
            self._neighbours.confirm(hop, watched.mac, watched.port, now)
        if watched.health is not NextHopHealth.UP:
            watched.health = NextHopHealth.UP
            changed = self._routes.set_down(hop, False)
            self._on_change(now)
            self._outputs.event(now, "nexthop.up", hop.address, f"{hop} answers{_routes_text(changed)}")

    def next_timer(self) -> float | None:
        """Return when the next probe is due."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Count what was not answered, unless the turn is late, and probe again."""
        on_time = late < self._config.timing.probe * LATE
        for hop in self._timers.due(now):
            watched = self._watched[hop]
            if watched.asked and on_time:
                watched.misses += 1
            if watched.misses >= MOST_MISSES and watched.health is not NextHopHealth.DOWN:
                self._lose(hop, watched, now)
            self._probe(hop, watched)
            watched.asked = True
            # In doubt it is asked twice as often, so that a cut is known after three times `probe` at most.
            doubtful = watched.misses and watched.health is not NextHopHealth.DOWN
            self._timers.set(hop, now + self._config.timing.probe / (2 if doubtful else 1))

    def _lose(self, hop: LinkAddress, watched: _Watched, now: float) -> None:
        watched.health = NextHopHealth.DOWN
        changed = self._routes.set_down(hop, True)
        self._on_change(now)
        text = f"{hop} does not answer{_routes_text(changed)}"
        self._outputs.event(now, "nexthop.down", hop.address, text, Severity.WARNING)
        self._neighbours.lose(hop, now)

    def _probe(self, hop: LinkAddress, watched: _Watched) -> None:
        interface = self._config.interface(hop.vlan)
        if interface is None:
            return
        neighbour = self._neighbours.get(hop)
        if neighbour is not None:
            watched.mac, watched.port = neighbour.mac, neighbour.port
        own = next((address.ip for address in interface.own_addresses), None)
        if own is not None and watched.mac is not None and watched.port is not None:
            # identifier: the next hop's number, sequence number: the misses before it, then what only we and it know
            body = self._routes.number(hop).to_bytes(2) + watched.misses.to_bytes(4)[2:] + self._marks[hop]
            packet = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, body).packet(own, own, 255)
            self._links.send(interface, watched.port, watched.mac, packet)
            if neighbour is not None and not watched.misses:
                return
        if neighbour is None:
            self._neighbours.ask(hop, None, None)
        else:
            self._neighbours.ask(hop, neighbour.mac, neighbour.port)


def _routes_text(changed: Iterable[object]) -> str:
    count = len(list(changed))
    return f"; routes changed: {count}" if count else ""
