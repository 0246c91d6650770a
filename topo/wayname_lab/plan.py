"""The addressing plan of a lab: ports, VLANs, addresses and routes of every node, from its description alone.

    2001:db8:SITE:VLAN::/64     hosts behind an edge; sites have numbers in the file's order, VLANs their digits
    2001:db8:SITE:VLAN::1       their router; hosts have ::11, ::12, ... in the file's order
    2001:db8:0:LINK::/64        a link between routers, numbered in the file's order; ::1 and ::2 are its ends
    VLAN 1000 + LINK            the same link inside either router

Routers have static routes. A provider reaches a site by the shortest ways; everybody reaches the rest by all providers
beside them. When the next hops of the more specific route are dead, the controller withdraws it and the less specific
one is left, so a provider that lost its link to a site still delivers by its peer.
"""

from collections import deque
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Interface, IPv6Network

from wayname_lab.model import Host, Lab, Link, Quality

FIRST_LINK_VLAN = 1000
DEFAULT_ROUTE = IPv6Network("::/0")


@dataclass(frozen=True, slots=True)
class PlannedPort:
    """A port of a router, and who is at its other end."""

    number: int
    vlan: int
    peer: str
    quality: Quality


@dataclass(frozen=True, slots=True)
class PlannedInterface:
    """A router's interface on a VLAN."""

    vlan: int
    name: str
    address: IPv6Interface
    advertise: bool


@dataclass(frozen=True, slots=True)
class PlannedRoute:
    """A static route. Several next hops are a spread; none means that such packets are refused."""

    prefix: IPv6Network
    via: tuple[IPv6Address, ...]


@dataclass(frozen=True, slots=True)
class RouterPlan:
    """Everything that a router is configured with."""

    name: str
    device_id: int
    is_edge: bool
    ports: tuple[PlannedPort, ...]
    interfaces: tuple[PlannedInterface, ...]
    routes: tuple[PlannedRoute, ...]

    def port_to(self, peer: str) -> PlannedPort:
        """Return the port whose other end is there."""
        return next(port for port in self.ports if port.peer == peer)


@dataclass(frozen=True, slots=True)
class HostPlan:
    """Everything that a host is configured with."""

    name: str
    edge: str
    port: int
    vlan: int
    mac: str
    address: IPv6Interface
    gateway: IPv6Address
    autoconfigure: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A lab and the configuration of its nodes, by name."""

    lab: Lab
    routers: dict[str, RouterPlan]
    hosts: dict[str, HostPlan]


def plan_lab(lab: Lab) -> Plan:
    """Number everything in a lab."""
    sites = {edge.name: number for number, edge in enumerate(lab.edges, 1)}
    routers = {}
    for device_id, router in enumerate(lab.routers, 1):
        hosts = [host for host in lab.hosts if host.edge == router.name]
        ends = [(number, link) for number, link in enumerate(lab.links, 1) if router.name in (link.a, link.b)]
        attached = [(host.vlan, host.name, Quality()) for host in hosts]
        attached += [(FIRST_LINK_VLAN + number, _other_end(link, router.name), link.quality) for number, link in ends]
        ports = tuple(PlannedPort(number, *what) for number, what in enumerate(attached, 1))
        interfaces = [
            PlannedInterface(vlan, f"site{vlan}", IPv6Interface((_site_address(sites[router.name], vlan, 1), 64)), True)
            for vlan in sorted({host.vlan for host in hosts})
        ]
        for number, link in ends:
            peer = _other_end(link, router.name)
            address = IPv6Interface((_link_address(number, link, router.name), 64))
            interfaces.append(PlannedInterface(FIRST_LINK_VLAN + number, f"to-{peer}", address, False))
        routes = _routes(lab, router.name, router.is_edge, sites)
        routers[router.name] = RouterPlan(router.name, device_id, router.is_edge, ports, tuple(interfaces), routes)
    return Plan(lab, routers, {host.name: _host(lab, host, sites[host.edge], routers) for host in lab.hosts})


def _site_address(site: int, vlan: int, host: int) -> str:
    return f"2001:db8:{site}:{vlan}::{host}"


def _link_address(number: int, link: Link, router: str) -> IPv6Address:
    return IPv6Address(f"2001:db8:0:{number}::{1 if router == link.a else 2}")


def _other_end(link: Link, router: str) -> str:
    return link.b if router == link.a else link.a


def _host(lab: Lab, host: Host, site: int, routers: dict[str, RouterPlan]) -> HostPlan:
    number = [other.name for other in lab.hosts if other.edge == host.edge].index(host.name) + 11
    mac = f"02:00:00:00:{site:02x}:{number:02x}"
    text = _site_address(site, host.vlan, number)
    if host.autoconfigure:
        # What stateless autoconfiguration makes of this MAC (RFC 4291, appendix A).
        text = f"2001:db8:{site}:{host.vlan}:0:ff:fe00:{site:02x}{number:02x}"
    gateway = IPv6Address(_site_address(site, host.vlan, 1))
    port = routers[host.edge].port_to(host.name).number
    address = IPv6Interface((text, 64))
    return HostPlan(host.name, host.edge, port, host.vlan, mac, address, gateway, host.autoconfigure)


def _routes(lab: Lab, router: str, is_edge: bool, sites: dict[str, int]) -> tuple[PlannedRoute, ...]:
    providers = {provider.name for provider in lab.providers}
    neighbours = {
        _other_end(link, router): _link_address(number, link, _other_end(link, router))
        for number, link in enumerate(lab.links, 1)
        if router in (link.a, link.b)
    }
    towards_providers = tuple(address for name, address in neighbours.items() if name in providers)
    routes = []
    if is_edge:
        # Without it, packets to a VLAN that the site has not would go to the providers and come back.
        routes.append(PlannedRoute(IPv6Network(f"2001:db8:{sites[router]}::/48"), ()))
    for edge, site in sites.items():
        shortest = _shortest(lab, router, edge, providers)
        via = tuple(address for name, address in neighbours.items() if name in shortest)
        if edge != router and via and (not is_edge or edge in neighbours):
            routes.append(PlannedRoute(IPv6Network(f"2001:db8:{site}::/48"), via))
    if towards_providers:
        routes.append(PlannedRoute(DEFAULT_ROUTE, towards_providers))
    return tuple(routes)


def _shortest(lab: Lab, router: str, edge: str, providers: set[str]) -> set[str]:
    """Return the neighbours of a router on the shortest ways to an edge; no site carries traffic of others."""
    neighbours: dict[str, set[str]] = {}
    for link in lab.links:
        neighbours.setdefault(link.a, set()).add(link.b)
        neighbours.setdefault(link.b, set()).add(link.a)
    distance = {edge: 0}
    waiting = deque([edge])
    while waiting:
        at = waiting.popleft()
        if at != edge and at not in providers:
            continue
        for neighbour in neighbours.get(at, ()):
            if neighbour not in distance:
                distance[neighbour] = distance[at] + 1
                waiting.append(neighbour)
    carriers = providers | {edge}
    return {
        neighbour
        for neighbour in neighbours.get(router, ())
        if neighbour in carriers and distance.get(neighbour, len(distance)) + 1 == distance.get(router)
    }
