"""Sends packets of the controller by the provider that their source is of."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

from wayname.config.model import Config, LinkAddress, Provider
from wayname.edge.boundary import PacketIn
from wayname.edge.links import Links
from wayname.edge.neighbours import Neighbours
from wayname.edge.provider_reachability import ProviderReachability
from wayname.edge.providers import Providers
from wayname.edge.routes import Routes
from wayname.p4_constants import PacketOutKind
from wayname.wire.ipv6 import Packet


class EgressSelection:
    """Knows the next hops of a packet by its source."""

    def __init__(
        self,
        config: Config,
        providers: Providers,
        reachability: ProviderReachability,
        routes: Routes,
        neighbours: Neighbours,
        links: Links,
    ) -> None:
        self._config = config
        self._providers = providers
        self._reachability = reachability
        self._routes = routes
        self._neighbours = neighbours
        self._links = links

    def provider(self, address: IPv6Address) -> Provider | None:
        """Return the provider by which packets from an address leave."""
        return self._providers.of(address)

    def is_open(self, address: IPv6Address) -> bool:
        """Whether packets from an address leave by a provider that can be used."""
        provider = self._providers.of(address)
        return provider is None or self._reachability.is_open(provider)

    def is_one_way(self, address: IPv6Address) -> bool:
        """Whether packets from an address arrive although nothing comes back from the next hop of their provider."""
        provider = self._providers.of(address)
        return provider is not None and self._reachability.is_one_way(provider)

    def why_closed(self, address: IPv6Address) -> str:
        """Return which provider cannot be used and why, in words."""
        provider = self._providers.of(address)
        return f"{provider.name} is down: {self._reachability.why_closed(provider)}" if provider else ""

    def send(self, packet: Packet) -> None:
        """Send a packet; one that cannot leave now is lost, as any packet may be."""
        for hop in self._hops(packet.source, packet.destination):
            interface, neighbour = self._config.interface(hop.vlan), self._neighbours.get(hop)
            if interface and neighbour and neighbour.mac is not None and neighbour.port is not None:
                self._links.send(interface, neighbour.port, neighbour.mac, packet)
                return

    def arrive(self, packet: Packet) -> None:
        """Give the switch a packet as if it had come from outside, by the way that answers to it leave by."""
        for hop in self._hops(packet.destination, packet.source):
            interface, neighbour = self._config.interface(hop.vlan), self._neighbours.get(hop)
            if interface and neighbour and neighbour.mac is not None and neighbour.port is not None:
                self._links.within(PacketOutKind.SUBMIT, interface, neighbour.port, neighbour.mac, packet)
                return

    def within(self, kind: PacketOutKind, packet: Packet, host: IPv6Address | None = None) -> None:
        """Give the switch a packet that the host could have sent, to do with it what the kind says.

        The host is who has the packet's source on its link, unless it is there by another address.
        """
        for interface in self._config.interfaces:
            neighbour = self._neighbours.get(LinkAddress(interface.vlan, host or packet.source))
            if neighbour and neighbour.mac is not None and neighbour.port is not None:
                self._links.within(kind, interface, neighbour.port, neighbour.mac, packet)
                return

    def is_here(self, address: IPv6Address) -> bool:
        """Whether somebody on a link here has an address."""
        return any(self._neighbours.get(LinkAddress(each.vlan, address)) for each in self._config.interfaces)

    def look_for(self, address: IPv6Address, now: float) -> None:
        """Ask the link that an address belongs to who has it."""
        for interface in self._config.interfaces:
            if interface.is_on_link(address) and not interface.owns(address):
                self._neighbours.seek(LinkAddress(interface.vlan, address), now)

    def deliver(self, packet: Packet) -> None:
        """Send a packet to a host here."""
        for interface in self._config.interfaces:
            neighbour = self._neighbours.get(LinkAddress(interface.vlan, packet.destination))
            if neighbour and neighbour.mac is not None and neighbour.port is not None:
                self._links.send(interface, neighbour.port, neighbour.mac, packet)
                return

    def submit(self, original: PacketIn) -> None:
        """Let a packet go through the switch again, as if it came anew."""
        self._links.submit(original)

    def _hops(self, source: IPv6Address, destination: IPv6Address) -> Iterator[LinkAddress]:
        provider = self._providers.of(source)
        if provider is None:
            yield from self._routes.neighbours_for(destination)
            return
        yield from (hop for hop, _ in provider.via if not self._routes.is_down(hop))
