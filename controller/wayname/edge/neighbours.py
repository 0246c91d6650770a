"""Neighbours: MACs of addresses on the router's links (RFC 4861, section 7).

    (none) --packet waits--> INCOMPLETE --advertised--> REACHABLE --30 s--> PROBE --answered--> REACHABLE
    (none) --it asked us---> STALE -----5 s-------------------------------> PROBE --3 misses--> (none)
    INCOMPLETE --3 misses--> (none), and the senders of the waiting packets are told

What would replace a MAC that is known, an advertisement or a solicitation, is a claim: the neighbour is asked at its
old place first, and stays there if it answers. One that the configuration names (`[[neighbour]]`) never changes.

The switch forwards to a neighbour in any state but INCOMPLETE. It does not tell when it does, so that every neighbour
is probed as if it were in use. Next hops of routes are not probed here: `liveness` does that more often.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address

import finsy as fy

from wayname.config.model import Config, LinkAddress
from wayname.edge.boundary import Severity
from wayname.edge.first_hop_security.anchor import Anchor
from wayname.edge.first_hop_security.challenges import Challenges
from wayname.edge.first_hop_security.host_ports import HostPorts
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.edge.resolutions import Asker, Resolutions
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity
from wayname.timers import Timers, earliest
from wayname.wire import icmpv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.mac import Mac, solicited_node

# Section 10 of RFC 4861, in seconds.
RETRANSMISSION = 1.0
REACHABLE = 30.0
DELAY_FIRST_PROBE = 5.0
MOST_SOLICITATIONS = 3

# How long a neighbour has for each answer when another claims its address (T_WAIT of RFC 6620).
CLAIMED = 0.25

# How long after a neighbour was found packets may still come that did not know of it.
LATE = 1.0

# How many packets wait for one neighbour.
MOST_WAITING = 32


class State(StrEnum):
    """What is known of a neighbour."""

    INCOMPLETE = "incomplete"
    REACHABLE = "reachable"
    STALE = "stale"
    PROBE = "probe"


@dataclass(slots=True)
class Neighbour:
    """A neighbour; without a MAC it is INCOMPLETE, and what the configuration says of it nothing changes."""

    at: LinkAddress
    state: State
    mac: Mac | None = None
    port: int | None = None
    found: float = 0.0
    solicited: int = 0
    static: bool = False
    waiting: deque[ReceivedPacket] = field(default_factory=lambda: deque(maxlen=MOST_WAITING))


class Neighbours:
    """Keeps `neighbours`, and packets while it asks for one."""

    def __init__(
        self,
        config: Config,
        limit: int,
        next_hops: Container[LinkAddress],
        host_ports: HostPorts,
        links: Links,
        outputs: Outputs,
        rng: random.Random,
    ) -> None:
        self._config = config
        self._limit = limit
        self._next_hops = next_hops
        self._host_ports = host_ports
        self._links = links
        self._outputs = outputs
        self._rng = rng
        self._timers: Timers[LinkAddress] = Timers()
        self._neighbours: dict[LinkAddress, Neighbour] = {}
        self.resolutions = Resolutions()
        self._full = False
        self._count: Counter[int] = Counter()
        self._of_station: defaultdict[tuple[int, Mac], set[LinkAddress]] = defaultdict(set)
        self._full_ports: set[int] = set()
        self._rate_limited_events = RateLimitedEvents(outputs)
        self._challenges: Challenges[LinkAddress] = Challenges(CLAIMED, self._make_sure, self._gone)
        for named in config.static_neighbours:
            neighbour = self._neighbours[named.at] = Neighbour(named.at, State.REACHABLE, static=True)
            self._set(neighbour, named.mac, named.port)

    def __iter__(self) -> Iterator[Neighbour]:
        return iter(self._neighbours.values())

    def get(self, at: LinkAddress) -> Neighbour | None:
        """Return a neighbour whose MAC is known."""
        neighbour = self._neighbours.get(at)
        return neighbour if neighbour and neighbour.mac else None

    def addresses_of(self, vlan: int, mac: Mac) -> list[IPv6Address]:
        """Return the addresses of a station."""
        return [at.address for at in self._of_station.get((vlan, mac), ())]

    def count(self, port: int) -> int:
        """Return how many neighbours are behind a port."""
        return self._count[port]

    def adopt(self, entities: Iterable[Entity]) -> None:
        """Take over the neighbours that an earlier controller found."""
        for entity in entities:
            if not isinstance(entity, fy.P4TableEntry) or entity.table_id != "neighbours":
                continue
            if not isinstance(entity.action, fy.P4TableAction):
                continue
            at = LinkAddress(entity["vlan"], IPv6Address(entity["address"]))
            interface = self._config.interface(at.vlan)
            port = entity.action.args["port"]
            has_room = at in self._next_hops or self._count[port] < self._host_ports.max_addresses(port)
            is_here = interface is not None and (interface.is_on_link(at.address) or at in self._next_hops)
            if at not in self._neighbours and is_here and has_room:
                self._neighbours[at] = Neighbour(at, State.STALE)
                self._set(self._neighbours[at], Mac(entity.action.args["mac"]), port)

    def start(self, now: float) -> None:
        """The switch is there: make sure of all neighbours soon, but not of all at once."""
        for neighbour in self._neighbours.values():
            self._stale(neighbour, now)

    def stop(self) -> None:
        """Nobody can be asked while the switch is away, and what waits for an answer waits in vain."""
        for at in self._neighbours:
            self._timers.cancel(at)
        for at in self.resolutions.clear():
            del self._neighbours[at]
        self._challenges.stop()

    def wanted(self, at: LinkAddress, arrival: ReceivedPacket, now: float) -> None:
        """A packet has to wait until a neighbour's MAC is known."""
        neighbour = self.seek(at, now, Asker.of(arrival))
        if neighbour.mac is None:
            neighbour.waiting.append(arrival)
        elif now < neighbour.found + LATE:
            # The entry was on its way when the packet came.
            self._links.submit(arrival.original)

    def seek(self, at: LinkAddress, now: float, asker: Asker | None = None) -> Neighbour:
        """Ask who has an address, unless it is known or asked for already; the edge itself is no asker."""
        neighbour = self._neighbours.get(at)
        if neighbour is None:
            neighbour = self._neighbours[at] = Neighbour(at, State.INCOMPLETE)
            given_up = self.resolutions.add(at, asker)
            if given_up is not None:
                self._fail(self._neighbours[given_up], now)
            self._solicit(neighbour, now)
        return neighbour

    def asked(self, arrival: ReceivedPacket, mac: Mac | None, now: float) -> None:
        """A neighbour sent a solicitation with its MAC (sections 6.2.6 and 7.2.3)."""
        at = LinkAddress(arrival.interface.vlan, arrival.packet.source)
        if mac is None or mac.is_group or not self._may_be_neighbour(arrival, at.address):
            return
        neighbour = self._neighbours.get(at)
        if neighbour is None:
            if not self._has_room(at, arrival.port, now):
                return
            neighbour = self._neighbours[at] = Neighbour(at, State.STALE)
        if neighbour.mac is None:
            if not self._has_room(at, arrival.port, now):
                return
            self._found(neighbour, mac, arrival.port, now)
            self._stale(neighbour, now)
        elif (neighbour.mac, neighbour.port) != (mac, arrival.port):
            self._claim(neighbour, Anchor(arrival.port, mac), now)
        else:
            self._answered(neighbour, now)

    def advertised(self, arrival: ReceivedPacket, said: NeighbourAdvertisement, now: float) -> None:
        """A neighbour said what its MAC is (section 7.2.5)."""
        at = LinkAddress(arrival.interface.vlan, said.target)
        mac = said.target_mac
        if (mac and mac.is_group) or not self._may_be_neighbour(arrival, at.address):
            return
        neighbour = self._neighbours.get(at)
        if neighbour is None or neighbour.mac is None:
            # One that nobody asked for is ignored; next hops are always asked for.
            if mac is None or (neighbour is None and at not in self._next_hops):
                return
            if not self._has_room(at, arrival.port, now):
                return
            neighbour = self._neighbours.setdefault(at, Neighbour(at, State.INCOMPLETE))
            self._found(neighbour, mac, arrival.port, now)
            if said.solicited:
                self._reachable(neighbour, now)
            else:
                self._stale(neighbour, now)
            return
        if mac is not None and mac != neighbour.mac and not said.override:
            # Another has it too, or a proxy speaks for it: what worked stays until it fails.
            if neighbour.state is State.REACHABLE:
                self._stale(neighbour, now)
            return
        claimed = Anchor(arrival.port, mac or neighbour.mac)
        if claimed != Anchor(neighbour.port or 0, neighbour.mac):
            self._claim(neighbour, claimed, now)
            return
        self._answered(neighbour, now)
        if said.solicited:
            self._reachable(neighbour, now)

    def confirm(self, at: LinkAddress, mac: Mac, port: int, now: float) -> None:
        """A next hop answered by other means."""
        neighbour = self._neighbours.get(at)
        if neighbour is None:
            neighbour = self._neighbours[at] = Neighbour(at, State.STALE)
        if neighbour.mac is None:
            self._found(neighbour, mac, port, now)
        self._reachable(neighbour, now)

    def resolved(self, at: LinkAddress, mac: Mac, port: int, now: float) -> None:
        """Linux knows a neighbour; what is known here already is better known."""
        neighbour = self._neighbours.get(at)
        if (neighbour is None or neighbour.mac is None) and self._has_room(at, port, now):
            neighbour = self._neighbours.setdefault(at, Neighbour(at, State.STALE))
            self._found(neighbour, mac, port, now)
            self._stale(neighbour, now)

    def unwatched(self, at: LinkAddress, now: float) -> None:
        """A neighbour is no next hop any more: from now on it is probed here."""
        if (neighbour := self.get(at)) is not None:
            self._stale(neighbour, now)

    def moved(self, vlan: int, mac: Mac, port: int, now: float) -> None:
        """A station is behind another port; so are its addresses."""
        for at in list(self._of_station.get((vlan, mac), ())):
            neighbour = self._neighbours[at]
            if neighbour.port != port and not neighbour.static:
                self._set(neighbour, mac, port)

    def rebind(self, at: LinkAddress, anchor: Anchor, now: float) -> None:
        """An address is another station's."""
        neighbour = self._neighbours.get(at)
        if neighbour is not None and neighbour.mac is not None and not neighbour.static:
            self._challenges.forget(at)
            self._found(neighbour, anchor.mac, anchor.port, now)
            self._stale(neighbour, now)

    def lose(self, at: LinkAddress, now: float) -> None:
        """Give up a neighbour that does not answer."""
        neighbour = self._neighbours.get(at)
        if neighbour is not None:
            self._fail(neighbour, now)

    def refused(self, entity: Entity, now: float) -> None:
        """The switch has no room for a neighbour."""
        if isinstance(entity, fy.P4TableEntry) and entity.table_id == "neighbours":
            self._say_full(now)
            self.lose(LinkAddress(entity["vlan"], IPv6Address(entity["address"])), now)

    def next_timer(self) -> float | None:
        """Return when the next neighbour needs attention."""
        return earliest((self._timers.next(), self._challenges.next_timer()))

    def handle_timer(self, now: float, late: float) -> None:
        """Ask again, make sure, or give up, but not in a late turn: the answer may be there, and nobody looked yet."""
        self._challenges.handle_timer(now, late)
        for at in self._timers.due(now):
            neighbour = self._neighbours[at]
            if neighbour.state is not State.INCOMPLETE and neighbour.state is not State.PROBE:
                neighbour.state, neighbour.solicited = State.PROBE, 0
            if neighbour.solicited >= MOST_SOLICITATIONS and late < RETRANSMISSION / 4:
                self._fail(neighbour, now)
            else:
                self._solicit(neighbour, now)

    def ask(self, at: LinkAddress, mac: Mac | None, port: int | None) -> None:
        """Send a solicitation: to a MAC to make sure of it, else to the group of the address (section 7.2.2)."""
        interface = self._config.interface(at.vlan)
        if interface is None:
            return
        message = NeighbourSolicitation(at.address, interface.mac).message()
        if mac is not None and port is not None:
            self._links.send(interface, port, mac, message.packet(interface.link_local, at.address, HOP_LIMIT))
        else:
            group = solicited_node(at.address)
            self._links.send_to_group(interface, message.packet(interface.link_local, group, HOP_LIMIT))

    def _claim(self, neighbour: Neighbour, claimed: Anchor, now: float) -> None:
        """Somebody says that a neighbour is elsewhere: ask where it was, and believe it if nobody answers there."""
        if neighbour.static:
            self._complain(neighbour, claimed, now)
        elif self._challenges.begin(neighbour.at, claimed, now) and neighbour.state is State.REACHABLE:
            neighbour.state = State.STALE

    def _make_sure(self, at: LinkAddress) -> None:
        neighbour = self._neighbours[at]
        self.ask(at, neighbour.mac, neighbour.port)

    def _answered(self, neighbour: Neighbour, now: float) -> None:
        claimed = self._challenges.answered(neighbour.at, now)
        if claimed is not None:
            self._complain(neighbour, claimed, now)

    def _complain(self, neighbour: Neighbour, claimed: Anchor, now: float) -> None:
        text = f"{claimed} claims {neighbour.at}, which is {neighbour.mac} behind port {neighbour.port}"
        self._rate_limited_events.tell(now, "neighbour.refused", neighbour.at.address, text)

    def _gone(self, at: LinkAddress, claimed: Anchor | None, now: float) -> None:
        neighbour = self._neighbours[at]
        if claimed is not None:
            self._found(neighbour, claimed.mac, claimed.port, now)
            self._stale(neighbour, now)

    def _solicit(self, neighbour: Neighbour, now: float) -> None:
        neighbour.solicited += 1
        self.ask(neighbour.at, neighbour.mac, neighbour.port)
        self._timers.set(neighbour.at, now + RETRANSMISSION)

    def _found(self, neighbour: Neighbour, mac: Mac, port: int, now: float) -> None:
        if neighbour.mac != mac:
            kind = "neighbour.found" if neighbour.mac is None else "neighbour.changed"
            text = f"{neighbour.at} is {mac} behind port {port}"
            self._outputs.event(now, kind, neighbour.at.address, text)
        self._set(neighbour, mac, port)
        neighbour.found = now
        for arrival in neighbour.waiting:
            self._links.submit(arrival.original)
        neighbour.waiting.clear()

    def _set(self, neighbour: Neighbour, mac: Mac, port: int) -> None:
        self._leave(neighbour)
        self._count[port] += 1
        self._of_station[neighbour.at.vlan, mac].add(neighbour.at)
        neighbour.mac, neighbour.port = mac, port
        self.resolutions.remove(neighbour.at)
        self._outputs.desired.put(entries.neighbour(neighbour.at.vlan, neighbour.at.address, port, mac))

    def _reachable(self, neighbour: Neighbour, now: float) -> None:
        neighbour.state = State.REACHABLE
        self._attend(neighbour, now + REACHABLE * self._rng.uniform(0.5, 1.5))

    def _stale(self, neighbour: Neighbour, now: float) -> None:
        neighbour.state = State.STALE
        self._attend(neighbour, now + DELAY_FIRST_PROBE * self._rng.uniform(0.5, 1.5))

    def _attend(self, neighbour: Neighbour, at: float) -> None:
        neighbour.solicited = 0
        if neighbour.at in self._next_hops or neighbour.static:
            self._timers.cancel(neighbour.at)
        else:
            self._timers.set(neighbour.at, at)

    def _fail(self, neighbour: Neighbour, now: float) -> None:
        self._timers.cancel(neighbour.at)
        if neighbour.static:
            return
        self._challenges.forget(neighbour.at)
        self.resolutions.remove(neighbour.at)
        del self._neighbours[neighbour.at]
        self._full = False
        if neighbour.mac is not None and neighbour.port is not None:
            self._leave(neighbour)
            gone = entries.neighbour(neighbour.at.vlan, neighbour.at.address, neighbour.port, neighbour.mac)
            self._outputs.desired.remove(gone)
            self._outputs.event(now, "neighbour.lost", neighbour.at.address, f"{neighbour.at} does not answer")
        for arrival in neighbour.waiting:
            self._links.report(arrival, icmpv6.UNREACHABLE_ADDRESS)

    def _may_be_neighbour(self, arrival: ReceivedPacket, address: IPv6Address) -> bool:
        interface = arrival.interface
        nobody = address.is_unspecified or address.is_multicast or address.is_loopback
        # Linux may have prefixes on the link that the configuration does not name.
        is_here = interface.is_on_link(address) or LinkAddress(interface.vlan, address) in self._next_hops
        return not nobody and is_here and not interface.owns(address)

    def _leave(self, neighbour: Neighbour) -> None:
        """A neighbour is not where it was any more."""
        if neighbour.mac is not None and neighbour.port is not None:
            self._count[neighbour.port] -= 1
            self._full_ports.discard(neighbour.port)
            addresses = self._of_station[neighbour.at.vlan, neighbour.mac]
            addresses.discard(neighbour.at)
            if not addresses:
                del self._of_station[neighbour.at.vlan, neighbour.mac]

    def _has_room(self, at: LinkAddress, port: int, now: float) -> bool:
        if at not in self._next_hops and self._count[port] >= self._host_ports.max_addresses(port):
            if port not in self._full_ports:
                self._full_ports.add(port)
                text = f"{self._count[port]} neighbours are behind port {port}, as many as may be; see max_addresses"
                self._outputs.event(now, "neighbours.port_full", port, text, Severity.WARNING)
            return False
        if len(self._neighbours) < self._limit:
            return True
        self._say_full(now)
        return False

    def _say_full(self, now: float) -> None:
        if not self._full:
            text = f"no room for more than {len(self._neighbours)} neighbours; new ones cannot be reached"
            self._outputs.event(now, "neighbours.full", "neighbours", text, Severity.WARNING)
        self._full = True
