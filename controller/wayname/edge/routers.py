"""What the router says on its links: who it is, that it is there, and what it does not serve."""

from __future__ import annotations

import random
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from wayname.config.model import Config, Interface
from wayname.config.provider import Phase
from wayname.edge.boundary import Severity
from wayname.edge.interfaces import answered_addresses
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.edge.provider_prefixes.manager import ProviderPrefixes
from wayname.edge.providers import DEFAULT
from wayname.timers import Timers
from wayname.wire import icmpv6, ipv6
from wayname.wire.discovery import (
    ALL_NODES,
    HOP_LIMIT,
    UNSPECIFIED,
    NeighbourAdvertisement,
    NeighbourSolicitation,
    Prefix,
    Resolvers,
    RouterAdvertisement,
    RouterSolicitation,
    SearchDomains,
)
from wayname.wire.mac import Mac

# Sections 6.2.1 and 10 of RFC 4861, in seconds.
LEAST_INTERVAL = 200.0
LONGEST_INTERVAL = 600.0
FIRST_INTERVAL = 16.0
FIRST_ADVERTISEMENTS = 3
LEAST_BETWEEN = 3.0
LONGEST_DELAY = 0.5
ROUTER_LIFETIME = 1800
VALID_LIFETIME = 2_592_000
PREFERRED_LIFETIME = 604_800

# For how long name servers are told: three times the longest interval (RFC 8106, section 5.1).
DNS_LIFETIME = 1800

# Solicitations that are answered one by one; beyond so many at once an advertisement to all does.
MOST_ANSWERS = 64


@dataclass(frozen=True, slots=True)
class _Host:
    """Whom an advertisement is for; without one, it is for all."""

    port: int
    mac: Mac
    address: IPv6Address


class Routers:
    """Answers for the router's addresses, and advertises it."""

    def __init__(
        self, config: Config, links: Links, outputs: Outputs, rng: random.Random, prefixes: ProviderPrefixes
    ) -> None:
        self._config = config
        self._prefixes = prefixes
        self._links = links
        self._outputs = outputs
        self._rng = rng
        self._timers: Timers[tuple[int, _Host | None]] = Timers()
        self._pending: set[tuple[int, _Host]] = set()
        self._sent: dict[int, int] = {}
        self._last: dict[int, float] = {}
        self._duplicates: set[IPv6Address] = set()

    def start(self, now: float) -> None:
        """The switch is there: tell all links who the router is, as if it had just come (section 7.2.6)."""
        for interface in self._config.interfaces:
            for address in answered_addresses(interface):
                said = NeighbourAdvertisement(address, interface.mac, router=True, override=True).message()
                self._links.send_to_group(interface, said.packet(address, ALL_NODES, HOP_LIMIT))
            if interface.advertise:
                self._sent[interface.vlan] = 0
                self._timers.set((interface.vlan, None), now + self._rng.uniform(0, LONGEST_DELAY))

    def stop(self) -> None:
        """Say nothing while the switch is away."""
        for interface in self._config.interfaces:
            self._timers.cancel((interface.vlan, None))

    def solicited(self, arrival: ReceivedPacket, asked: NeighbourSolicitation, is_ours: bool) -> None:
        """A neighbour asks for an address of the router (section 7.2.4), or another that the edge has: `is_ours`."""
        interface = arrival.interface
        if not is_ours and asked.target not in answered_addresses(interface):
            return
        # An anycast address is not this router's alone (section 7.2.7).
        said = NeighbourAdvertisement(
            asked.target,
            interface.mac,
            router=True,
            solicited=arrival.packet.source != UNSPECIFIED,
            override=is_ours or interface.owns(asked.target),
        ).message()
        if arrival.packet.source == UNSPECIFIED:
            # Somebody is about to take our address: it hears that it is taken.
            self._links.send_to_group(interface, said.packet(asked.target, ALL_NODES, HOP_LIMIT))
        else:
            mac = asked.source_mac or arrival.frame.source
            packet = said.packet(asked.target, arrival.packet.source, HOP_LIMIT)
            self._links.send(interface, arrival.port, mac, packet)

    def claimed(self, arrival: ReceivedPacket, said: NeighbourAdvertisement, now: float) -> None:
        """Somebody advertises an address; if it is the router's, there are two of them (RFC 4862, section 5.4.4)."""
        interface = arrival.interface
        mine = interface.owns(said.target) and arrival.frame.source != interface.mac
        if mine and said.target not in self._duplicates:
            self._duplicates.add(said.target)
            text = f"{arrival.frame.source} behind port {arrival.port} has {said.target} too; change one of them"
            self._outputs.event(now, "address.duplicate", said.target, text, Severity.ERROR)

    def router_solicited(self, arrival: ReceivedPacket, asked: RouterSolicitation, now: float) -> None:
        """A host looks for routers (section 6.2.6)."""
        interface = arrival.interface
        if not interface.advertise:
            return
        delay = self._rng.uniform(0, LONGEST_DELAY)
        if arrival.packet.source == UNSPECIFIED or len(self._pending) >= MOST_ANSWERS:
            earliest = max(now + delay, self._last.get(interface.vlan, now - LEAST_BETWEEN) + LEAST_BETWEEN)
            self._advertise_by(interface.vlan, earliest)
            return
        host = _Host(arrival.port, asked.source_mac or arrival.frame.source, arrival.packet.source)
        if (interface.vlan, host) not in self._pending:
            self._pending.add((interface.vlan, host))
            self._timers.set((interface.vlan, host), now + delay)

    def echo(self, arrival: ReceivedPacket, request: icmpv6.Message) -> None:
        """Answer an echo request; leave any other message alone."""
        if request.type == icmpv6.ECHO_REQUEST:
            self._links.answer(arrival, icmpv6.echo_reply(request), arrival.packet.destination)

    def refuse(self, arrival: ReceivedPacket, upper: ipv6.UpperLayer) -> None:
        """Tell that nobody listens at a port of the router."""
        if upper.number == ipv6.UDP and not upper.fragment_offset:
            self._links.report(arrival, icmpv6.UNREACHABLE_PORT)

    def next_timer(self) -> float | None:
        """Return when the next advertisement is due."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Send what is due."""
        for vlan, host in self._timers.due(now):
            interface = self._config.interface(vlan)
            if interface is None:
                continue
            message = self._advertisement(interface, now).message()
            if host is not None:
                self._pending.discard((vlan, host))
                packet = message.packet(interface.link_local, host.address, HOP_LIMIT)
                self._links.send(interface, host.port, host.mac, packet)
            else:
                self._links.send_to_group(interface, message.packet(interface.link_local, ALL_NODES, HOP_LIMIT))
                self._sent[vlan] = self._sent.get(vlan, 0) + 1
                self._last[vlan] = now
                self._timers.set((vlan, None), now + self._interval(vlan))

    def _interval(self, vlan: int) -> float:
        """Return how long until the next advertisement: the first ones follow soon (section 6.2.4)."""
        interval = self._rng.uniform(LEAST_INTERVAL, LONGEST_INTERVAL)
        return min(interval, FIRST_INTERVAL) if self._sent[vlan] < FIRST_ADVERTISEMENTS else interval

    def _advertise_by(self, vlan: int, at: float) -> None:
        due = self._timers.at((vlan, None))
        if due is None or at < due:
            self._timers.set((vlan, None), at)

    def _advertisement(self, interface: Interface, now: float) -> RouterAdvertisement:
        networks = dict.fromkeys(own.network for own in interface.global_addresses if own.network.prefixlen == 64)
        # Where the edge gives hosts their addresses, they shall make none: nothing would prove those.
        hosts = self._config.identities.link(interface.vlan) if self._config.identities else None
        managed = hosts is not None and hosts.dhcp
        given = hosts.prefixes if hosts and managed else ()
        return RouterAdvertisement(
            lifetime=ROUTER_LIFETIME if self._leads_out else 0,
            managed=managed,
            source_mac=interface.mac,
            mtu=min(port.mtu for port in self._config.members(interface.vlan)),
            prefixes=tuple(self._prefix(network, network not in given, now) for network in networks),
            **self._dns(interface, now),
        )

    def _prefix(self, network: IPv6Network, is_autonomous: bool, now: float) -> Prefix:
        """Return how a prefix is announced: one that a provider gave never for longer than the provider did.

        One that has ended is announced with lifetimes of 0 for as long as hosts may have it (RFC 9096, section 3.5).
        """
        delegated = self._prefixes.lifetimes(network, now)
        preferred, valid = (PREFERRED_LIFETIME, VALID_LIFETIME) if delegated is None else delegated
        return Prefix(network, valid, preferred, autonomous=is_autonomous)

    @property
    def _leads_out(self) -> bool:
        """Whether the router leads anywhere: not if all depends on prefixes, and none is there (RFC 7084, G-4)."""
        config = self._config
        has_route = any(route.prefix == DEFAULT and route.refusal is None for route in config.routes)
        has_provider = any(provider.phase is not Phase.ENDED for provider in config.providers)
        return has_provider or has_route or not config.prefix_sources

    def _dns(self, interface: Interface, now: float) -> dict[str, Any]:
        """Return who resolves names for hosts (RFC 8106): as configured, or as providers say with their prefixes."""
        servers, domains = list(interface.dns_servers or ()), list(interface.search_domains or ())
        lifetime = DNS_LIFETIME
        if any(self._prefixes.lifetimes(own.network, now) for own in interface.global_addresses):
            said_servers, said_domains, said_for = self._prefixes.dns(now)
            if interface.dns_servers is None:
                servers, lifetime = said_servers, min(DNS_LIFETIME, said_for)
            if interface.search_domains is None:
                domains = said_domains
        return {
            "resolvers": (Resolvers(tuple(servers), lifetime),) if servers else (),
            "domains": (SearchDomains(tuple(domains), min(lifetime, DNS_LIFETIME)),) if domains else (),
        }
