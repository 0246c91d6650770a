"""What the kernel of the router's interfaces says, in the tables: addresses, neighbours, next hops and routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from wayname.config.links import LinkAddress
from wayname.config.model import Config
from wayname.edge.boundary import KernelChanges, Severity
from wayname.edge.interfaces import answered_addresses
from wayname.edge.kernel.paths import Paths
from wayname.edge.kernel.route_groups import RouteGroups
from wayname.edge.kernel.routes import KernelRoutes, Prefix
from wayname.edge.next_hops import Cause
from wayname.edge.outputs import Outputs
from wayname.edge.routes import Routes
from wayname.netlink.messages import Address, Link, Message, Neighbour, NeighbourState, Nexthop, Route
from wayname.pipeline import entries
from wayname.pipeline.entries import MAIN_ROUTES
from wayname.wire.mac import Mac


@dataclass(slots=True)
class _Named:
    links: set[int] = field(default_factory=set)
    objects: set[int] = field(default_factory=set)
    addresses: set[tuple[int, int]] = field(default_factory=set)


class KernelMirror:
    """Takes what netlink tells."""

    def __init__(
        self,
        config: Config,
        routes: Routes,
        tables: Iterable[int],
        sizes: dict[str, int],
        outputs: Outputs,
        on_neighbour: Callable[[LinkAddress, Mac, float], None],
        on_change: Callable[[float], None],
    ) -> None:
        devices = config.linux.interfaces if config.linux else ()
        ports = ((each.name, config.port(each.port)) for each in devices)
        self._paths = Paths({name: port.vlan for name, port in ports if port and port.vlan is not None})
        self._config = config
        self._static = routes
        self._outputs = outputs
        self._on_neighbour = on_neighbour
        self._on_change = on_change
        self._tables = (MAIN_ROUTES, *tables)
        desired = outputs.desired
        taken = _taken(config)
        self.routes = KernelRoutes(
            self._paths,
            routes.next_hops,
            lambda default: RouteGroups(routes.next_hops, routes.groups, sizes["ecmp_groups"], default, desired),
            routes.default,
            taken,
            # The default route always has room.
            sizes["routes"] - len(taken) - 1,
            desired,
        )
        self._down: set[int] = set()
        self._failed: set[tuple[int, int]] = set()
        self._links: dict[int, Link] = {}
        self._addresses: dict[tuple[int, int], Address] = {}
        # While the kernel names all it has, what it named so far: what it leaves out is gone at the end.
        self._named: _Named | None = None
        self._is_other = False
        self._told_full = False

    def changed(self, changes: KernelChanges, now: float) -> None:
        """Take what the kernel has or lost."""
        if changes.begins:
            self._begin()
        for said in changes.messages:
            match said:
                case Route():
                    self._look_again(now)
                    self.routes.take(said)
                case Link():
                    self._link(said)
                case Nexthop():
                    self._object(said)
                case Neighbour():
                    self._neighbour(said, now)
                case Address():
                    self._address(said)
        if changes.ends:
            self._end()
        self._look_again(now)
        self._say_full(now)

    def restated(self) -> KernelChanges:
        """Return all that the kernel is known to have, for an edge that takes the place of this one."""
        neighbours = (Neighbour(*at, 0, NeighbourState.FAILED, False) for at in self._failed)
        said: list[Message] = [*self._links.values(), *self._addresses.values(), *self._paths.objects.values()]
        return KernelChanges([*said, *neighbours, *self.routes.restated()], begins=True, ends=True)

    def _look_again(self, now: float) -> None:
        """Let groups, and whoever chooses by next hops, follow what changed; not before all is known that there is."""
        if self._named is not None or not self._is_other:
            return
        self._is_other = False
        self.routes.refresh()
        changed = [hop for hop in list(self._static.next_hops) if self._judge(hop)]
        # Whoever has to know looks for itself when the switch comes.
        if changed and self._outputs.connected:
            self._on_change(now)

    def _judge(self, hop: LinkAddress) -> bool:
        """Use a next hop unless the link has no carrier, or the kernel got no answer; return whether that is new."""
        before = self._static.is_down(hop)
        index = next((index for index, vlan in self._paths.links.items() if vlan == hop.vlan), None)
        if index is not None:
            self._static.set_down(hop, index in self._down, Cause.LINK)
            self._static.set_down(hop, (index, int(hop.address)) in self._failed, Cause.NEIGHBOUR)
        return self._static.is_down(hop) != before

    def _begin(self) -> None:
        self.routes.begin()
        self._named = _Named()
        self._down.clear()
        self._failed.clear()

    def _end(self) -> None:
        self.routes.end()
        named, self._named = self._named, None
        if named is not None:
            for index in self._links.keys() - named.links:
                self._link(self._links[index]._replace(is_gone=True))
            for number in self._paths.objects.keys() - named.objects:
                del self._paths.objects[number]
            for key in self._addresses.keys() - named.addresses:
                self._address(self._addresses[key]._replace(is_gone=True))
        self._is_other = True

    def _link(self, said: Link) -> None:
        vlan = None if said.is_gone else self._paths.vlan_by_name.get(said.name)
        self._links[said.number] = said
        if said.is_gone:
            del self._links[said.number]
        self._paths.links.pop(said.number, None)
        self._down.discard(said.number)
        if vlan is not None:
            self._paths.links[said.number] = vlan
            if not said.up:
                self._down.add(said.number)
        if self._named:
            self._named.links.add(said.number)
        self._is_other = True

    def _object(self, said: Nexthop) -> None:
        if said.is_gone:
            self._paths.objects.pop(said.number, None)
        else:
            self._paths.objects[said.number] = said
        if self._named:
            self._named.objects.add(said.number)
        self._is_other = True

    def _neighbour(self, said: Neighbour, now: float) -> None:
        key = said.link, said.address
        self._is_other = True
        if said.state & NeighbourState.FAILED and not said.is_gone:
            self._failed.add(key)
            return
        self._failed.discard(key)
        hop = self._paths.hop(*key)
        if (
            hop
            and said.mac
            and said.state & NeighbourState.USABLE
            and not said.is_gone
            and not hop.address.is_multicast
        ):
            self._on_neighbour(hop, Mac(said.mac), now)

    def _address(self, said: Address) -> None:
        """Give Linux what is for an address that it alone has on a link of ours; it answers for it there."""
        key = said.link, said.address
        if self._named:
            self._named.addresses.add(key)
        if said.is_gone:
            self._addresses.pop(key, None)
        else:
            self._addresses[key] = said
        vlan, address = self._paths.links.get(said.link), IPv6Address(said.address)
        interface = None if vlan is None else self._config.interface(vlan)
        if interface is None or address in answered_addresses(interface):
            return
        change = self._outputs.desired.remove if said.is_gone else self._outputs.desired.put
        for table in () if address.is_link_local else self._tables:
            change(entries.route_local(address, table))

    def _say_full(self, now: float) -> None:
        if bool(self.routes.left_out) != self._told_full:
            self._told_full = not self._told_full
            count = len(self.routes.left_out)
            text = (
                f"no room for {count} of {len(self.routes)} routes; shorter prefixes serve"
                if count
                else "all have room"
            )
            severity = Severity.WARNING if count else Severity.INFO
            self._outputs.event(now, "routes.full" if count else "routes.fit", "routes", text, severity)


def _taken(config: Config) -> set[Prefix]:
    """Return the prefixes that the configuration speaks for: its routes, and what is on its links."""
    networks = [route.prefix for route in config.routes]
    for interface in config.interfaces:
        networks += [own.network for own in interface.global_addresses]
    own = [address for interface in config.interfaces for address in answered_addresses(interface)]
    return {(int(each.network_address), each.prefixlen) for each in networks} | {(int(each), 128) for each in own}
