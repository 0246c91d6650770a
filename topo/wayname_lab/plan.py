"""The addressing plan of a lab: ports, VLANs, addresses and routes of every node, from its description alone.

    2001:db8:SITE:VLAN::/64     hosts behind an edge; sites have numbers in the file's order, VLANs their digits
    2001:db8:SITE:VLAN::1       their router; hosts have ::11, ::12, ... in the file's order
                                (where edges speak Shim6: prefixes of each provider, see numbering.py, and hosts
                                have hash-based addresses)
    2001:db8:0:LINK::/64        a link between routers, numbered in the file's order; ::1 and ::2 are its ends
    VLAN 1000 + LINK            the same link inside either router

Routers have static routes. A provider reaches a site by the shortest ways; everybody reaches the rest by all providers
beside them. When the next hops of the more specific route are dead, the controller withdraws it and the less specific
one is left, so a provider that lost its link to a site still delivers by its peer.
"""

from collections import deque
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Interface, IPv6Network

from wayname.wire.shim6.payload import OCTETS as PAYLOAD_HEADER_OCTETS
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.hip.make import Described
from wayname_lab.identities import provable_address
from wayname_lab.load import LabError
from wayname_lab.model import Advertisement, Delegation, Host, Lab, LabIlnp, LabShim6, Link, Quality
from wayname_lab.numbering import Numbering
from wayname_lab.planned import (
    ZONE,
    AdvertiserPlan,
    DelegatorPlan,
    HostPlan,
    Plan,
    PlannedHip,
    PlannedHipEdge,
    PlannedIdentities,
    PlannedIlnp,
    PlannedInterface,
    PlannedNames,
    PlannedPort,
    PlannedProvider,
    PlannedRoute,
    PlannedShim6,
    RouterPlan,
)

FIRST_LINK_VLAN = 1000
MTU = 1500
# The destination options header with a long nonce, and nothing else in it.
LONG_NONCE_OCTETS = 16
# Addresses that hosts keep while they are known by others: fd00:0:SITE:VLAN::/64.
OWN = IPv6Address("fd00::")
DEFAULT_ROUTE = IPv6Network("::/0")


def described_hip_host(plan: HostPlan, seed: int) -> Described | None:
    """Return what makes a HIP host; None if this is another."""
    if plan.hip is None:
        return None
    hip = plan.hip
    return Described(plan.name, plan.mac, plan.gateway, plan.mtu, seed, hip.suite, hip.rekey, hip.locators, hip.peers)


def plan_lab(lab: Lab) -> Plan:
    """Number everything in a lab."""
    numbering = Numbering(lab)
    routers = {}
    for device_id, router in enumerate(lab.routers, 1):
        hosts = [host for host in lab.hosts if host.edge == router.name]
        ends = [(number, link) for number, link in enumerate(lab.links, 1) if router.name in (link.a, link.b)]
        attached = [(host.vlan, host.name, Quality()) for host in hosts]
        attached += [(FIRST_LINK_VLAN + number, _other_end(link, router.name), link.quality) for number, link in ends]
        attached += [
            (_link_vlan(lab, said), _beside(said), Quality())
            for said in lab.told_prefixes
            if said.provider == router.name
        ]
        ports = tuple(PlannedPort(number, *what) for number, what in enumerate(attached, 1))
        vlans = sorted({host.vlan for host in hosts})
        interfaces = [
            PlannedInterface(
                vlan,
                f"site{vlan}",
                _routers_on([*numbering.subnets(router.name, vlan), *_own_subnet(lab, router.name, vlan, numbering)]),
                not lab.is_multihomed or any(host.identity == "leased" for host in hosts if host.vlan == vlan),
            )
            for vlan in vlans
        ]
        for number, link in ends:
            peer = _other_end(link, router.name)
            address = IPv6Interface((_link_address(number, link, router.name), 64))
            interfaces.append(PlannedInterface(FIRST_LINK_VLAN + number, f"to-{peer}", (address,), False))
        routers[router.name] = RouterPlan(
            router.name,
            device_id,
            router.is_edge,
            ports,
            tuple(interfaces),
            _routes(lab, router.name, router.is_edge, numbering),
            _providers(lab, router.name, numbering) if router.is_edge else (),
            tuple(_shim6(lab, router.name, vlan, numbering) for vlan in vlans if lab.shim6 is not None),
            tuple(each for vlan in vlans if (each := _identities(lab, router.name, vlan, numbering)) is not None),
            router.configuration,
            router.inside,
            router.hold,
            tuple(_ilnp(lab, router.name, vlan, numbering) for vlan in vlans if lab.ilnp is not None),
            hip_edge=_hip_edge(lab, router.name, numbering) if router.is_edge else None,
        )
    plans = {host.name: _host(lab, host, numbering, routers) for host in lab.hosts}
    if lab.has_names:
        routers = {name: replace(router, names=_names(name, plans, routers)) for name, router in routers.items()}
    advertisers = (_advertiser_plan(lab, said, numbering, routers) for said in lab.advertisements)
    delegators = (_delegator_plan(lab, said, numbering, routers) for said in lab.delegations)
    named = {each.name: each for each in advertisers}
    return Plan(lab, routers, plans, named, {each.name: each for each in delegators})


def check_for_linux(plan: Plan) -> None:
    """Refuse a lab whose hosts Linux cannot be."""
    if any(host.identity == "leased" for host in plan.lab.hosts):
        raise LabError(f"lab {plan.lab.name}: Linux hosts get no addresses by DHCPv6 here; run it on wires")
    if plan.lab.hip is not None:
        raise LabError(f"lab {plan.lab.name}: Linux hosts speak no HIP; run it on wires (`--in wires`)")
    if plan.lab.advertisements or plan.lab.delegations:
        raise LabError(f"lab {plan.lab.name}: providers tell no prefixes in namespaces; run it on wires")
    if plan.lab.has_names:
        raise LabError(f"lab {plan.lab.name}: its names are not served in namespaces; run it on wires (`--in wires`)")


def _routers_on(subnets: list[IPv6Network]) -> tuple[IPv6Interface, ...]:
    return tuple(IPv6Interface((subnet[1], subnet.prefixlen)) for subnet in subnets)


def _link_address(number: int, link: Link, router: str) -> IPv6Address:
    return IPv6Address(f"2001:db8:0:{number}::{1 if router == link.a else 2}")


def _other_end(link: Link, router: str) -> str:
    return link.b if router == link.a else link.a


def _providers(lab: Lab, edge: str, numbering: Numbering) -> tuple[PlannedProvider, ...]:
    neighbours = _neighbours(lab, edge)
    track = _tracked(lab, edge, numbering)
    delegating = {said.provider for said in lab.delegations if said.site == edge}
    return tuple(
        PlannedProvider(name, numbering.given(name, edge), neighbours[name], track, name in delegating)
        for name in numbering.providers_of(edge)
    )


def _tracked(lab: Lab, edge: str, numbering: Numbering) -> IPv6Address | None:
    """Return the address by which an edge tells whether its providers work beyond their first hop."""
    name = next(router.track for router in lab.edges if router.name == edge)
    vlan = next((host.vlan for host in lab.hosts if host.edge == name), None)
    return None if name is None or vlan is None else numbering.subnets(name, vlan)[0][1]


def _own_subnet(lab: Lab, edge: str, vlan: int, numbering: Numbering) -> tuple[IPv6Network, ...]:
    """Return where hosts of a VLAN have addresses of their own, if any do."""
    if not any(host.identity == "mapped" for host in lab.hosts if (host.edge, host.vlan) == (edge, vlan)):
        return ()
    return (IPv6Network((int(OWN) | numbering.site(edge) << 80 | vlan << 64, 64)),)


def _identities(lab: Lab, edge: str, vlan: int, numbering: Numbering) -> PlannedIdentities | None:
    if all(host.identity == "configured" for host in lab.hosts if (host.edge, host.vlan) == (edge, vlan)):
        return None
    subnets = tuple(numbering.subnets(edge, vlan))
    uplinks = tuple(f"to-{said.provider}" for said in lab.advertisements if said.site == edge)
    return PlannedIdentities(f"site{vlan}", subnets, _own_subnet(lab, edge, vlan, numbering), uplinks)


def _beside(said: Advertisement | Delegation) -> str:
    """Return the name of who tells a site its prefix, at a port of the provider."""
    kind = "ra" if isinstance(said, Advertisement) else "pd"
    return f"{kind}-{said.provider}-{said.site}"


def _link_vlan(lab: Lab, said: Advertisement | Delegation) -> int:
    ends = [{link.a, link.b} for link in lab.links]
    return FIRST_LINK_VLAN + 1 + ends.index({said.provider, said.site})


def _advertiser_plan(
    lab: Lab, said: Advertisement, numbering: Numbering, routers: dict[str, RouterPlan]
) -> AdvertiserPlan:
    name = _beside(said)
    link = _link_vlan(lab, said) - FIRST_LINK_VLAN
    vlan = next(host.vlan for host in lab.hosts if host.edge == said.site)
    prefix = numbering.advertised(said.provider, said.site, vlan)
    port = routers[said.provider].port_to(name).number
    return AdvertiserPlan(name, said.provider, port, f"02:00:00:00:ff:{link:02x}", prefix, said)


def _delegator_plan(lab: Lab, said: Delegation, numbering: Numbering, routers: dict[str, RouterPlan]) -> DelegatorPlan:
    name, provider, edge = _beside(said), said.provider, said.site
    mac = f"02:00:00:00:fe:{_link_vlan(lab, said) - FIRST_LINK_VLAN:02x}"
    first, second = numbering.given(provider, edge), numbering.given_later(provider, edge)
    return DelegatorPlan(name, provider, routers[provider].port_to(name).number, mac, first, second, said)


def _shim6(lab: Lab, edge: str, vlan: int, numbering: Numbering) -> PlannedShim6:
    subnets = numbering.subnets(edge, vlan)
    here = [host for host in lab.hosts if (host.edge, host.vlan) == (edge, vlan)]
    hosts = [host.name for host in here if host.identity == "configured"]
    provable = (provable_address(host, subnets) for host in hosts)
    proofs = tuple((address, parameters.encode()) for address, parameters in provable)
    return PlannedShim6(tuple(subnets), lab.shim6 or LabShim6(), proofs)


def _ilnp(lab: Lab, edge: str, vlan: int, numbering: Numbering) -> PlannedIlnp:
    speaks_itself = any(host.ilnp for host in lab.hosts if (host.edge, host.vlan) == (edge, vlan))
    native = "border" if numbering.inside(edge) else "transparent"
    return PlannedIlnp(
        tuple(numbering.subnets(edge, vlan)), lab.ilnp or LabIlnp(), native if speaks_itself else "proxy"
    )


def _names(edge: str, hosts: dict[str, HostPlan], routers: dict[str, RouterPlan]) -> PlannedNames:
    named = []
    for host in hosts.values():
        home, address = routers[host.edge], host.address.ip
        if host.edge != edge and home.inside is not None:
            address = home.outside(address, home.providers[0].name)
        named.append((host.edge == edge, address, f"{host.name}.{ZONE}"))
    return PlannedNames(
        f"{edge}.{ZONE}",
        tuple((address, name) for here, address, name in named if here),
        tuple((address, name) for here, address, name in named if not here),
    )


def _hip_edge(lab: Lab, edge: str, numbering: Numbering) -> PlannedHipEdge | None:
    here = [host for host in lab.hosts if host.edge == edge]
    elsewhere = [host for host in lab.hosts if host.edge != edge]
    prefixes = [subnet for vlan in sorted({host.vlan for host in here}) for subnet in numbering.subnets(edge, vlan)]
    if lab.hip is not None and lab.hip.edges is not None:
        return PlannedHipEdge(lab.hip.edges, tuple(prefixes), LabShim6(lab.hip.send_timeout))
    if lab.hip_edges is None:
        return None
    return PlannedHipEdge(
        "proxy",
        tuple(prefixes),
        lab.hip_edges,
        tuple((_locators(lab, host, numbering)[0], host.name) for host in here),
        tuple(
            (_locators(lab, host, numbering)[0], identity_of_host(host.name).hit)
            for host in elsewhere
            if not lab.has_names
        ),
    )


def _host(lab: Lab, host: Host, numbering: Numbering, routers: dict[str, RouterPlan]) -> HostPlan:
    site = numbering.site(host.edge)
    number = [other.name for other in lab.hosts if other.edge == host.edge].index(host.name) + 11
    mac = f"02:00:00:00:{site:02x}:{number:02x}"
    subnets = numbering.subnets(host.edge, host.vlan)
    address = IPv6Address(f"{subnets[0].network_address}{number}")
    if host.autoconfigure:
        # What stateless autoconfiguration makes of this MAC (RFC 4291, appendix A).
        address = subnets[0][int(IPv6Address(f"::ff:fe00:{site:02x}{number:02x}"))]
    gateway = subnets[0][1]
    if host.identity == "mapped":
        [own] = _own_subnet(lab, host.edge, host.vlan, numbering)
        address, gateway = own[number], own[1]
    elif lab.shim6 is not None:
        address, _ = provable_address(host.name, subnets)
    hip = None
    if lab.hip is not None:
        hip = PlannedHip(_locators(lab, host, numbering), _peers(lab, host, numbering), lab.hip.suite, lab.hip.rekey)
        address = identity_of_host(host.name).hit
    port = routers[host.edge].port_to(host.name).number
    interface = IPv6Interface((address, subnets[0].prefixlen if hip is None else 128))
    autoconfigures = host.autoconfigure or host.identity == "leased"
    mtu = MTU - (PAYLOAD_HEADER_OCTETS if lab.shim6 is not None or lab.hip_edges is not None else 0)
    if lab.ilnp is not None:
        # Sites count their hosts from the same number on, and an identifier is unique in the whole world.
        address = IPv6Address(f"{subnets[0].network_address}{site}:{number}")
        interface, mtu = IPv6Interface((address, subnets[0].prefixlen)), MTU - LONG_NONCE_OCTETS
    return HostPlan(host.name, host.edge, port, host.vlan, mac, interface, gateway, autoconfigures, mtu, hip, host.ilnp)


def _locators(lab: Lab, host: Host, numbering: Numbering) -> tuple[IPv6Address, ...]:
    """Return an address in each of the prefixes of a host's VLAN."""
    number = [other.name for other in lab.hosts if other.edge == host.edge].index(host.name) + 11
    subnets = numbering.subnets(host.edge, host.vlan)
    return tuple(IPv6Address(f"{subnet.network_address}{number}") for subnet in subnets)


def _peers(lab: Lab, host: Host, numbering: Numbering) -> dict[IPv6Address, tuple[IPv6Address, ...]]:
    others = [other for other in lab.hosts if other != host]
    return {identity_of_host(other.name).hit: _locators(lab, other, numbering) for other in others}


def _neighbours(lab: Lab, router: str) -> dict[str, IPv6Address]:
    """Return the routers at the other ends of a router's links, and their addresses there."""
    return {
        _other_end(link, router): _link_address(number, link, _other_end(link, router))
        for number, link in enumerate(lab.links, 1)
        if router in (link.a, link.b)
    }


def _routes(lab: Lab, router: str, is_edge: bool, numbering: Numbering) -> tuple[PlannedRoute, ...]:
    providers = {provider.name for provider in lab.providers}
    neighbours = _neighbours(lab, router)
    towards_providers = tuple(address for name, address in neighbours.items() if name in providers)
    if lab.is_multihomed and not is_edge:
        return _routes_of_provider(lab, router, neighbours, numbering)
    routes = []
    if is_edge:
        # Without it, packets to a VLAN that the site has not would go to the providers and come back.
        routes += [PlannedRoute(prefix, ()) for prefix in numbering.site_prefixes(router)]
    for edge in (edge.name for edge in lab.edges):
        shortest = _shortest(lab, router, edge, providers)
        via = tuple(address for name, address in neighbours.items() if name in shortest)
        if edge != router and via and (not is_edge or edge in neighbours) and numbering.inside(edge) is None:
            routes += [PlannedRoute(prefix, via) for prefix in numbering.site_prefixes(edge)]
    if not is_edge and any(edge.inside is not None for edge in lab.edges):
        routes += _routes_of_provider(lab, router, neighbours, numbering)
    if towards_providers:
        routes.append(PlannedRoute(DEFAULT_ROUTE, towards_providers))
    return tuple(routes)


def _routes_of_provider(
    lab: Lab, router: str, neighbours: dict[str, IPv6Address], numbering: Numbering
) -> tuple[PlannedRoute, ...]:
    """Return the routes of a provider that gives prefixes: to its customers, and to other providers for theirs."""
    providers = {provider.name for provider in lab.providers}
    customers = [edge.name for edge in lab.edges if router in numbering.providers_of(edge.name)]
    routes = [PlannedRoute(numbering.given(router, edge), (neighbours[edge],)) for edge in customers]
    routes += [
        PlannedRoute(numbering.given_later(router, said.site), (neighbours[said.site],))
        for said in lab.delegations
        if said.provider == router
    ]
    routes.append(PlannedRoute(numbering.aggregate(router), ()))
    for other in sorted(providers - {router}):
        shortest = _shortest(lab, router, other, providers)
        via = tuple(address for name, address in neighbours.items() if name in shortest)
        if via:
            routes.append(PlannedRoute(numbering.aggregate(other), via))
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
