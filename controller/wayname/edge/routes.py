"""Routes: static ones by next hops that live, and which neighbour a packet is for."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Hashable, Iterable
from ipaddress import IPv6Address
from typing import TypeVar

from wayname.config.model import Config, LinkAddress, Refusal, Route
from wayname.edge.outputs import Outputs
from wayname.edge.prefix_map import PrefixMap
from wayname.edge.providers import Providers
from wayname.pipeline import entries
from wayname.pipeline.entries import MAIN_ROUTES

Via = tuple[tuple[LinkAddress, int], ...]
_T = TypeVar("_T", bound=Hashable)


class Routes:
    """Keeps `routes`, `nexthops`, `ecmp_groups` and their members."""

    def __init__(self, config: Config, providers: Providers, outputs: Outputs) -> None:
        self._config = config
        self._outputs = outputs
        self._down: set[LinkAddress] = set()
        # Each with the number of its table.
        self._placed = [(MAIN_ROUTES, route) for route in config.routes] + providers.routes(config)
        by_hops = [route.via for _, route in self._placed if route.via]
        of_routes = [hop for via in by_hops for hop, _ in via]
        self.next_hops: Collection[LinkAddress] = dict.fromkeys([*of_routes, *config.encapsulation.next_hops])
        self._numbers = _numbers(self.next_hops, _link_text)
        self._ecmp_groups = _numbers(dict.fromkeys(via for via in by_hops if len(via) > 1), _via_text)
        self._prefixes = self._index()
        for hop, number in self._numbers.items():
            outputs.desired.put(entries.nexthop(number, hop.vlan, hop.address))
        for via in self._ecmp_groups:
            for hop, _ in via:
                outputs.desired.put(entries.ecmp_member(self._numbers[hop]))
        for table, route in self._placed:
            self._want(table, route)

    def number(self, hop: LinkAddress) -> int:
        """Return the number of a next hop, which the same next hop has under any configuration."""
        return self._numbers[hop]

    def is_down(self, hop: LinkAddress) -> bool:
        """Whether a next hop is out of use."""
        return hop in self._down

    def is_used(self, route: Route) -> bool:
        """Whether a route is on the switch: all its next hops down take it away, so that a shorter prefix serves."""
        return not route.via or any(hop not in self._down for hop, _ in route.via)

    def set_down(self, hop: LinkAddress, down: bool) -> list[Route]:
        """Take a next hop out of use, or into it again; return the routes that it changes."""
        if (hop in self._down) == down:
            return []
        if down:
            self._down.add(hop)
        else:
            self._down.remove(hop)
        changed = [(table, route) for table, route in self._placed if any(each == hop for each, _ in route.via)]
        for table, route in changed:
            self._want(table, route)
        return [route for _, route in changed]

    def neighbours_for(self, destination: IPv6Address) -> list[LinkAddress]:
        """Return the neighbours that a packet may be passed to, by its destination's longest prefix."""
        for found in self._prefixes.all(destination):
            if isinstance(found, int):
                return [LinkAddress(found, destination)]
            if self.is_used(found):
                return [hop for hop, _ in found.via if hop not in self._down]
        return []

    def _index(self) -> PrefixMap[int | Route]:
        """Return routes and connected VLANs by their prefixes."""
        prefixes: PrefixMap[int | Route] = PrefixMap()
        for route in self._config.routes:
            prefixes.add(route.prefix, route)
        for interface in self._config.interfaces:
            for address in interface.global_addresses:
                prefixes.add(address.network, interface.vlan)
        return prefixes

    def _want(self, table: int, route: Route) -> None:
        desired = self._outputs.desired
        alive = {self._numbers[hop]: weight for hop, weight in route.via if hop not in self._down}
        if route.refusal is not None:
            desired.put(entries.route_refused(route.prefix, route.refusal is Refusal.PROHIBITED, table))
        elif not alive:
            desired.remove(entries.route_refused(route.prefix, True, table))
            if len(route.via) > 1:
                number = self._ecmp_groups[route.via]
                desired.remove(entries.ecmp_group(number))
                desired.remove(entries.ecmp_group_members(number, {}))
        elif len(route.via) == 1:
            [number] = alive
            desired.put(entries.route_nexthop(route.prefix, number, table))
        else:
            number = self._ecmp_groups[route.via]
            desired.put(entries.ecmp_group_members(number, alive))
            desired.put(entries.ecmp_group(number))
            desired.put(entries.route_ecmp(route.prefix, number, table))


def _link_text(hop: LinkAddress) -> str:
    return f"{hop.vlan} {hop.address}"


def _via_text(via: Via) -> str:
    return ", ".join(f"{_link_text(hop)} {weight}" for hop, weight in sorted(via))


def _numbers(things: Iterable[_T], text: Callable[[_T], str]) -> dict[_T, int]:
    """Number things from 1 to 65535 by what they are, so that others that come or go leave their numbers alone."""
    numbers: dict[_T, int] = {}
    taken: set[int] = set()
    for thing in sorted(things, key=text):
        number = zlib.crc32(text(thing).encode()) % 0xFFFF
        while number in taken:
            number = (number + 1) % 0xFFFF
        taken.add(number)
        numbers[thing] = number + 1
    return numbers
