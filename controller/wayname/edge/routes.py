"""Routes: static ones by next hops that live, and which neighbour a packet is for."""

from __future__ import annotations

from ipaddress import IPv6Address

from wayname.config.model import Config, LinkAddress, Refusal, Route
from wayname.edge.content_numbers import ContentNumbers
from wayname.edge.kernel.routes import KernelRoutes
from wayname.edge.next_hops import Cause, NextHops, Via, via_text
from wayname.edge.outputs import Outputs
from wayname.edge.prefix_map import PrefixMap
from wayname.edge.providers import DEFAULT, FIRST_TABLE, Providers
from wayname.pipeline import entries
from wayname.pipeline.entries import MAIN_ROUTES


class Routes:
    """Keeps `routes` and `ecmp_groups` of the configuration."""

    def __init__(self, config: Config, providers: Providers, outputs: Outputs) -> None:
        self._config = config
        self._outputs = outputs
        # Each with the number of its table.
        self._placed = [(MAIN_ROUTES, route) for route in config.routes] + providers.routes(config)
        by_hops = [route.via for _, route in self._placed if route.via]
        of_routes = [hop for via in by_hops for hop, _ in via]
        self.next_hops = NextHops({*of_routes, *config.encapsulation.next_hops}, outputs.desired)
        self.groups: ContentNumbers[Via | str] = ContentNumbers(_text, {via for via in by_hops if len(via) > 1})
        self._prefixes = self._index()
        # Those that Linux has, where it is asked.
        self.beside: KernelRoutes | None = None
        for via in self.groups:
            for hop, _ in via if isinstance(via, tuple) else ():
                self.next_hops.join(hop)
        for table, route in self._placed:
            self._want(table, route)

    def number(self, hop: LinkAddress) -> int:
        """Return the number of a next hop, which the same next hop has under any configuration."""
        return self.next_hops.number(hop)

    def is_down(self, hop: LinkAddress) -> bool:
        """Whether a next hop is out of use."""
        return self.next_hops.is_down(hop)

    def is_used(self, route: Route) -> bool:
        """Whether a route is on the switch: all its next hops down take it away, so that a shorter prefix serves."""
        return not route.via or bool(self.next_hops.alive(route.via))

    def set_down(self, hop: LinkAddress, down: bool, cause: Cause = Cause.PROBES) -> list[Route]:
        """Take a next hop out of use, or into it again; return the routes that it changes."""
        if not self.next_hops.set_down(hop, cause, down):
            return []
        changed = self._want_routes_by(hop)
        if self.beside is not None:
            self.beside.refresh_members()
        return changed

    def is_one_way(self, hop: LinkAddress) -> bool:
        """Whether what goes by a next hop arrives although its probes do not come back."""
        return self.next_hops.is_one_way(hop)

    def set_one_way(self, hop: LinkAddress, one_way: bool) -> None:
        """Keep a next hop that is down in its providers' tables, since what goes by it arrives (RFC 4861, 7.3.1)."""
        if self.next_hops.set_one_way(hop, one_way):
            self._want_routes_by(hop)

    def neighbours_for(self, destination: IPv6Address) -> list[LinkAddress]:
        """Return the neighbours that a packet may be passed to, by its destination's longest prefix."""
        beside, neighbours = self.beside.neighbours_for(destination) if self.beside else (-1, [])
        for length, found in self._prefixes.with_lengths(destination):
            if length < beside:
                break
            if isinstance(found, int):
                return [LinkAddress(found, destination)]
            if self.is_used(found):
                return [hop for hop, _ in self.next_hops.alive(found.via)]
        return neighbours

    def default(self) -> Via:
        """Return the next hops in use of the default route of the configuration."""
        found = next((route for route in self._config.routes if route.prefix == DEFAULT), None)
        return self.next_hops.alive(found.via) if found else ()

    def _index(self) -> PrefixMap[int | Route]:
        """Return routes and connected VLANs by their prefixes."""
        prefixes: PrefixMap[int | Route] = PrefixMap()
        for route in self._config.routes:
            prefixes.add(route.prefix, route)
        for interface in self._config.interfaces:
            for address in interface.global_addresses:
                prefixes.add(address.network, interface.vlan)
        return prefixes

    def _want_routes_by(self, hop: LinkAddress) -> list[Route]:
        """Want all routes that name a next hop as they are now, and return them."""
        placed = [(table, route) for table, route in self._placed if any(each == hop for each, _ in route.via)]
        for table, route in placed:
            self._want(table, route)
        return [route for _, route in placed]

    def _want(self, table: int, route: Route) -> None:
        desired = self._outputs.desired
        # What bears a provider's prefix has no other way out: it takes what works one way.
        in_use = self.next_hops.alive if table < FIRST_TABLE else self.next_hops.forwarding
        alive = self.next_hops.weights(in_use(route.via))
        if route.refusal is not None:
            desired.put(entries.route_refused(route.prefix, route.refusal is Refusal.PROHIBITED, table))
        elif not alive:
            desired.remove(entries.route_refused(route.prefix, True, table))
            if len(route.via) > 1:
                number = self.groups[route.via]
                desired.remove(entries.ecmp_group(number))
                desired.remove(entries.ecmp_group_members(number, {}))
        elif len(route.via) == 1:
            [number] = alive
            desired.put(entries.route_nexthop(route.prefix, number, table))
        else:
            number = self.groups[route.via]
            desired.put(entries.ecmp_group_members(number, alive))
            desired.put(entries.ecmp_group(number))
            desired.put(entries.route_ecmp(route.prefix, number, table))


def _text(group: Via | str) -> str:
    return group if isinstance(group, str) else via_text(group)
