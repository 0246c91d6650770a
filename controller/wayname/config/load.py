"""Reads a configuration file and checks all of it, each part by itself and the parts against each other."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address, IPv6Interface
from ipaddress import IPv6Network as Network
from pathlib import Path
from typing import Any

from wayname.api.address import HOST_AND_PORT, default_address
from wayname.config.checks import between, is_name, is_path, link_of, network, one_of
from wayname.config.encapsulation.load import MOST, load_encapsulation
from wayname.config.load_hip import read_hip
from wayname.config.load_identities import read_identities
from wayname.config.load_ilnp import read_ilnp
from wayname.config.load_limits import read_limits
from wayname.config.load_path_policies import read_path_policies
from wayname.config.load_schedules import read_schedules
from wayname.config.load_shim6 import read_shim6
from wayname.config.load_translation import read_translations
from wayname.config.model import (
    Config,
    ControllerConfig,
    Interface,
    LinkAddress,
    Port,
    Provider,
    Refusal,
    Route,
    StaticNeighbour,
    SwitchConfig,
    Target,
    Timing,
    Tls,
)
from wayname.config.reader import ConfigError, Table
from wayname.config.toml_text import TomlError, parse_toml
from wayname.private_files import read_private
from wayname.wire.mac import Mac

MOST_PORT = 509  # 510 is the controller's, 511 drops
MOST_NEXT_HOPS = 16
MOST_WEIGHT = 255
# As the tables hold, and so no limit.
MOST_STATIONS = 16_384
MOST_ADDRESSES = 32_768

__all__ = ["ConfigError", "load_config", "parse_config"]


def load_config(path: Path) -> Config:
    """Read a configuration file."""
    try:
        octets, wrong = read_private(path)
        text = octets.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; write it as TOML") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name a configuration file") from None
    config = parse_config(text, str(path), path.parent)
    if wrong and has_secrets(config):
        raise ConfigError(f"{path}: has keys, and {wrong}")
    return config


def has_secrets(config: Config) -> bool:
    """Whether a configuration holds what others must not read, beside the names of files."""
    names = [each.names for each in (config.ilnp, config.hip) if each is not None and each.names is not None]
    carried = config.encapsulation
    return (
        any(each.key for each in names) or any(policy.secret for policy in carried.policies) or bool(carried.hmac_keys)
    )


def parse_config(text: str, file: str = "configuration", folder: Path = Path()) -> Config:
    """Read a configuration's text; paths in it are relative to the folder."""
    try:
        root = Table(file, "", parse_toml(text))
    except TomlError as error:
        raise ConfigError(f"{file}: {error}") from None
    switch = _switch(root.table("switch"), folder)
    controller = _controller(root.table("controller"), folder, switch.device_id)
    timing, limits = _timing(root.table("timing")), read_limits(root)
    ports = _ports(root)
    interfaces = _interfaces(root, ports, switch.device_id)
    routes = _routes(root, interfaces)
    providers, shim6 = _providers(root, interfaces), read_shim6(root)
    config = Config(switch, controller, timing, limits, ports, interfaces, routes, providers, shim6)
    translations = read_translations(root, providers, interfaces)
    config = replace(config, translations=translations, identities=read_identities(root, folder, interfaces, ports))
    config = replace(config, ilnp=read_ilnp(root, shim6, translations, providers))
    sites = config.ilnp.sites if config.ilnp else ()
    taken = [prefix for rules in shim6 for prefix in rules.prefixes] + [
        each for site in sites for each in site.prefixes
    ]
    config = replace(config, hip=read_hip(root, folder, taken))
    written: dict[str, tuple[Any, ...]] = {kind: tuple(root.take(kind, list, [])) for kind in MOST}
    config = replace(config, encapsulation=load_encapsulation(root.tables, config), written=written)
    config = replace(config, schedules=read_schedules(root, config))
    config = replace(config, path_policies=read_path_policies(root, providers))
    config = replace(config, static_neighbours=_static_neighbours(root, interfaces, ports))
    root.close()
    return config


def _switch(table: Table, folder: Path) -> SwitchConfig:
    def path(key: str) -> Path | None:
        name: str | None = table.take(key, str, None, is_path)
        return None if name is None else folder / name

    ca, certificate, key = path("ca"), path("certificate"), path("key")
    if ca is None and (certificate or key):
        raise table.error(
            "ca", "is missing", "name the authority of the switch's certificate beside certificate and key"
        )
    if (certificate is None) != (key is None):
        missing = "certificate" if certificate is None else "key"
        raise table.error(missing, "is missing", "certificate and key go together")
    target = Target(table.take("target", str, "embedded", one_of(*Target)))
    program = path("program")
    if target is Target.BMV2 and program is None:
        raise table.error(
            "program", "is missing", 'target "bmv2" needs the JSON that p4c makes of p4src/v1model/main.p4'
        )
    config = SwitchConfig(
        address=table.take("address", str, "127.0.0.1:9559", _is_address),
        device_id=table.take("device_id", int, 1, between(1, 2**32 - 1)),
        target=target,
        program=program,
        p4info=path("p4info"),
        tls=Tls(ca, certificate, key) if ca else None,
    )
    table.close()
    return config


def _controller(table: Table, folder: Path, device_id: int) -> ControllerConfig:
    config = ControllerConfig(
        api=table.take("api", str, str(default_address()), _is_address),
        api_remote=table.take("api_remote", bool, False),
        log_level=table.take("log_level", str, "info", one_of("debug", "info", "warning", "error")),
        log_format=table.take("log_format", str, "text", one_of("text", "json")),
        events=table.take("events", int, 1000, between(1, 1_000_000)),
        state=folder / table.take("state", str, f"wayname-{device_id}.state", is_path),
        changes=folder / changes if (changes := table.take("changes", str, "", is_path)) else None,
    )
    if config.changes == config.state:
        raise table.error("changes", f"{config.changes} is the state's file", "name another file")
    table.close()
    return config


def _timing(table: Table) -> Timing:
    config = Timing(
        probe=table.take("probe", float, 0.25, between(0.02, 3600)),
        station_idle=table.take("station_idle", float, 300.0, between(1, 86_400)),
    )
    table.close()
    return config


def _ports(root: Table) -> tuple[Port, ...]:
    ports: list[Port] = []
    for table in root.tables("port"):
        number = table.take("number", int, check=between(0, MOST_PORT))
        if any(port.number == number for port in ports):
            raise table.error("number", f"port {number} is there twice", "give every port once")
        vlan = table.take("vlan", int, None, _is_vlan)
        tagged = table.take("tagged", list, [])
        for index, each in enumerate(tagged):
            if type(each) is not int or _is_vlan(each):
                raise table.error(f"tagged[{index}]", f"is {each!r}", "write a VLAN from 1 to 4094")
            if each == vlan or each in tagged[:index]:
                raise table.error(f"tagged[{index}]", f"VLAN {each} is there twice", "a port is in a VLAN once")
        if vlan is None and not tagged:
            raise table.error("vlan", "is missing", "a port needs vlan, tagged or both")
        name = table.take("name", str, f"port{number}", is_name)
        if any(port.name == name for port in ports):
            raise table.error("name", f"{name!r} is there twice", "give every port a name of its own")
        mtu = table.take("mtu", int, 1500, between(1280, 65535))
        port = Port(
            number,
            name,
            vlan,
            tuple(tagged),
            mtu,
            trusted=table.take("trusted", bool, None),
            max_stations=table.take("max_stations", int, None, between(1, MOST_STATIONS)),
            max_addresses=table.take("max_addresses", int, None, between(1, MOST_ADDRESSES)),
            mac_move_guard=table.take("mac_move_guard", bool, True),
        )
        table.close()
        ports.append(port)
    return tuple(ports)


def _interfaces(root: Table, ports: tuple[Port, ...], device_id: int) -> tuple[Interface, ...]:
    interfaces: list[Interface] = []
    vlans = {vlan for port in ports for vlan in port.vlans}
    for table in root.tables("interface"):
        vlan = table.take("vlan", int, check=_is_vlan)
        if vlan not in vlans:
            raise table.error("vlan", f"no port is in VLAN {vlan}", "add it to a [[port]]'s vlan or tagged")
        if any(other.vlan == vlan for other in interfaces):
            raise table.error("vlan", f"VLAN {vlan} has two interfaces", "put all addresses into one")
        name = table.take("name", str, f"vlan{vlan}", is_name)
        if any(other.name == name for other in interfaces):
            raise table.error("name", f"{name!r} is there twice", "give every interface a name of its own")
        mac = table.parse("mac", _station, "write it as 02:00:00:00:00:01") if table.has("mac") else None
        table.take("mac", str, None)
        addresses = _addresses(table, interfaces)
        advertise = table.take("advertise", bool, False)
        if advertise and not any(
            address.network.prefixlen == 64 for address in addresses if not address.ip.is_link_local
        ):
            raise table.error("advertise", "there is no /64 to advertise", "give the interface an address with /64")
        interface = Interface(
            vlan,
            name,
            mac or _derived_mac(device_id, vlan),
            addresses,
            advertise,
            source_guard=table.take("source_guard", bool, True),
            nd_inspection=table.take("nd_inspection", bool, True),
            ra_guard=table.take("ra_guard", bool, True),
            dhcpv6_guard=table.take("dhcpv6_guard", bool, True),
            source_prefixes=_source_prefixes(table),
        )
        table.close()
        interfaces.append(interface)
    return tuple(interfaces)


def _addresses(table: Table, others: list[Interface]) -> tuple[IPv6Interface, ...]:
    addresses: list[IPv6Interface] = []
    for index, text in enumerate(table.take("addresses", list, [])):
        key = f"addresses[{index}]"
        if isinstance(text, str) and "/" not in text:
            raise table.error(key, f"{text!r} has no prefix length", f"write {text}/64")
        address = table.convert(key, text, _interface_address, "write ADDRESS/LENGTH as in 2001:db8::1/64")
        if address.ip.is_link_local and any(other.ip.is_link_local for other in addresses):
            raise table.error(key, "is a second link-local address", "give one, or none and the MAC's is taken")
        for other in addresses:
            if other.ip == address.ip:
                raise table.error(key, f"{address.ip} is there twice", "give every address once")
        for interface in () if address.ip.is_link_local else others:
            for taken in interface.global_addresses:
                if taken.network.overlaps(address.network):
                    mend = "a prefix is on one interface only"
                    raise table.error(key, f"{address.network} overlaps {taken.network} on {interface.name}", mend)
        addresses.append(address)
    return tuple(addresses)


def _source_prefixes(table: Table) -> tuple[Network, ...]:
    prefixes: list[Network] = []
    for index, text in enumerate(table.take("source_prefixes", list, [])):
        key = f"source_prefixes[{index}]"
        prefix = table.convert(key, text, network, "write PREFIX/LENGTH as in fd00:1::/64")
        if prefix.is_multicast:
            raise table.error(key, f"{prefix} is of groups", "write the prefix of hosts' addresses")
        prefixes.append(prefix)
    return tuple(dict.fromkeys(prefixes))


def _static_neighbours(
    root: Table, interfaces: tuple[Interface, ...], ports: tuple[Port, ...]
) -> tuple[StaticNeighbour, ...]:
    found: list[StaticNeighbour] = []
    for table in root.tables("neighbour"):
        mend = "write an address, with %INTERFACE if it is link-local"
        address = table.parse("address", IPv6Address, mend)
        at = LinkAddress(link_of(table, "address", address, interfaces).vlan, IPv6Address(int(address)))
        if any(other.at == at for other in found):
            raise table.error("address", f"{address} is there twice", "give every neighbour once")
        mac = table.parse("mac", _station, "write it as 02:00:00:00:00:01")
        members = [port.number for port in ports if at.vlan in port.vlans]
        number = table.take("port", int, members[0] if len(members) == 1 else None)
        if number is None:
            raise table.error("port", "is missing", f"VLAN {at.vlan} has several ports; name the neighbour's")
        if number not in members:
            raise table.error("port", f"port {number} is not in VLAN {at.vlan}", "name the port it is behind")
        if any(other.mac == mac and other.at.vlan == at.vlan and other.port != number for other in found):
            raise table.error("port", f"{mac} is behind another port already", "a station is behind one port")
        table.close()
        found.append(StaticNeighbour(at, mac, number))
    return tuple(found)


def _routes(root: Table, interfaces: tuple[Interface, ...]) -> tuple[Route, ...]:
    routes: list[Route] = []
    connected = {address.network: interface for interface in interfaces for address in interface.global_addresses}
    for table in root.tables("route"):
        prefix = table.parse("prefix", network, "write PREFIX/LENGTH as in 2001:db8::/32")
        if any(route.prefix == prefix for route in routes):
            raise table.error("prefix", f"{prefix} is there twice", "list all next hops in one via")
        if prefix in connected:
            raise table.error("prefix", f"{prefix} is on {connected[prefix].name} already", "leave the route out")
        if prefix.is_multicast or prefix.is_link_local:
            raise table.error("prefix", f"{prefix} is never routed", "leave the route out")
        via = table.raw("via")
        if isinstance(via, str) and via in tuple(Refusal):
            routes.append(Route(prefix, refusal=Refusal(via)))
        elif isinstance(via, list) and via:
            routes.append(Route(prefix, _next_hops(table, via, interfaces)))
        else:
            wrong = "is missing" if via is None else f"is {via!r}"
            raise table.error("via", wrong, 'write a list of addresses, "prohibited" or "discard"')
        table.close()
    return tuple(routes)


def _providers(root: Table, interfaces: tuple[Interface, ...]) -> tuple[Provider, ...]:
    providers: list[Provider] = []
    for table in root.tables("provider"):
        name = table.take("name", str, check=is_name)
        if any(provider.name == name for provider in providers):
            raise table.error("name", f"{name!r} is there twice", "give every provider a name of its own")
        prefix = table.parse("prefix", network, "write PREFIX/LENGTH as in 2001:db8:1::/48")
        if prefix.is_multicast or prefix.is_link_local:
            raise table.error("prefix", f"{prefix} is given by no provider", "write the prefix that hosts have there")
        for other in providers:
            if other.prefix.overlaps(prefix):
                mend = "a prefix is of one provider only"
                raise table.error("prefix", f"{prefix} overlaps {other.prefix} of {other.name}", mend)
        via = table.take("via", list)
        if not via:
            raise table.error("via", "is empty", "write the addresses of the provider's routers")
        providers.append(Provider(name, prefix, _next_hops(table, via, interfaces)))
        table.close()
    return tuple(providers)


def _next_hops(table: Table, via: list[Any], interfaces: tuple[Interface, ...]) -> tuple[tuple[LinkAddress, int], ...]:
    if len(via) > MOST_NEXT_HOPS:
        raise table.error("via", f"has {len(via)} next hops", f"write {MOST_NEXT_HOPS} at most")
    weights = table.take("weights", list, [1] * len(via))
    if len(weights) != len(via):
        raise table.error("weights", f"has {len(weights)} numbers for {len(via)} next hops", "write one for each")
    hops: list[LinkAddress] = []
    for index, text in enumerate(via):
        key = f"via[{index}]"
        address = table.convert(key, text, IPv6Address, "write an address, with %INTERFACE if it is link-local")
        hop = LinkAddress(link_of(table, key, address, interfaces).vlan, IPv6Address(int(address)))
        if hop in hops:
            raise table.error(key, f"{text} is there twice", "use weights for unequal shares")
        hops.append(hop)
    for index, weight in enumerate(weights):
        if type(weight) is not int or not 1 <= weight <= MOST_WEIGHT:
            raise table.error(f"weights[{index}]", f"is {weight!r}", f"write a whole number from 1 to {MOST_WEIGHT}")
    return tuple(zip(hops, weights, strict=True))


def _derived_mac(device_id: int, vlan: int) -> Mac:
    """Return a locally administered MAC: 02, the device (24 bits), the VLAN (16 bits)."""
    return Mac(0x02 << 40 | (device_id & 0xFFFFFF) << 16 | vlan)


def _interface_address(text: str) -> IPv6Interface:
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


def _is_vlan(number: int) -> str | None:
    return None if 1 <= number <= 4094 else "write a VLAN from 1 to 4094"


def _is_address(text: str) -> str | None:
    if text.startswith("unix:/"):
        return is_path(text)
    found = HOST_AND_PORT.fullmatch(text)
    if found and 0 < int(found["port"]) < 65536:
        return None
    return 'write HOST:PORT, an IPv6 address in brackets, or "unix:/PATH"'
