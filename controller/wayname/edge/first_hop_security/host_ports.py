"""Which ports lead to hosts, what is checked of them there, and how much of the tables each may have."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Network

from wayname.config.links import LinkAddress
from wayname.config.model import Config, Interface, Port
from wayname.edge.outputs import Outputs
from wayname.p4_constants import Guard
from wayname.pipeline import entries
from wayname.pipeline.first_hop_security import host_member, host_prefix

LINK_LOCAL_NETWORK = IPv6Network("fe80::/10")
# New sources a second that a port of hosts may bring, with as many at once.
BINDING_RATE = 100
# More than hosts behind one port have; the table's share is less where an edge has many ports.
MOST_STATIONS = 1024
MOST_ADDRESSES = 4096


class HostPorts:
    """Keeps what `vlan_members` says of ports of hosts, and `host_prefixes`.

    A port leads to hosts where the router has an interface and no next hop is on the VLAN, unless the configuration
    says whether it is trusted; that of Linux is the router's.
    """

    def __init__(
        self, config: Config, next_hops: Iterable[LinkAddress], stations: int, addresses: int, outputs: Outputs
    ) -> None:
        self._config = config
        self._outputs = outputs
        self._room = {"stations": stations, "addresses": addresses}
        self._towards_routers = {hop.vlan for hop in next_hops} | {each.vlan for each in config.prefix_sources}
        if config.identities:
            self._towards_routers.update(vlan for link in config.identities.links for vlan in link.uplinks)
        self._guards = {
            (port.number, vlan): guards
            for port in config.ports
            for vlan in port.vlans
            if (guards := self._guards_of(port, config.interface(vlan)))
        }
        self._full: dict[int, Guard] = {}
        for port in config.ports:
            if self.leads_to_hosts(port.number):
                outputs.desired.put(entries.rate("binding_meter", port.number, BINDING_RATE))
                self._want(port.number)
        for vlan in {vlan for _, vlan in self._guards}:
            for prefix in self._prefixes(vlan):
                outputs.desired.put(host_prefix(vlan, prefix))

    @property
    def vlans(self) -> set[int]:
        """VLANs on which hosts are."""
        return {vlan for _, vlan in self._guards}

    def leads_to_hosts(self, number: int) -> bool:
        """Whether something is checked of what comes by a port."""
        return any(port == number for port, _ in self._guards)

    def guards(self, number: int, vlan: int) -> Guard:
        """Return what is checked of packets of a VLAN by a port."""
        return self._guards.get((number, vlan), Guard(0))

    def trusted_beside(self, vlan: int) -> list[int]:
        """Return the ports of a VLAN with hosts of which nothing is checked: others may be there. Linux is no other."""
        linux = self._config.linux_ports.get(vlan)
        members = [port.number for port in self._config.members(vlan) if port.number != linux]
        return [number for number in members if vlan in self.vlans and (number, vlan) not in self._guards]

    def max_macs(self, number: int) -> int:
        """Return how many stations may be behind a port."""
        port = self._config.port(number)
        given = port.max_macs if port else None
        return given if given is not None else self._share(number, self._room["stations"], MOST_STATIONS)

    def max_addresses(self, number: int) -> int:
        """Return how many addresses hosts behind a port may have."""
        port = self._config.port(number)
        given = port.max_addresses if port else None
        return given if given is not None else self._share(number, self._room["addresses"], MOST_ADDRESSES)

    def stations_full(self, number: int, full: bool) -> None:
        """A port has as many stations as it may have, or fewer again."""
        self._set(number, Guard.MACS_FULL, full)

    def sources_full(self, number: int, full: bool) -> None:
        """A port has as many sources as it may have, or fewer again."""
        self._set(number, Guard.SOURCES_FULL, full)

    def _share(self, number: int, room: int, most: int) -> int:
        """Return an equal share of a table: what one port fills is nobody else's."""
        share = max(1, room // max(1, len(self._config.ports)))
        return min(most, share) if self.leads_to_hosts(number) else share

    def _set(self, number: int, flag: Guard, full: bool) -> None:
        before = self._full.get(number, Guard(0))
        after = before | flag if full else before & ~flag
        if after != before:
            self._full[number] = after
            self._want(number)

    def _want(self, number: int) -> None:
        full = self._full.get(number, Guard(0))
        for (port, vlan), guards in self._guards.items():
            if port == number:
                self._outputs.desired.put(host_member(port, vlan, guards | full))

    def _guards_of(self, port: Port, interface: Interface | None) -> Guard:
        if interface is None or self._config.linux_ports.get(interface.vlan) == port.number:
            return Guard(0)
        trusted = interface.vlan in self._towards_routers if port.trusted is None else port.trusted
        if trusted:
            return Guard(0)
        chosen = (
            (interface.source_guard, Guard.SOURCES),
            (interface.nd_inspection, Guard.NEIGHBOURS),
            (interface.ra_guard, Guard.ROUTERS),
            (interface.dhcpv6_guard, Guard.DHCPV6),
        )
        return Guard(sum(guard for wanted, guard in chosen if wanted))

    def _prefixes(self, vlan: int) -> set[IPv6Network]:
        interface = self._config.interface(vlan)
        assert interface is not None
        on_link = {own.network for own in interface.global_addresses}
        return {LINK_LOCAL_NETWORK, *on_link, *interface.source_prefixes}
