"""The kernel's IPv6 routes in `routes`: each refers to a group, and the groups are few."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from ipaddress import IPv6Address, IPv6Network

import finsy as fy

from wayname.config.links import LinkAddress, Refusal
from wayname.edge.desired_state import DesiredState
from wayname.edge.kernel.paths import ByGroup, Leads, Level, Levels, OnLink, Paths
from wayname.edge.kernel.route_groups import RouteGroup, RouteGroups
from wayname.edge.next_hops import NextHops, Via
from wayname.edge.prefix_map import PrefixMap
from wayname.netlink.messages import Path, Route

Prefix = tuple[int, int]  # address and length
DEFAULT: Prefix = (0, 0)
_LINK_LOCAL, _GROUPS = 0xFE80 >> 6, 0xFF


@dataclass(slots=True, eq=False)
class KernelRoute:
    """What all prefixes with the same routes have in common."""

    levels: Levels
    leads: Leads
    group: RouteGroup | None = None
    # What their entries do; None is without entries.
    action: fy.P4TableAction | None = None
    prefixes: int = 0

    @property
    def via(self) -> Via:
        """Its next hops, those of higher metrics behind."""
        return tuple(hop for via in self.leads.vias for hop in via) if isinstance(self.leads, ByGroup) else ()


class KernelRoutes:
    """Takes routes, and keeps their entries in step; `taken` are prefixes that the configuration speaks for."""

    def __init__(
        self,
        paths: Paths,
        next_hops: NextHops,
        groups: Callable[[Callable[[], Via]], RouteGroups],
        configured_default: Callable[[], Via],
        taken: Container[Prefix],
        room: int,
        desired: DesiredState,
    ) -> None:
        self._paths = paths
        self._next_hops = next_hops
        self._groups = groups(self._default)
        self._configured_default = configured_default
        self._taken = taken
        self._room = room
        self._desired = desired
        self._routes: PrefixMap[KernelRoute] = PrefixMap()
        self._by_levels: dict[Levels, KernelRoute] = {}
        self._placed = 0
        # Prefixes for which there was no room.
        self.left_out: dict[Prefix, None] = {}
        self._named: set[tuple[Prefix, int, Path]] | None = None
        # Any group may come to need them.
        for hop, _ in configured_default():
            next_hops.join(hop)

    def __len__(self) -> int:
        return len(self._routes)

    def first(self, most: int, within: IPv6Network | None = None) -> list[tuple[IPv6Network, KernelRoute]]:
        """Return some routes in order, of a prefix and within it."""
        base = within or IPv6Network("::/0")
        low, high = int(base.network_address), int(base.broadcast_address)
        found = (each for each in self._routes if low <= each[0][0] <= high and each[0][1] >= base.prefixlen)
        return [(IPv6Network(prefix), route) for prefix, route in nsmallest(most, found, key=lambda each: each[0])]

    def is_used(self, prefix: IPv6Network, route: KernelRoute) -> bool:
        """Whether the switch has an entry for a prefix, and packets leave by it."""
        key = int(prefix.network_address), prefix.prefixlen
        is_there = route.action is not None and key not in self._taken and key not in self.left_out
        return is_there and (route.group is None or bool(self._groups.in_use(route.group)))

    def neighbours_for(self, destination: IPv6Address) -> tuple[int, list[LinkAddress]]:
        """Return the length of the longest prefix that leads somewhere, and the neighbours; -1 is none."""
        for length, route in self._routes.with_lengths(destination):
            if isinstance(route.leads, OnLink):
                return length, [LinkAddress(route.leads.vlan, destination)]
            if route.group is not None:
                return length, [hop for hop, _ in self._groups.in_use(route.group)]
            if isinstance(route.leads, Refusal):
                return length, []
        return -1, []

    def restated(self) -> Iterator[Route]:
        """Yield all routes as the kernel told of them."""
        for (address, length), route in self._routes:
            for level in route.levels:
                yield Route(address, length, *level, False)

    def begin(self) -> None:
        """All routes are named from here on, until `end`."""
        self._named = set()

    def end(self) -> None:
        """What was not named is gone."""
        named, self._named = self._named, None
        if named is None:
            return
        for prefix, route in list(self._routes):
            left = tuple(each for each in route.levels if (prefix, each.metric, each.path) in named)
            if left != route.levels:
                self._set(prefix, route, left)

    def take(self, said: Route) -> None:
        """Take note of a route that is there, or is not any more."""
        if said.address >> 118 == _LINK_LOCAL or said.address >> 120 == _GROUPS:
            # Never routed.
            return
        prefix = said.address, said.length
        if self._named is not None and not said.is_gone:
            self._named.add((prefix, said.metric, said.path))
        route = self._routes.get(prefix)
        before = route.levels if route is not None else ()
        after = _without(before, said) if said.is_gone else _with(before, said)
        if after != before:
            self._set(prefix, route, after)

    def refresh(self) -> None:
        """Links or nexthop objects are others: look where all routes lead now."""
        for route in list(self._by_levels.values()):
            leads = self._paths.leads_to(route.levels)
            if leads != route.leads:
                self._lead(route, leads)
        self._groups.refresh()

    def refresh_members(self) -> None:
        """Next hops are in use that were not, or the other way round."""
        self._groups.refresh()

    def _default(self) -> Via:
        configured = self._configured_default()
        route = None if configured else self._routes.get(DEFAULT)
        if route is None or route.group is None:
            return configured
        return next(filter(None, map(self._next_hops.alive, route.group.vias)), ())

    def _set(self, prefix: Prefix, before: KernelRoute | None, levels: Levels) -> None:
        if levels:
            route = self._by_levels.get(levels)
            if route is None:
                route = self._by_levels[levels] = KernelRoute(levels, None)
                self._lead(route, self._paths.leads_to(levels))
            route.prefixes += 1
            self._routes.put(prefix, route)
            self._write(prefix, before.action if before else None, route.action)
        else:
            self._routes.drop(prefix)
            self._write(prefix, before.action if before else None, None)
        if before is not None:
            before.prefixes -= 1
            if not before.prefixes:
                self._end(before)
        if prefix == DEFAULT:
            self._groups.refresh()

    def _end(self, route: KernelRoute) -> None:
        del self._by_levels[route.levels]
        if route.group is not None:
            self._groups.release(route.group)

    def _lead(self, route: KernelRoute, leads: Leads) -> None:
        """Let all prefixes of a route lead elsewhere; a group that is only changed changes no prefix."""
        group, before = route.group, route.action
        route.leads = leads
        if isinstance(leads, ByGroup):
            if group is not None and group.name == leads.name:
                self._groups.change(group, leads.vias)
                return
            route.group = self._groups.use(*leads)
        else:
            route.group = None
        route.action = self._action(route)
        if route.prefixes:
            for prefix, each in list(self._routes):
                if each is route:
                    self._write(prefix, before, route.action)
        if group is not None:
            self._groups.release(group)

    def _action(self, route: KernelRoute) -> fy.P4TableAction | None:
        match route.leads:
            case ByGroup():
                return fy.Action("route_ecmp", ecmp_group=route.group.number) if route.group else None
            case OnLink(vlan):
                return fy.Action("route_connected", vlan=vlan)
            case Refusal() as refusal:
                return fy.Action("route_prohibited" if refusal is Refusal.PROHIBITED else "route_discard")
        return None

    def _write(self, prefix: Prefix, before: fy.P4TableAction | None, after: fy.P4TableAction | None) -> None:
        if before is after or prefix in self._taken:
            return
        is_there = before is not None and prefix not in self.left_out
        self.left_out.pop(prefix, None)
        if after is None:
            if is_there:
                self._remove(prefix)
        elif is_there or self._placed < self._room or prefix == DEFAULT:
            self._placed += not is_there and prefix != DEFAULT
            self._desired.put(_entry(prefix, after))
        else:
            self.left_out[prefix] = None

    def _remove(self, prefix: Prefix) -> None:
        self._placed -= prefix != DEFAULT
        self._desired.remove(_entry(prefix, None))
        if self.left_out:
            waiting = next(iter(self.left_out))
            route = self._routes.get(waiting)
            self._write(waiting, None, route.action if route else None)


def _entry(prefix: Prefix, action: fy.P4TableAction | None) -> fy.P4TableEntry:
    # As fy.Match makes it, without looking at a hundred thousand names.
    match = fy.Match(destination=prefix) if prefix[1] else fy.Match()
    return fy.P4TableEntry("routes", match=match, action=action)


def _with(levels: Levels, said: Route) -> Levels:
    """Return the routes of a prefix with one that is new.

    Those by gateways that have one metric are one route of several next hops, and the kernel names all of these. Others
    stand beside them, in the order in which they came, unless one takes the place of another.
    """
    level = Level(said.metric, said.protocol, said.path)
    if not levels:
        return (level,)
    same = [each for each in levels if each.metric == said.metric]
    alike = [each for each in same if _is_multipath(each.path) == _is_multipath(said.path)]
    old: Level | None = None
    if said.replaces or _is_multipath(said.path):
        old = next(iter(alike or (same if said.replaces else ())), None)
    if old is None:
        old = next((each for each in same if each.path == said.path), None)
    if old is not None:
        return tuple(level if each is old else each for each in levels)
    return tuple(sorted((*levels, level), key=lambda each: each.metric))


def _is_multipath(path: Path) -> bool:
    return not path.nexthop and any(hop.address for hop in path.hops)


def _without(levels: Levels, said: Route) -> Levels:
    """Return the routes of a prefix without one, or without some of its next hops.

    Where a route takes the place of several next hops, the kernel tells of it first and then that they are gone.
    """
    gone = {(hop.link, hop.address) for hop in said.path.hops}
    left = []
    for level in levels:
        if level.metric == said.metric:
            if level.path == said.path:
                continue
            hops = tuple(hop for hop in level.path.hops if (hop.link, hop.address) not in gone)
            if level.path.hops and not hops:
                continue
            level = level._replace(path=level.path._replace(hops=hops))
        left.append(level)
    return tuple(left)
