"""Which neighbour a packet is passed to, when it carries something or is for a segment of this node.

The switch asks for a neighbour with the packet as it arrived; what it became, it found by its tables. Here is the same
way through what those were made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Address, IPv6Network

from wayname.config.encapsulation.limits import next_destination
from wayname.config.encapsulation.model import Behaviour, Encapsulation, EncapsulationConfig, LocalSid, VrfRoute
from wayname.config.links import LinkAddress
from wayname.edge.prefix_map import PrefixMap
from wayname.edge.routes import Routes
from wayname.wire import ipv6
from wayname.wire.segments import SegmentHeader
from wayname.wire.source_routes import SourceRouteHeader

IN_IPV6 = 41
_TUNNEL_ENDS = (Behaviour.END_DT6, Behaviour.END_DT46)


class EncapsulationNextHops:
    """The ways of an `EncapsulationConfig`; `never_bound` are prefixes whose packets carry nothing."""

    def __init__(self, current: EncapsulationConfig, never_bound: Iterable[IPv6Network], routes: Routes) -> None:
        self._current = current
        self._routes = routes
        self._segments: PrefixMap[LocalSid] = PrefixMap()
        self._carried: PrefixMap[Encapsulation] = PrefixMap()
        self._tables: dict[int, PrefixMap[VrfRoute]] = {}
        for segment in current.segments:
            self._segments.add(segment.prefix, segment)
        for prefix in never_bound:
            self._carried.add(prefix, Encapsulation(prefix))
        for carried in current.encapsulations:
            self._carried.add(carried.prefix, carried)
        for route in current.table_routes:
            if isinstance(route.prefix, IPv6Network):
                self._tables.setdefault(route.table, PrefixMap()).add(route.prefix, route)

    def neighbours_for(self, packet: ipv6.Packet) -> list[LinkAddress]:
        """Return the neighbours that a packet may be passed to."""
        destination = packet.destination
        segment = self._segments.longest(destination)
        if segment is not None:
            if segment.via is not None:
                return [segment.via]
            if segment.policy:
                return self._routes.neighbours_for(self._current.policy[segment.policy].segments[0])
            behind = _behind(packet, segment)
            if behind is None:
                return []
            destination = behind
            if segment.route_table:
                return self._by_table(segment.route_table, destination)
        carried = self._carried.longest(destination)
        if carried is not None:
            destination = next_destination(carried, destination, self._current)
        return self._routes.neighbours_for(destination)

    def _by_table(self, table: int, destination: IPv6Address) -> list[LinkAddress]:
        route = self._tables[table].longest(destination) if table in self._tables else None
        if route is None or route.refusal is not None:
            return []
        return [route.via or LinkAddress(route.vlan or 0, destination)]


def _behind(packet: ipv6.Packet, segment: LocalSid) -> IPv6Address | None:
    """Return where a packet goes from a segment or hop: to the next one, or where the packet inside wants to."""
    if segment.behaviour is Behaviour.SOURCE_ROUTE_HOP:
        route = SourceRouteHeader.find(packet)
        return route.next_address if route is not None else None
    header = SegmentHeader.find(packet)
    if segment.behaviour not in _TUNNEL_ENDS and header is not None and header.next_segment is not None:
        return header.next_segment
    upper = packet.upper_layer()
    return ipv6.Packet.decode(upper.data).destination if upper.number == IN_IPV6 else None
