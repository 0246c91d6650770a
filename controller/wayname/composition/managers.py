"""The managers of an edge, made and tied to one another."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv6Address, IPv6Network
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from finsy import P4Schema

from wayname.composition.protocols import PROTOCOLS
from wayname.config.model import Config, LinkAddress
from wayname.config.provider import Phase
from wayname.edge.boundary import Input, Json, VrrpRole
from wayname.edge.captures import Captures
from wayname.edge.encapsulation.manager import Encapsulation
from wayname.edge.faults import Faults
from wayname.edge.fdb import Fdb
from wayname.edge.first_hop_security.bindings import Bindings
from wayname.edge.first_hop_security.host_ports import HostPorts
from wayname.edge.first_hop_security.session_hosts import SessionHosts
from wayname.edge.hash_keys import HashKeys
from wayname.edge.identities.identities import HostIdentities
from wayname.edge.interfaces import want_interfaces
from wayname.edge.kernel.mirror import KernelMirror
from wayname.edge.links import Links
from wayname.edge.linux import want_linux
from wayname.edge.liveness import Liveness
from wayname.edge.neighbours import Neighbours
from wayname.edge.nptv6.nptv6 import Nptv6Manager
from wayname.edge.outputs import Outputs
from wayname.edge.ports import want_ports
from wayname.edge.provider_prefixes.manager import ProviderPrefixes
from wayname.edge.provider_reachability import ProviderReachability
from wayname.edge.providers import Providers
from wayname.edge.punt_limits import want_punt_limits
from wayname.edge.routers import Routers
from wayname.edge.routes import Routes
from wayname.edge.simple_security import SimpleSecurityManager
from wayname.edge.tracking.manager import ProviderTracking
from wayname.edge.vrrp import Vrrp
from wayname.identity.locators import ProvableLocators
from wayname.pipeline.punts import protocol_punt
from wayname.session.context import SessionContext
from wayname.session.egress_selection import EgressSelection
from wayname.session.numbers import SessionNumbers
from wayname.session.preferences import PathPreferences
from wayname.session.protocol import Protocol, SessionManager
from wayname.session.scheduling.path_estimates import PathEstimates
from wayname.session.scheduling.schedules import Schedules
from wayname.session.tables import want_source_policy_routes
from wayname.timers import Timed
from wayname.wire.mac import Mac

_Manager = TypeVar("_Manager", bound=SessionManager)


class Managers:
    """Makes the managers of an edge and ties them to one another."""

    def __init__(
        self,
        config: Config,
        schema: P4Schema,
        rng: random.Random,
        remembered: Mapping[str, Json] | None = None,
        key: RSAPrivateKey | None = None,
        keys: Mapping[str, object] | None = None,
        protocols: Sequence[Protocol] = PROTOCOLS,
        before: Managers | None = None,
        role: VrrpRole = VrrpRole.ACTIVE,
    ) -> None:
        """Make them; `before` has another configuration: they go on with what that knows of providers and began."""
        self.config = config
        self.protocols = protocols
        self._unfinished = before.unfinished() if before else []
        outputs = self._outputs = Outputs()
        self.faults = Faults(outputs)
        # Packets that the switch passed on and that no message could be read of, by reason.
        self.undecodable: Counter[int] = Counter()
        links = self._links = Links(config, outputs)
        self.vrrp = Vrrp(config, role, links, outputs)
        want_ports(config, outputs.desired)
        want_linux(config, outputs.desired)
        spoken = [protocol for protocol in protocols if protocol.is_configured(config)]
        messages = [message for protocol in spoken for message in protocol.messages]
        # What bounds messages comes before what brings them.
        want_punt_limits(config, [message.reason for message in messages], outputs.desired)
        for message in messages:
            outputs.desired.put(
                protocol_punt(
                    message.reason,
                    message.reason,
                    message.protocols,
                    next_header=message.next_header,
                    udp_port=message.udp_port,
                    icmpv6_type=message.icmpv6_type,
                )
            )
        providers = Providers(config)
        want_interfaces(config, providers.tables.values(), outputs.desired)
        self.routes = Routes(config, providers, outputs)
        sizes = {name: schema.tables[name].size for name in ("fdb", "neighbours", "source_bindings")}
        addresses = min(sizes["neighbours"], sizes["source_bindings"])
        self.host_ports = HostPorts(config, self.routes.next_hops, sizes["fdb"], addresses, outputs)
        self.neighbours = Neighbours(
            config, sizes["neighbours"], self.routes.next_hops, self.host_ports, links, outputs, rng
        )
        self._session_hosts = SessionHosts(self._hosts_in_sessions)
        self.bindings = Bindings(
            config, self.host_ports, links, outputs, self._session_hosts.has, self.neighbours.rebind
        )
        self.fdb = Fdb(config, sizes["fdb"], self.host_ports, links, outputs, self._addresses_of, self._station_moved)
        self.reachability = ProviderReachability(config.providers, self.routes)
        remembered = remembered or {}
        asked = before.provider_prefixes if before else None
        self.provider_prefixes: ProviderPrefixes = ProviderPrefixes(config, links, outputs, rng, remembered, asked)
        egress = EgressSelection(config, providers, self.reachability, self.routes, self.neighbours, links)
        self.tracking = ProviderTracking(
            config, self.reachability, egress.send, outputs, rng, remembered, self._providers_changed
        )
        # Numbers begin at 1.
        numbers = SessionNumbers(schema.tables["identities"].size - 1, remembered, outputs)
        self.schedules = Schedules(config.schedules, remembered, outputs, self._arrived)
        preferences = PathPreferences(config.path_policies, providers.of)
        self.translation = Nptv6Manager(config, self.reachability, outputs, remembered)
        self.simple_security = SimpleSecurityManager(config, remembered, outputs)
        want_source_policy_routes(config, providers, outputs.desired)
        context = SessionContext(
            config,
            numbers,
            providers,
            egress,
            self.schedules,
            preferences,
            self.translation,
            outputs,
            rng,
            remembered,
            keys or {},
        )
        self.spoken = [(protocol, tuple(protocol.managers(context))) for protocol in spoken]
        self.managers = tuple(manager for _, managers in self.spoken for manager in managers)
        self._punt_handlers = [manager.punts for manager in self.managers]
        self._input_handlers = [manager.inputs for manager in self.managers]
        self._passed_on = frozenset[int]().union(*(protocol.passed_on for protocol in protocols))
        self.liveness = Liveness(
            config, self.routes, self.neighbours, self.fdb, links, outputs, rng, self._providers_changed
        )
        self.kernel = self._kernel(providers, schema) if config.linux and config.linux.routes else None
        self.routers = Routers(config, links, outputs, rng, self.provider_prefixes)
        self.encapsulation = Encapsulation(config, self.routes, providers.tables.values(), links, outputs)
        collector = self.encapsulation.traces.collector
        vlans = [interface.vlan for interface in config.interfaces]
        self.figures = PathEstimates(self.schedules, collector, vlans, config.switch.device_id, outputs, rng)
        self._captures = Captures(outputs)
        self._hash_keys = HashKeys(outputs.desired, rng)
        self._deprecated: tuple[IPv6Network, ...] = ()
        self.identities: HostIdentities | None = None
        if config.identities and key:
            self.identities = HostIdentities(
                config,
                config.identities,
                key,
                links,
                self.bindings,
                outputs,
                rng,
                remembered,
                self._serve,
                self._deprecate,
            )
        self._timed = self._managers_with_timers()

    def _kernel(self, providers: Providers, schema: P4Schema) -> KernelMirror:
        sizes = {name: schema.tables[name].size for name in ("routes", "ecmp_groups")}
        kernel = KernelMirror(
            self.config,
            self.routes,
            providers.tables.values(),
            sizes,
            self._outputs,
            self._kernel_neighbour,
            self._providers_changed,
        )
        self.routes.beside = kernel.routes
        return kernel

    def manager(self, kind: type[_Manager]) -> _Manager | None:
        """Return the manager of this kind, if its protocol is configured."""
        return next((manager for manager in self.managers if isinstance(manager, kind)), None)

    def unfinished(self) -> list[Input]:
        """Return what began and is not finished, for an edge that takes the place of this one."""
        return [*self._unfinished, *(input for manager in self.managers for input in manager.unfinished())]

    def _managers_with_timers(self) -> tuple[tuple[str, Timed], ...]:
        """Return them in the order in which they are called, and how faults of their timers are counted."""
        managers: tuple[Timed | None, ...] = (
            self.vrrp,
            self.liveness,
            self.tracking,
            self.fdb,
            self.bindings,
            self.neighbours,
            self.provider_prefixes,
            self.routers,
            self.encapsulation,
            self.identities,
            *self.managers,
            self.translation,
            self.figures,
        )
        return tuple((type(manager).__name__, manager) for manager in managers if manager is not None)

    def _kernel_neighbour(self, at: LinkAddress, mac: Mac, now: float) -> None:
        port = self.fdb.port_of(at.vlan, mac)
        if port is not None:
            self.neighbours.resolved(at, mac, port, now)

    def _addresses_of(self, vlan: int, mac: Mac) -> list[IPv6Address]:
        return self.bindings.addresses_of(vlan, mac) or self.neighbours.addresses_of(vlan, mac)

    def _station_moved(self, vlan: int, mac: Mac, port: int, now: float) -> None:
        self.bindings.station_moved(vlan, mac, port, now)
        self.neighbours.moved(vlan, mac, port, now)

    def _hosts_in_sessions(self) -> Iterator[IPv6Address]:
        """Yield the addresses, as their hosts use them, that sessions are of."""
        for manager in self.managers:
            for identity in manager.hosts():
                yield (self.identities and self.identities.host(identity)) or identity

    def _providers_changed(self, now: float) -> None:
        up = {each.name: self.reachability.has_next_hop(each) for each in self.config.providers}
        self.provider_prefixes.next_hops_changed(up, now)
        self.translation.next_hops_changed(now)
        for manager in self.managers:
            manager.next_hops_changed(now)

    def _arrived(self, name: str, now: float) -> None:
        """A peer said that packets come by a provider: of one with several next hops nobody knows by which."""
        via = next((each.via for each in self.config.providers if each.name == name), ())
        if len(via) == 1:
            self.liveness.arrived(via[0][0], now)

    def _serve(self, host: ProvableLocators, now: float) -> None:
        for manager in self.managers:
            manager.serve(host, now)

    def _deprecate(self, prefixes: Iterable[IPv6Network], now: float) -> None:
        self._deprecated = tuple(prefixes)
        self._tell_deprecated(now)

    def _tell_deprecated(self, now: float) -> None:
        old = (each.prefix for each in self.config.providers if each.phase is not Phase.PREFERRED)
        deprecated = frozenset((*self._deprecated, *old))
        for manager in self.managers:
            manager.deprecate(deprecated, now)
