"""What a configuration says. `docs/configuration.md` is its reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Interface, IPv6Address, IPv6Interface
from ipaddress import IPv6Network as Network
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from wayname.config.api import ApiConfig
from wayname.config.api_address import HOST_AND_PORT
from wayname.config.checks import (
    FarAddress,
    FilePath,
    HopWeight,
    Name,
    NextHop,
    check_path,
    kept_file,
    network,
    prefix,
    weighted_hops,
)
from wayname.config.encapsulation.model import EncapsulationConfig, EncapsulationTables
from wayname.config.fleet import Fleet
from wayname.config.identities import Identities
from wayname.config.limits import Limits
from wayname.config.links import LinkAddress as LinkAddress
from wayname.config.links import Refusal as Refusal
from wayname.config.linux import Linux
from wayname.config.nptv6 import Nptv6
from wayname.config.path_policies import PathPolicy
from wayname.config.provider import Learned, PrefixSource, WrittenProvider
from wayname.config.provider import Provider as Provider
from wayname.config.schedules import Schedule
from wayname.config.simple_security import Pinhole, SimpleSecurity
from wayname.config.tables import WORD, Site, Table, between, mistake, parsed, quoted, site_of
from wayname.config.tls import Tls
from wayname.config.vrrp import MOST_VIRTUAL_ROUTER, Vrrp
from wayname.wire.domains import is_domain
from wayname.wire.mac import Mac
from wayname.wire.vrrp import virtual_mac

MOST_PORT = 509  # 510 is the controller's, 511 drops
# As the tables hold, and so no limit.
MOST_STATIONS = 16_384
MOST_ADDRESSES = 32_768


def _check_vlan(number: int) -> int:
    if not 1 <= number <= 4094:
        raise mistake(f"is {number!r}", "write a VLAN from 1 to 4094")
    return number


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Interface(text)
    except ValueError:
        return False
    return True


def _interface_address(text: str) -> IPv6Interface:
    if _is_ipv4(text):
        raise mistake(f"{text} is IPv4, which the edge does not route", "give it to Linux's device: see [linux]")
    if "/" not in text:
        raise mistake(f"{text!r} has no prefix length", f"write {text}/64")
    address = IPv6Interface(text)
    if address.ip.is_multicast or address.ip.is_unspecified or address.ip.is_loopback:
        raise ValueError("no interface can have it")
    if address.ip.ipv4_mapped is not None:
        raise ValueError("IPv4 in IPv6 is never on a link")
    if address.ip.scope_id is not None:
        raise ValueError("the interface is the one it stands in")
    return address


def _station(text: str) -> Mac:
    mac = Mac.parse(text)
    if mac.is_group or not mac.value:
        raise ValueError("it names no single station")
    return mac


def _source_prefix(text: str) -> Network:
    prefix = network(text)
    if prefix.is_multicast:
        raise ValueError("it is of groups")
    return prefix


Vlan = Annotated[int, AfterValidator(_check_vlan)]
Station = Annotated[Mac, parsed(_station, "write it as 02:00:00:00:00:01")]
Prefix = Annotated[Network, prefix("2001:db8::/32")]
SourcePrefix = Annotated[Network, parsed(_source_prefix, "write the PREFIX/LENGTH of hosts, as in fd00:1::/64")]
InterfaceAddress = Annotated[IPv6Interface, parsed(_interface_address, "write ADDRESS/LENGTH as in 2001:db8::1/64")]


def _domain(name: str) -> str:
    if not is_domain(name):
        raise mistake(f"is {name!r}", "write a domain as in example.org")
    return name


Domain = Annotated[str, AfterValidator(_domain)]


class Target(StrEnum):
    """What kind of switch it is."""

    EMBEDDED = "embedded"
    BMV2 = "bmv2"


def _read_address(text: str) -> str:
    if text.startswith("unix:/"):
        return check_path(text)
    found = HOST_AND_PORT.fullmatch(text)
    if not found or not 0 < int(found["port"]) < 65536:
        raise mistake(f"is {text!r}", 'write HOST:PORT, an IPv6 address in brackets, or "unix:/PATH"')
    return text


SwitchAddress = Annotated[str, AfterValidator(_read_address)]


def _read_socket(text: str) -> str:
    if not text.startswith("unix:/"):
        raise mistake(f"is {text!r}", 'write "unix:/PATH", the path that --admin of wayname-switch has')
    return check_path(text)


SocketAddress = Annotated[str, AfterValidator(_read_socket)]


class SwitchConfig(Table):
    """Where the switch is, and what it runs; paths that are not given are those of the repository."""

    address: SwitchAddress = "127.0.0.1:9559"
    device_id: Annotated[int, between(1, 2**32 - 1)] = 1
    admin: SocketAddress | None = None
    target: Annotated[Target, WORD] = Target.EMBEDDED
    program: FilePath | None = None
    p4info: FilePath | None = None
    ca: FilePath | None = None
    certificate: FilePath | None = None
    key: FilePath | None = None

    @property
    def buffers(self) -> bool:
        """Whether its program has packet buffers (docs/packet-buffer.md)."""
        return self.target is Target.EMBEDDED and self.program is None and self.p4info is None

    @property
    def tls(self) -> Tls | None:
        """How the way to it is secured."""
        return Tls(self.ca, self.certificate, self.key) if self.ca else None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.ca is None and (self.certificate or self.key):
            mend = "name the authority of the switch's certificate beside certificate and key"
            raise mistake("is missing", mend, "ca")
        if (self.certificate is None) != (self.key is None):
            missing = "certificate" if self.certificate is None else "key"
            raise mistake("is missing", "certificate and key go together", missing)
        if self.target is Target.BMV2 and self.program is None:
            mend = 'target "bmv2" needs the JSON that p4c makes of p4src/v1model/main.p4'
            raise mistake("is missing", mend, "program")
        return self


class ControllerConfig(Table):
    """The controller itself."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    events: Annotated[int, between(1, 1_000_000)] = 1000
    # Where it writes down what the next controller must know; sessions only.
    state: FilePath = Path("wayname.state")
    # Where it keeps what was changed while it runs.
    changes: FilePath | None = None

    @model_validator(mode="before")
    @classmethod
    def _name_state(cls, values: Any, info: ValidationInfo) -> Any:
        if isinstance(values, dict) and info.context is not None:
            name = f"wayname-{site_of(info).config.switch.device_id}.state"
            return {"state": kept_file(name), **values}
        return values

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.changes == self.state:
            raise mistake(f"{self.changes} is the state's file", "name another file", "changes")
        return self


class Timing(Table):
    """Times in seconds."""

    probe: Annotated[float, between(0.02, 3600)] = 0.25
    mac_aging_time: Annotated[float, between(1, 86_400)] = 300.0


class Port(Table):
    """A port, the VLAN of what has no tag there, and the VLANs that are tagged there."""

    number: Annotated[int, between(0, MOST_PORT)]
    name: Name = Field(default_factory=lambda port: f"port{port['number']}")
    vlan: Vlan | None = None
    tagged: tuple[Vlan, ...] = ()
    mtu: Annotated[int, between(1280, 65535)] = 1500
    # Whether routers are behind it; None is known by the VLAN.
    trusted: bool | None = None
    # Stations, and addresses of hosts; None is the share of the tables that is the port's.
    max_macs: Annotated[int, between(1, MOST_STATIONS)] | None = None
    max_addresses: Annotated[int, between(1, MOST_ADDRESSES)] | None = None
    mac_move_guard: bool = True

    @property
    def vlans(self) -> tuple[int, ...]:
        """All VLANs that the port is a member of."""
        return self.tagged if self.vlan is None else (self.vlan, *self.tagged)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for index, vlan in enumerate(self.tagged):
            if vlan == self.vlan or vlan in self.tagged[:index]:
                raise mistake(f"VLAN {vlan} is there twice", "a port is in a VLAN once", "tagged", index)
        if not self.vlans:
            raise mistake("is missing", "a port needs vlan, tagged or both", "vlan")
        return self


class Interface(Table):
    """The router on a VLAN."""

    vlan: Vlan
    name: Name = Field(default_factory=lambda interface: f"vlan{interface['vlan']}")
    # The number of the virtual router that it is of (RFC 9568), on that link.
    virtual_router_id: Annotated[int, between(1, MOST_VIRTUAL_ROUTER)] | None = None
    mac: Station
    addresses: tuple[InterfaceAddress, ...] = ()
    advertise: bool = False
    source_guard: bool = True
    nd_inspection: bool = True
    ra_guard: bool = True
    dhcpv6_guard: bool = True
    # Who resolves names for hosts, and in which domains; None is what providers say with their prefixes.
    dns_servers: tuple[FarAddress, ...] | None = None
    search_domains: tuple[Domain, ...] | None = None
    # Where hosts have addresses beside the prefixes of `addresses`.
    source_prefixes: tuple[SourcePrefix, ...] = ()

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
    def own_addresses(self) -> tuple[IPv6Interface, ...]:
        """Those of them that it answers for."""
        return self.global_addresses

    @property
    def error_address(self) -> IPv6Address:
        """The address that its ICMPv6 errors come from."""
        return next((address.ip for address in self.global_addresses), self.link_local)

    def owns(self, address: IPv6Address) -> bool:
        """Whether an address is its own."""
        return address == self.link_local or any(own.ip == address for own in self.own_addresses)

    def is_on_link(self, address: IPv6Address) -> bool:
        """Whether an address is, or could be, a neighbour's."""
        return address.is_link_local or any(address in own.network for own in self.global_addresses)

    @model_validator(mode="before")
    @classmethod
    def _derive_mac(cls, values: Any, info: ValidationInfo) -> Any:
        """The MAC of its virtual router, or one of the switch's own."""
        if isinstance(values, dict) and "mac" not in values and type(values.get("vlan")) is int:
            router = values.get("virtual_router_id")
            if type(router) is int and 0 < router <= MOST_VIRTUAL_ROUTER:
                return {**values, "mac": virtual_mac(router)}
            return {**values, "mac": device_mac(site_of(info).config.switch.device_id, values["vlan"])}
        return values

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Self:
        if self.virtual_router_id is not None and self.mac != virtual_mac(self.virtual_router_id):
            wrong = f"is not that of virtual router {self.virtual_router_id}"
            raise mistake(wrong, f"leave it out, and it is {virtual_mac(self.virtual_router_id)}", "mac")
        for index, address in enumerate(self.addresses):
            others = self.addresses[:index]
            if address.ip.is_link_local and any(other.ip.is_link_local for other in others):
                mend = "give one, or none and the MAC's is taken"
                raise mistake("is a second link-local address", mend, "addresses", index)
            if any(other.ip == address.ip for other in others):
                raise mistake(f"{address.ip} is there twice", "give every address once", "addresses", index)
        is_incomplete = info.context is not None and site_of(info).is_incomplete
        if (
            self.advertise
            and not is_incomplete
            and not any(address.network.prefixlen == 64 for address in self.global_addresses)
        ):
            raise mistake("there is no /64 to advertise", "give the interface an address with /64", "advertise")
        return self


def device_mac(device_id: int, vlan: int) -> Mac:
    """Return a locally administered MAC: 02, the device (24 bits), the VLAN (16 bits)."""
    return Mac(0x02 << 40 | (device_id & 0xFFFFFF) << 16 | vlan & 0xFFFF)


@dataclass(frozen=True, slots=True)
class StaticNeighbour:
    """A neighbour whose station and port nothing that arrives can change."""

    at: LinkAddress
    mac: Mac
    port: int


class NeighbourTable(Table):
    """A static neighbour as it is written."""

    address: NextHop
    mac: Station
    port: int | None = None

    def resolved(self, site: Site) -> StaticNeighbour:
        """Return it with its port."""
        members = [port.number for port in site.config.members(self.address.vlan)]
        if self.port is None and len(members) != 1:
            wrong = f"VLAN {self.address.vlan} has several ports; name the neighbour's"
            raise mistake("is missing", wrong, "port")
        number = members[0] if self.port is None else self.port
        if number not in members:
            wrong = f"port {number} is not in VLAN {self.address.vlan}"
            raise mistake(wrong, "name the port it is behind", "port")
        return StaticNeighbour(self.address, self.mac, number)


@dataclass(frozen=True, slots=True)
class Route:
    """A static route: by next hops, each with its weight, or nowhere."""

    prefix: Network
    via: tuple[tuple[LinkAddress, int], ...] = ()
    refusal: Refusal | None = None


def _read_via(given: Any, read_hops: ValidatorFunctionWrapHandler) -> Any:
    if isinstance(given, str) and given in tuple(Refusal):
        return Refusal(given)
    if not isinstance(given, tuple) or not given:
        shown = "[]" if given == () else quoted(given)
        raise mistake(f"is {shown}", 'write a list of addresses, "prohibited" or "discard"')
    return read_hops(given)


class RouteTable(Table):
    """A route as it is written."""

    prefix: Prefix
    # A Refusal in place of them leads nowhere.
    via: Annotated[tuple[NextHop, ...], WrapValidator(_read_via)]
    weights: tuple[HopWeight, ...] | None = None

    def resolved(self, site: Site) -> Route:
        """Return it, if it may be there."""
        for interface in site.config.interfaces:
            if any(own.network == self.prefix for own in interface.global_addresses):
                raise mistake(f"{self.prefix} is on {interface.name} already", "leave the route out", "prefix")
        if self.prefix.is_multicast or self.prefix.is_link_local:
            raise mistake(f"{self.prefix} is never routed", "leave the route out", "prefix")
        if isinstance(self.via, Refusal):
            return Route(self.prefix, refusal=self.via)
        return Route(self.prefix, weighted_hops(self.via, self.weights))


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of one switch."""

    switch: SwitchConfig = field(default_factory=SwitchConfig)
    controller: ControllerConfig = field(default_factory=ControllerConfig)
    api: ApiConfig = field(default_factory=ApiConfig)
    fleet: Fleet | None = None
    vrrp: Vrrp | None = None
    timing: Timing = field(default_factory=Timing)
    limits: Limits = field(default_factory=Limits)
    ports: tuple[Port, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    linux: Linux | None = None
    routes: tuple[Route, ...] = ()
    written_providers: tuple[WrittenProvider, ...] = ()
    translations: tuple[Nptv6, ...] = ()
    simple_security: SimpleSecurity = field(default_factory=SimpleSecurity)
    pinholes: tuple[Pinhole, ...] = ()
    encapsulation: EncapsulationConfig = field(default_factory=EncapsulationConfig)
    identities: Identities | None = None
    # What sections of session protocols say, by the protocol's name, and the prefixes of all hosts that they are about.
    protocols: Mapping[str, Any] = field(default_factory=dict)
    host_prefixes: tuple[Network, ...] = ()
    # Their files of private keys, by what they are of.
    protocol_keys: Mapping[str, Path] = field(default_factory=dict, repr=False)
    schedules: tuple[Schedule, ...] = ()
    path_policies: tuple[PathPolicy, ...] = ()
    static_neighbours: tuple[StaticNeighbour, ...] = ()
    written: EncapsulationTables = field(default_factory=dict, repr=False)
    # What providers said, and the same file read again with what they say now.
    learned: Mapping[str, Learned] = field(default_factory=dict, compare=False)
    again: Callable[[Mapping[str, Learned]], Config] | None = field(default=None, compare=False, repr=False)

    @property
    def key_files(self) -> Mapping[str, Path]:
        """All files of private keys of the edge, by what they are of."""
        own = {"identities": self.identities.key} if self.identities else {}
        return {**own, **self.protocol_keys}

    @property
    def providers(self) -> tuple[Provider, ...]:
        """All providers that have a prefix; one whose prefix another takes the place of is there with both."""
        return tuple(provider for written in self.written_providers for provider in written.providers)

    @property
    def prefix_sources(self) -> tuple[PrefixSource, ...]:
        """The providers that say what their prefix is, or who their routers are."""
        return tuple(written.source for written in self.written_providers if written.source)

    @property
    def vlans(self) -> tuple[int, ...]:
        """All VLANs that a port is a member of, in order."""
        return tuple(sorted({vlan for port in self.ports for vlan in port.vlans}))

    @property
    def linux_ports(self) -> dict[int, int]:
        """The ports that are TAP devices of Linux, by the VLAN on which the router is an interface of Linux too."""
        numbers = [each.port for each in self.linux.interfaces] if self.linux else []
        return {port.vlan: port.number for port in self.ports if port.vlan is not None and port.number in numbers}

    @property
    def filters_inbound(self) -> bool:
        """Whether only what answers comes in from providers."""
        enabled = self.simple_security.enabled
        return bool(self.translations) if enabled is None else enabled

    def members(self, vlan: int) -> tuple[Port, ...]:
        """Return the ports of a VLAN."""
        return tuple(port for port in self.ports if vlan in port.vlans)

    def port(self, number: int) -> Port | None:
        """Return a port by its number."""
        return next((port for port in self.ports if port.number == number), None)

    def port_called(self, name: str) -> Port | None:
        """Return a port by its name, or by its number where none has that as its name."""
        named = next((port for port in self.ports if port.name == name), None)
        return named or next((port for port in self.ports if str(port.number) == name), None)

    def interface(self, vlan: int) -> Interface | None:
        """Return the router's interface on a VLAN."""
        return next((interface for interface in self.interfaces if interface.vlan == vlan), None)
