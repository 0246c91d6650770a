"""What a configuration says. `docs/configuration.md` is its reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Interface
from ipaddress import IPv6Network as Network
from pathlib import Path

from wayname.api.address import default_address
from wayname.config.encapsulation.model import EncapsulationConfig, EncapsulationTables
from wayname.config.hip import Hip
from wayname.config.identities import Identities
from wayname.config.ilnp import Ilnp
from wayname.config.limits import Limits
from wayname.config.links import LinkAddress as LinkAddress
from wayname.config.links import Refusal as Refusal
from wayname.config.path_policies import PathPolicy
from wayname.config.schedules import Schedule
from wayname.config.shim6 import Shim6
from wayname.config.translation import Translation
from wayname.wire.mac import Mac


class Target(StrEnum):
    """What kind of switch it is."""

    EMBEDDED = "embedded"
    BMV2 = "bmv2"


@dataclass(frozen=True, slots=True)
class Tls:
    """The files that secure the way to the switch."""

    ca: Path
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class SwitchConfig:
    """Where the switch is, and what it runs; paths that are not given are those of the repository."""

    address: str = "127.0.0.1:9559"
    device_id: int = 1
    target: Target = Target.EMBEDDED
    program: Path | None = None
    p4info: Path | None = None
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """The controller itself."""

    api: str = field(default_factory=lambda: str(default_address()))
    # Whether the API may have an address that other machines reach.
    api_remote: bool = False
    log_level: str = "info"
    log_format: str = "text"
    events: int = 1000
    # Where it writes down what the next controller must know; sessions only.
    state: Path = Path("wayname.state")
    # Where it keeps what was changed while it runs.
    changes: Path | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in seconds."""

    probe: float = 0.25
    station_idle: float = 300.0


@dataclass(frozen=True, slots=True)
class Port:
    """A port, the VLAN of what has no tag there, and the VLANs that are tagged there."""

    number: int
    name: str
    vlan: int | None = None
    tagged: tuple[int, ...] = ()
    mtu: int = 1500
    # Whether routers are behind it; None is known by the VLAN.
    trusted: bool | None = None
    # Stations, and addresses of hosts; None is the share of the tables that is the port's.
    max_stations: int | None = None
    max_addresses: int | None = None
    mac_move_guard: bool = True

    @property
    def vlans(self) -> tuple[int, ...]:
        """All VLANs that the port is a member of."""
        return self.tagged if self.vlan is None else (self.vlan, *self.tagged)


@dataclass(frozen=True, slots=True)
class Interface:
    """The router on a VLAN."""

    vlan: int
    name: str
    mac: Mac
    addresses: tuple[IPv6Interface, ...] = ()
    advertise: bool = False
    source_guard: bool = True
    nd_inspection: bool = True
    ra_guard: bool = True
    dhcpv6_guard: bool = True
    # Where hosts have addresses beside the prefixes of `addresses`.
    source_prefixes: tuple[Network, ...] = ()

    @property
    def link_local(self) -> IPv6Address:
        """Its address on the link: the one that is given, or the MAC's."""
        given = next((address.ip for address in self.addresses if address.ip.is_link_local), None)
        return given or self.mac.link_local()

    @property
    def global_addresses(self) -> tuple[IPv6Interface, ...]:
        """Its addresses that others may reach from elsewhere."""
        return tuple(address for address in self.addresses if not address.ip.is_link_local)

    @property
    def error_address(self) -> IPv6Address:
        """The address that its ICMPv6 errors come from."""
        return next((address.ip for address in self.global_addresses), self.link_local)

    def owns(self, address: IPv6Address) -> bool:
        """Whether an address is its own."""
        return address == self.link_local or any(own.ip == address for own in self.addresses)

    def is_on_link(self, address: IPv6Address) -> bool:
        """Whether an address is, or could be, a neighbour's."""
        return address.is_link_local or any(address in own.network for own in self.global_addresses)


@dataclass(frozen=True, slots=True)
class StaticNeighbour:
    """A neighbour whose station and port nothing that arrives can change."""

    at: LinkAddress
    mac: Mac
    port: int


@dataclass(frozen=True, slots=True)
class Route:
    """A static route: by next hops, each with its weight, or nowhere."""

    prefix: Network
    via: tuple[tuple[LinkAddress, int], ...] = ()
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Provider:
    """Who gave the site a prefix: what bears an address of it leaves by this provider (RFC 3704)."""

    name: str
    prefix: Network
    via: tuple[tuple[LinkAddress, int], ...]


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of one switch."""

    switch: SwitchConfig = field(default_factory=SwitchConfig)
    controller: ControllerConfig = field(default_factory=ControllerConfig)
    timing: Timing = field(default_factory=Timing)
    limits: Limits = field(default_factory=Limits)
    ports: tuple[Port, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    routes: tuple[Route, ...] = ()
    providers: tuple[Provider, ...] = ()
    shim6: tuple[Shim6, ...] = ()
    translations: tuple[Translation, ...] = ()
    encapsulation: EncapsulationConfig = field(default_factory=EncapsulationConfig)
    identities: Identities | None = None
    ilnp: Ilnp | None = None
    hip: Hip | None = None
    schedules: tuple[Schedule, ...] = ()
    path_policies: tuple[PathPolicy, ...] = ()
    static_neighbours: tuple[StaticNeighbour, ...] = ()
    written: EncapsulationTables = field(default_factory=dict, repr=False)

    @property
    def vlans(self) -> tuple[int, ...]:
        """All VLANs that a port is a member of, in order."""
        return tuple(sorted({vlan for port in self.ports for vlan in port.vlans}))

    def members(self, vlan: int) -> tuple[Port, ...]:
        """Return the ports of a VLAN."""
        return tuple(port for port in self.ports if vlan in port.vlans)

    def port(self, number: int) -> Port | None:
        """Return a port by its number."""
        return next((port for port in self.ports if port.number == number), None)

    def interface(self, vlan: int) -> Interface | None:
        """Return the router's interface on a VLAN."""
        return next((interface for interface in self.interfaces if interface.vlan == vlan), None)
