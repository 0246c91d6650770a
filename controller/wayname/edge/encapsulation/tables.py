"""Keeps the tables of what packets carry as the configuration, or whoever changes it, wants them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from ipaddress import IPv6Address, IPv6Network

from wayname.config.encapsulation.compression import compress
from wayname.config.encapsulation.model import (
    Behaviour,
    Encapsulation,
    EncapsulationConfig,
    HmacUse,
    LocalSid,
    SrPolicy,
    VrfRoute,
)
from wayname.config.links import Refusal
from wayname.config.model import Config
from wayname.edge.desired_state import Key, key_of
from wayname.edge.encapsulation.numbers import Numbers
from wayname.edge.encapsulation.proofs import proof_of
from wayname.edge.interfaces import answered_addresses
from wayname.edge.outputs import Outputs
from wayname.edge.prefix_map import PrefixMap
from wayname.edge.routes import Routes
from wayname.p4_constants import CPU_PORT, IOAM_TRACES, SOURCE_ROUTES, SR_POLICIES
from wayname.pipeline import encapsulation as builders
from wayname.pipeline import entries
from wayname.pipeline.entries import MAIN_ROUTES, Entity

# Packets a second of a port. Each is one member of a digest.
EXPORT_RATE = 2000

TABLES = frozenset(
    {
        *(
            "sids",
            "sr_policies",
            "hmacs",
            *builders.EXTENSIONS,
            "source_route_hops",
            *builders.OWN_HOPS,
            "hmac_rules",
            "encapsulations",
        ),
        *("ioam_traces", "ioam_namespaces", "export_rules", "vrf_routes", "ipv4_vrf_routes"),
    }
)

LINK_LOCAL = IPv6Network("fe80::/10")


class EncapsulationTables:
    """Wants the entries of an `EncapsulationConfig`; a new one replaces it without a packet lost.

    A policy's number is made of its content, since it may have several entries: a changed one is another, and prefixes
    are led to it when it is there. What has one entry has a number made of its name.
    """

    def __init__(self, config: Config, routes: Routes, provider_tables: Collection[int], outputs: Outputs) -> None:
        self._config = config
        self._routes = routes
        self._route_tables = (MAIN_ROUTES, *provider_tables)
        self._outputs = outputs
        self._policies = Numbers(SR_POLICIES - 1)
        self._traces = Numbers(IOAM_TRACES - 1)
        self._source_routes = Numbers(SOURCE_ROUTES - 1)
        self._wanted: dict[Key, Entity] = {}
        self._epoch: int | None = None
        self.current = EncapsulationConfig()

    def set(self, current: EncapsulationConfig) -> None:
        """Want what a configuration says, and nothing of what an earlier one said."""
        self.current = current
        self._want()

    def set_epoch(self, epoch: int | None) -> None:
        """Say when the switch's clock was 0, as POSIX in microseconds; while that is not known no trace gets data."""
        self._epoch = epoch
        self._want()

    def trace_number(self, name: str) -> int:
        """Return the number of a trace that is wanted."""
        return self._traces.of(name)

    def _want(self) -> None:
        wanted = {key_of(entity): entity for entity in self._entities()}
        for key, entity in self._wanted.items():
            if key not in wanted:
                self._outputs.desired.remove(entity)
        for entity in wanted.values():
            self._outputs.desired.put(entity)
        self._wanted = wanted

    def _entities(self) -> Iterator[Entity]:
        current = self.current
        policies = self._policies.assign(map(_content, current.policies))
        traces = self._traces.assign(trace.name for trace in current.traces)
        for policy in current.policies:
            number = policies[_content(policy)]
            yield from builders.policy(number, policy.source, policy.segments, bool(policy.secret))
            if policy.secret:
                yield builders.proof(number, policy.key_id, proof_of(policy), policy.form)
        for trace in current.traces:
            yield builders.trace(traces[trace.name], trace)
        for segment in current.segments:
            yield from self._segment(segment, policies)
        if any(segment.behaviour is Behaviour.SOURCE_ROUTE_HOP for segment in current.segments):
            yield from (builders.own_hop(table, prefix) for table in builders.OWN_HOPS for prefix in self._own())
        for route in current.table_routes:
            yield self._table_route(route)
        yield from self._namespaces()
        yield from self._encapsulations(policies, traces)

    def _segment(self, segment: LocalSid, policies: dict[str, int]) -> Iterator[Entity]:
        nexthop = self._routes.number(segment.via) if segment.via else 0
        policy = policies[_content(self.current.policy[segment.policy])] if segment.policy else 0
        yield builders.segment(segment, nexthop, policy)
        if segment.hmac is not HmacUse.IGNORE:
            yield builders.hmac_rule(segment)
        if segment.prefix.prefixlen == 128:
            # Without a routing header it is an address of the router, which answers pings and its neighbours.
            address = segment.prefix.network_address
            for table in self._route_tables:
                yield entries.route_local(address, table)
            for interface in self._config.interfaces:
                if interface.is_on_link(address):
                    yield entries.own_address(interface.vlan, address)

    def _table_route(self, route: VrfRoute) -> Entity:
        if route.via is not None:
            number = self._routes.number(route.via)
            return builders.table_route(route.table, route.prefix, "route_nexthop", nexthop=number)
        if route.vlan is not None:
            return builders.table_route(route.table, route.prefix, "route_connected", vlan=route.vlan)
        action = "route_prohibited" if route.refusal is Refusal.PROHIBITED else "route_discard"
        return builders.table_route(route.table, route.prefix, action)

    def _namespaces(self) -> Iterator[Entity]:
        if any(known.export for known in self.current.namespaces):
            for port in sorted({port for known in self.current.namespaces if known.export for port in known.ports}):
                yield entries.rate("export_meter", port, EXPORT_RATE)
        if self._epoch is None:
            return
        for known in self.current.namespaces:
            for port in (CPU_PORT, *known.ports):
                yield builders.namespace(port, known, self._epoch)
            for port in known.ports if known.export else ():
                yield builders.export_rule(port, known.number, known.node, known.data, self._epoch)

    def _encapsulations(self, policies: dict[str, int], traces: dict[str, int]) -> Iterator[Entity]:
        current = self.current
        routes = self._source_routes.assign(
            self._source_route(carried) for carried in current.encapsulations if carried.source_route
        )
        for carried in current.encapsulations:
            policy = policies[_content(current.policy[carried.policy])] if carried.policy else 0
            trace = traces[carried.trace] if carried.trace else 0
            number = routes[self._source_route(carried)] if carried.source_route else 0
            if number:
                route = current.source_route[carried.source_route]
                compressed = compress(route, carried.prefix)
                yield builders.source_route(number, route.hops[0], len(route.hops), compressed)
            yield builders.encapsulation(carried, policy, trace, number)
        bound: PrefixMap[IPv6Network] = PrefixMap()
        for carried in current.encapsulations:
            bound.add(carried.prefix, carried.prefix)
        for prefix in self.never_bound():
            around = [each for each in bound.all(prefix.network_address) if each.prefixlen <= prefix.prefixlen]
            if around and around[0] != prefix:
                yield builders.nothing(prefix)

    def _own(self) -> frozenset[IPv6Network]:
        """Return the router's addresses, and its segments."""
        addresses = {_alone(one) for interface in self._config.interfaces for one in answered_addresses(interface)}
        return frozenset(addresses.union(segment.prefix for segment in self.current.segments))

    def _source_route(self, carried: Encapsulation) -> str:
        """Name a source route as the packets to a prefix carry it: what they leave out depends on the prefix."""
        route = self.current.source_route[carried.source_route]
        return f"{route.name} {compress(route, carried.prefix).last_left_out}"

    def never_bound(self) -> Iterator[IPv6Network]:
        """Yield what a shorter prefix does not mean: the router itself, its segments, and its links."""
        yield LINK_LOCAL
        for interface in self._config.interfaces:
            yield from map(_alone, answered_addresses(interface))
            yield from (own.network for own in interface.global_addresses)
        yield from (segment.prefix for segment in self.current.segments)


def _content(policy: SrPolicy) -> str:
    proof = proof_of(policy).hex() if policy.secret else ""
    return f"{policy.source} {proof} {','.join(map(str, policy.segments))}"


def _alone(address: IPv6Address) -> IPv6Network:
    return IPv6Network(address)
