"""Whose an address is: the first that uses it has it, as long as it is there (FCFS SAVI, RFC 6620).

    (none) --used, advertised or asked for by a host--> BOUND     the switch lets nobody else use it
    BOUND  --unused for five minutes-----------------> asked:     it answers: BOUND, else (none)
    BOUND  --used elsewhere--------------------------> asked:     it answers: BOUND, else bound to who uses it

What one port of hosts says of an address that is bound to another goes no further. So whoever could answer the question
that duplicate address detection asks is bound already, and an address is bound at once. Only hosts behind a trusted
port are not: they are asked, and one that answers has the address. Addresses that the edge gave by DHCPv6 are bound to
who got them, as long as they have them; so are addresses with a session. None of these becomes free by silence, or goes
to another MAC but by DHCPv6.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address

import finsy as fy

from wayname.config.model import Config, LinkAddress
from wayname.edge.boundary import Severity
from wayname.edge.first_hop_security.anchor import Anchor
from wayname.edge.first_hop_security.challenges import Challenges
from wayname.edge.first_hop_security.host_ports import HostPorts
from wayname.edge.interfaces import answered_addresses
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.p4_constants import Guard
from wayname.pipeline.entries import Entity
from wayname.pipeline.first_hop_security import NOBODY, source_binding
from wayname.wire import icmpv6, ipv6
from wayname.wire.discovery import HOP_LIMIT, UNSPECIFIED, NeighbourSolicitation
from wayname.wire.mac import Mac, group_mac, solicited_node

# DEFAULT_LT and T_WAIT of RFC 6620, in seconds.
LIFETIME = 300.0
INTERVAL = 0.25


@dataclass(slots=True)
class Binding:
    """An address, and whose it is."""

    at: LinkAddress
    anchor: Anchor
    leased: bool = False


class Bindings:
    """Keeps `source_bindings`; `moved` hears of an address that is somebody else's now."""

    def __init__(
        self,
        config: Config,
        host_ports: HostPorts,
        links: Links,
        outputs: Outputs,
        in_session: Callable[[IPv6Address, float], bool],
        moved: Callable[[LinkAddress, Anchor, float], None],
    ) -> None:
        self._config = config
        self._host_ports = host_ports
        self._links = links
        self._outputs = outputs
        self._in_session = in_session
        self._moved = moved
        self._rate_limited_events = RateLimitedEvents(outputs)
        self._bindings: dict[LinkAddress, Binding] = {}
        self._of_station: defaultdict[tuple[int, Mac], set[LinkAddress]] = defaultdict(set)
        self._count: Counter[int] = Counter()
        self._full: set[int] = set()
        self._nobodys: set[LinkAddress] = set()
        self._challenges: Challenges[LinkAddress] = Challenges(INTERVAL, self._ask, self._gone)
        for interface in config.interfaces:
            for address in answered_addresses(interface):
                self.reserve(LinkAddress(interface.vlan, address))

    def __iter__(self) -> Iterator[Binding]:
        return iter(self._bindings.values())

    def count(self, port: int) -> int:
        """Return how many addresses hosts behind a port have."""
        return self._count[port]

    def addresses_of(self, vlan: int, mac: Mac) -> list[IPv6Address]:
        """Return the addresses of a station."""
        return [at.address for at in self._of_station.get((vlan, mac), ())]

    def owner(self, at: LinkAddress) -> Anchor | None:
        """Return who has an address."""
        binding = self._bindings.get(at)
        return binding.anchor if binding else None

    def adopt(self, entities: Iterable[Entity]) -> None:
        """Take over the bindings that an earlier controller made."""
        for entity in entities:
            if not isinstance(entity, fy.P4TableEntry) or entity.table_id != "source_bindings":
                continue
            if not isinstance(entity.action, fy.P4TableAction) or entity.action.args["port"] == NOBODY:
                continue
            at = LinkAddress(entity["vlan"], IPv6Address(entity["address"]))
            anchor = Anchor(entity.action.args["port"], Mac(entity.action.args["mac"]))
            known = at in self._bindings or at in self._nobodys
            has_room = self._count[anchor.port] < self._host_ports.max_addresses(anchor.port)
            if not known and has_room and self._may_be_bound(at, anchor.port):
                self._set(Binding(at, anchor))

    def stop(self) -> None:
        """Nobody can be asked while the switch is away."""
        self._challenges.stop()

    def heard(self, arrival: ReceivedPacket, now: float) -> bool:
        """A packet came from a host; return whether it may use the addresses that it uses or wants."""
        guards = self._host_ports.guards(arrival.port, arrival.interface.vlan)
        anchor = Anchor(arrival.port, arrival.frame.source)
        if not guards:
            self._heard_beyond(arrival, anchor, now)
            return True
        claimed = [LinkAddress(arrival.interface.vlan, address) for address in _claimed(arrival.packet, guards)]
        # Each of them is looked at, whatever comes of the first.
        return False not in [self._heard(at, anchor, now) for at in claimed]

    def _heard(self, at: LinkAddress, anchor: Anchor, now: float) -> bool:
        if at in self._nobodys:
            return True
        binding = self._bindings.get(at)
        if binding is None:
            return self._may_be_bound(at, anchor.port) and self._bind(at, anchor, now)
        if binding.anchor == anchor:
            self._answered(binding, now)
            return True
        self._claim(binding, anchor, now)
        return False

    def _heard_beyond(self, arrival: ReceivedPacket, anchor: Anchor, now: float) -> None:
        """A packet came by a trusted port: what is advertised there no host beside it has."""
        for address in _claimed(arrival.packet, Guard.NEIGHBOURS):
            binding = self._bindings.get(LinkAddress(arrival.interface.vlan, address))
            if binding is not None and binding.anchor == anchor:
                self._answered(binding, now)
            elif binding is not None and arrival.packet.source != UNSPECIFIED:
                self._move(binding, anchor, now)

    def elsewhere(self, arrival: ReceivedPacket, now: float) -> None:
        """A host uses, advertises or asks for what is another's; the switch dropped it, unless it only asks."""
        guards = self._host_ports.guards(arrival.port, arrival.interface.vlan)
        for address in _claimed(arrival.packet, guards):
            if LinkAddress(arrival.interface.vlan, address) in self._nobodys:
                text = f"{Anchor(arrival.port, arrival.frame.source)} uses {address}, which is no host's"
                self._rate_limited_events.tell(now, "binding.refused", address, text)
        self.heard(arrival, now)

    def lease(self, at: LinkAddress, anchor: Anchor, now: float) -> None:
        """The edge gave a host an address: whoever has it is asked first, as for any other claim."""
        if not self._may_be_bound(at, anchor.port):
            return
        binding = self._bindings.get(at)
        if binding is None:
            self._bind(at, anchor, now)
            binding = self._bindings.get(at)
        if binding is None:
            return
        if binding.anchor == anchor:
            self._answered(binding, now)
            if not binding.leased:
                binding.leased = True
                self._put(binding)
        elif binding.anchor.mac == anchor.mac or not self._in_session(at.address, now):
            self._challenges.begin(at, anchor, now)

    def keep(self, at: LinkAddress) -> None:
        """An earlier controller gave a host an address that it still has."""
        binding = self._bindings.get(at)
        if binding is not None:
            binding.leased = True
            self._put(binding)

    def end_lease(self, at: LinkAddress) -> None:
        """A host has an address no longer, as far as the edge gave it: it may use it on as any other."""
        binding = self._bindings.get(at)
        if binding is not None and binding.leased:
            binding.leased = False
            self._put(binding)

    def reserve(self, at: LinkAddress) -> None:
        """Let no host have an address: it is the router's, or stands for a host elsewhere."""
        interface = self._config.interface(at.vlan)
        if interface is None or at.vlan not in self._host_ports.vlans:
            return
        if (binding := self._bindings.get(at)) is not None:
            self._forget(binding)
        self._nobodys.add(at)
        self._outputs.desired.put(source_binding(at.vlan, at.address, NOBODY, interface.mac))

    def release(self, at: LinkAddress) -> None:
        """Let hosts have an address again."""
        interface = self._config.interface(at.vlan)
        if interface is not None and at in self._nobodys:
            self._nobodys.discard(at)
            self._outputs.desired.remove(source_binding(at.vlan, at.address, NOBODY, interface.mac))

    def station_moved(self, vlan: int, mac: Mac, port: int, now: float) -> None:
        """A station is behind another port; so are its addresses."""
        for at in list(self._of_station.get((vlan, mac), ())):
            binding = self._bindings[at]
            if binding.anchor.port != port:
                self._move(binding, Anchor(port, mac), now)

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """An address was not used for long: is it still there?"""
        at = LinkAddress(entry["vlan"], IPv6Address(entry["address"]))
        binding = self._bindings.get(at)
        if binding is not None and not binding.leased:
            self._challenges.begin(at, None, now)

    def refused(self, entity: Entity, now: float) -> None:
        """The switch has no room for a binding."""
        if isinstance(entity, fy.P4TableEntry) and entity.table_id == "source_bindings":
            binding = self._bindings.get(LinkAddress(entity["vlan"], IPv6Address(entity["address"])))
            if binding is not None:
                self._forget(binding)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._challenges.next_timer()

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due."""
        self._challenges.handle_timer(now, late)

    def _may_be_bound(self, at: LinkAddress, port: int) -> bool:
        nobody = at.address.is_unspecified or at.address.is_multicast or at.address.is_loopback
        return not nobody and bool(self._host_ports.guards(port, at.vlan) & (Guard.SOURCES | Guard.NEIGHBOURS))

    def _bind(self, at: LinkAddress, anchor: Anchor, now: float) -> bool:
        if self._count[anchor.port] >= self._host_ports.max_addresses(anchor.port):
            self._host_ports.sources_full(anchor.port, True)
            if anchor.port not in self._full:
                self._full.add(anchor.port)
                text = f"hosts behind port {anchor.port} have {self._count[anchor.port]} addresses; see max_addresses"
                self._outputs.event(now, "bindings.full", anchor.port, text, Severity.WARNING)
            return False
        self._set(Binding(at, anchor))
        self._ask_beyond(at, anchor.port)
        return True

    def _claim(self, binding: Binding, challenger: Anchor, now: float) -> None:
        held = binding.leased or self._in_session(binding.at.address, now)
        if held and binding.anchor.mac != challenger.mac:
            text = f"{challenger} uses {binding.at}, which is of {binding.anchor} by its sessions or its lease"
            self._rate_limited_events.tell(now, "binding.refused", binding.at.address, text)
        else:
            self._challenges.begin(binding.at, challenger, now)

    def _answered(self, binding: Binding, now: float) -> None:
        challenger = self._challenges.answered(binding.at, now)
        if challenger is not None:
            text = f"{challenger} uses {binding.at}, which is of {binding.anchor}"
            self._rate_limited_events.tell(now, "binding.refused", binding.at.address, text)

    def _ask(self, at: LinkAddress) -> None:
        interface = self._config.interface(at.vlan)
        binding = self._bindings[at]
        if interface is not None:
            message = NeighbourSolicitation(at.address, interface.mac).message()
            packet = message.packet(interface.link_local, at.address, HOP_LIMIT)
            self._links.send(interface, binding.anchor.port, binding.anchor.mac, packet)

    def _ask_beyond(self, at: LinkAddress, port: int) -> None:
        """Ask behind the trusted ports of a VLAN whether somebody there has an address."""
        interface = self._config.interface(at.vlan)
        beyond = self._host_ports.trusted_beside(at.vlan)
        if interface is not None and port not in beyond:
            group = solicited_node(at.address)
            packet = NeighbourSolicitation(at.address, interface.mac).message()
            for number in beyond:
                asked = packet.packet(interface.link_local, group, HOP_LIMIT)
                self._links.send(interface, number, group_mac(group), asked)

    def _gone(self, at: LinkAddress, challenger: Anchor | None, now: float) -> None:
        binding = self._bindings[at]
        if challenger is not None:
            self._move(binding, challenger, now)
        elif not self._in_session(at.address, now):
            self._forget(binding)

    def _move(self, binding: Binding, anchor: Anchor, now: float) -> None:
        before, leased = binding.anchor, binding.leased
        self._forget(binding)
        if self._bind(binding.at, anchor, now):
            moved = self._bindings[binding.at]
            moved.leased = leased
            self._put(moved)
            self._outputs.event(
                now, "binding.moved", binding.at.address, f"{binding.at} went from {before} to {anchor}"
            )
            self._moved(binding.at, anchor, now)

    def _set(self, binding: Binding) -> None:
        self._bindings[binding.at] = binding
        self._of_station[binding.at.vlan, binding.anchor.mac].add(binding.at)
        self._count[binding.anchor.port] += 1
        self._put(binding)

    def _put(self, binding: Binding) -> None:
        idle = 0.0 if binding.leased else LIFETIME
        at, anchor = binding.at, binding.anchor
        self._outputs.desired.put(source_binding(at.vlan, at.address, anchor.port, anchor.mac, idle))

    def _forget(self, binding: Binding) -> None:
        at, anchor = binding.at, binding.anchor
        self._challenges.forget(at)
        del self._bindings[at]
        addresses = self._of_station[at.vlan, anchor.mac]
        addresses.discard(at)
        if not addresses:
            del self._of_station[at.vlan, anchor.mac]
        self._count[anchor.port] -= 1
        self._full.discard(anchor.port)
        self._host_ports.sources_full(anchor.port, False)
        self._outputs.desired.remove(source_binding(at.vlan, at.address, anchor.port, anchor.mac))


def _claimed(packet: ipv6.Packet, guards: Guard) -> list[IPv6Address]:
    """Return the addresses that a packet uses, advertises or asks for in duplicate address detection."""
    claimed = []
    if guards & Guard.NEIGHBOURS:
        upper = packet.upper_layer()
        kind = upper.data[0] if upper.number == ipv6.ICMPV6 and upper.is_whole and len(upper.data) >= 24 else None
        detects = kind == icmpv6.NEIGHBOUR_SOLICITATION and packet.source == UNSPECIFIED
        if kind == icmpv6.NEIGHBOUR_ADVERTISEMENT or detects:
            claimed.append(IPv6Address(upper.data[8:24]))
    if guards & Guard.SOURCES and packet.source != UNSPECIFIED and packet.source not in claimed:
        claimed.append(packet.source)
    return claimed
