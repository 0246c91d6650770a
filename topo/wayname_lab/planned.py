"""What the plan of a lab consists of: routers and hosts, and what each of them has."""

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Interface, IPv6Network

from wayname.hip.esp.suites import SuiteId
from wayname.nptv6 import PrefixMapping
from wayname_lab.model import Advertisement, Delegation, Lab, LabIlnp, LabShim6, Quality

# Of the names that the lab's DNS server tells.
ZONE = "lab.test"


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
    addresses: tuple[IPv6Interface, ...]
    advertise: bool
    virtual_router_id: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedRoute:
    """A static route. Several next hops are a spread; none means that such packets are refused."""

    prefix: IPv6Network
    via: tuple[IPv6Address, ...]


@dataclass(frozen=True, slots=True)
class PlannedProvider:
    """Who gave a site a prefix, and its router."""

    name: str
    prefix: IPv6Network
    via: IPv6Address
    track: IPv6Address | None = None
    is_delegated: bool = False  # by DHCPv6: the prefix is the one that it gives first


@dataclass(frozen=True, slots=True)
class PlannedShim6:
    """Hosts of a VLAN that their edge speaks Shim6 for: addresses, and what proves them."""

    prefixes: tuple[IPv6Network, ...]
    wishes: LabShim6
    hosts: tuple[tuple[IPv6Address, bytes], ...]


@dataclass(frozen=True, slots=True)
class PlannedIlnp:
    """Hosts of a VLAN that their edge speaks ILNP for, or that speak it themselves."""

    prefixes: tuple[IPv6Network, ...]
    wishes: LabIlnp
    mode: str  # as in its configuration


@dataclass(frozen=True, slots=True)
class PlannedNames:
    """The names of a site's hosts, and those of all others."""

    network: str
    hosts: tuple[tuple[IPv6Address, str], ...]
    peers: tuple[tuple[IPv6Address, str], ...]


@dataclass(frozen=True, slots=True)
class PlannedIdentities:
    """A link whose hosts get identities from their edge, and the prefix of those with addresses of their own."""

    interface: str
    prefixes: tuple[IPv6Network, ...]
    mapped: tuple[IPv6Network, ...]
    uplinks: tuple[str, ...]  # interfaces behind which providers advertise prefixes


@dataclass(frozen=True, slots=True)
class PlannedHipEdge:
    """What an edge does for hosts: with those that it speaks for come their names, and whom they may talk to."""

    mode: str
    prefixes: tuple[IPv6Network, ...]
    wishes: LabShim6
    hosts: tuple[tuple[IPv6Address, str], ...] = ()
    peers: tuple[tuple[IPv6Address, IPv6Address], ...] = ()


@dataclass(frozen=True, slots=True)
class RouterPlan:
    """Everything that a router is configured with."""

    name: str
    device_id: int
    is_edge: bool
    ports: tuple[PlannedPort, ...]
    interfaces: tuple[PlannedInterface, ...]
    routes: tuple[PlannedRoute, ...]
    providers: tuple[PlannedProvider, ...] = ()
    shim6: tuple[PlannedShim6, ...] = ()
    identities: tuple[PlannedIdentities, ...] = ()
    configuration: str = ""
    inside: IPv6Network | None = None
    hold: int | None = None
    ilnp: tuple[PlannedIlnp, ...] = ()
    names: PlannedNames | None = None
    hip_edge: PlannedHipEdge | None = None

    def outside(self, address: IPv6Address, provider: str) -> IPv6Address:
        """Return how a provider's world sees an address inside."""
        prefix = next(each.prefix for each in self.providers if each.name == provider)
        return address if self.inside is None else PrefixMapping(self.inside, prefix).out(address)

    def port_to(self, peer: str) -> PlannedPort:
        """Return the port whose other end is there."""
        return next(port for port in self.ports if port.peer == peer)


@dataclass(frozen=True, slots=True)
class PlannedHip:
    """Where a host is whose address is its HIT, and where its peers are, by their HITs."""

    locators: tuple[IPv6Address, ...]
    peers: dict[IPv6Address, tuple[IPv6Address, ...]]
    suite: SuiteId
    rekey: int


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
    mtu: int
    hip: PlannedHip | None = None
    ilnp: bool = False


@dataclass(frozen=True, slots=True)
class AdvertiserPlan:
    """Who says on a provider's link to a site which prefix the site has, and from when to when."""

    name: str
    provider: str
    port: int
    mac: str
    prefix: IPv6Network
    said: Advertisement


@dataclass(frozen=True, slots=True)
class DelegatorPlan:
    """Who delegates a site its prefix on a provider's link to it: first one, then the other."""

    name: str
    provider: str
    port: int
    mac: str
    first: IPv6Network
    second: IPv6Network
    said: Delegation


@dataclass(frozen=True, slots=True)
class Plan:
    """A lab and the configuration of its nodes, by name."""

    lab: Lab
    routers: dict[str, RouterPlan]
    hosts: dict[str, HostPlan]
    advertisers: dict[str, AdvertiserPlan]
    delegators: dict[str, DelegatorPlan]

    def names(self) -> dict[str, str]:
        """Return the hosts' names by their addresses; one that a provider gives is `host@provider`."""
        names = {str(host.address.ip): host.name for host in self.hosts.values()}
        for host in self.hosts.values():
            edge = self.routers[host.edge]
            for provider in edge.providers if edge.inside is not None else ():
                names[str(edge.outside(host.address.ip, provider.name))] = f"{host.name}@{provider.name}"
        return names
