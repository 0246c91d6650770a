"""What the edges of the attacked network are configured with."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Network
from pathlib import Path

from bench.attacks.site import (
    BORDER_LAN,
    HIP_GUESTS,
    IDLE,
    INSIDE,
    LAN,
    PROVIDERS,
    SEND_TIMEOUT,
    SITES,
    Site,
    SiteHost,
    guest_name,
    hip_guest,
    locator,
)
from wayname.identity.key_files import write_key
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.identities import provable_address

EVENTS = 20_000


def write_configuration(site: Site, folder: Path, switch: str, api: str) -> Path:
    """Write a site's configuration and the keys that it names; return its path."""
    for host in site.hosts:
        if host.kind == "hip":
            write_key(folder / f"{host.name}.pem", identity_of_host(host.name).key)
    path = folder / f"{site.name}.toml"
    path.write_text("\n".join(_lines(site, switch, api)) + "\n", encoding="utf-8")
    return path


def _lines(site: Site, switch: str, api: str) -> Iterable[str]:
    yield from ("[switch]", f'address = "{switch}"', f"device_id = {site.number}")
    yield from ("[api]", f'socket = "{api}"', "[controller]", 'log_format = "json"', f"events = {EVENTS}")
    for port in site.ports:
        yield from ("[[port]]", f"number = {port.number}", f'name = "{port.peer}"', f"vlan = {port.vlan}")
    yield from _interfaces(site)
    for provider in PROVIDERS:
        via = f'via = ["{site.link(provider)[2]}"]'
        yield from ("[[provider]]", f'name = "{provider}"', f'prefix = "{site.given(provider)}"', via)
        if "border" in site.kinds:
            prefix = f'prefix = "{site.given(provider, border=True)}"'
            yield from ("[[provider]]", f'name = "border-{provider}"', prefix, via)
    hops = ", ".join(f'"{site.link(provider)[2]}"' for provider in PROVIDERS)
    yield from ("[[route]]", 'prefix = "::/0"', f"via = [{hops}]")
    if "border" in site.kinds:
        names = ", ".join(f'"border-{provider}"' for provider in PROVIDERS)
        yield from ("[[nptv6]]", f'inside = "{INSIDE}"', f"providers = [{names}]")
        # What is measured are the defences behind it, which such a flood would not reach.
        yield from ("[simple_security]", "enabled = false")
    yield from _shim6(site)
    yield from _hip(site)
    yield from _ilnp(site)
    yield from ("[identities]", f'key = "edge-{site.name}.pem"', "bits = 1024", "sec = 0")
    yield from ("[[identities.link]]", 'interface = "lan"', f"prefixes = {_prefixes(site, 'shim6')}")


def _interfaces(site: Site) -> Iterable[str]:
    kinds = dict.fromkeys([*(host.kind for host in site.hosts if host.vlan == LAN), "plain"])
    addresses = [f'"{subnet[1]}/64"' for kind in kinds for subnet in site.subnets(kind)]
    yield from ("[[interface]]", f"vlan = {LAN}", 'name = "lan"', f"addresses = [{', '.join(addresses)}]")
    yield from ("advertise = true", f'mac = "{site.router_mac(LAN)}"')
    if "border" in site.kinds:
        yield from ("[[interface]]", f"vlan = {BORDER_LAN}", 'name = "border"')
        yield from (f'addresses = ["{INSIDE[1 << 64 | 1]}/64"]', f'mac = "{site.router_mac(BORDER_LAN)}"')
    for provider, port in zip(PROVIDERS, site.ports[-len(PROVIDERS) :], strict=True):
        yield from ("[[interface]]", f"vlan = {port.vlan}", f'name = "to-{provider}"')
        yield from (f'addresses = ["{site.link(provider)[1]}/64"]', f'mac = "{site.router_mac(port.vlan)}"')


def _shim6(site: Site) -> Iterable[str]:
    host = site.host("shim6")
    _, parameters = provable_address(host.name, site.subnets("shim6"))
    yield from ("[[shim6]]", f"prefixes = {_prefixes(site, 'shim6')}", *_rules())
    yield from ("[[shim6.host]]", f'address = "{host.address}"', f'parameters = "{parameters.encode().hex()}"')


def _hip(site: Site) -> Iterable[str]:
    host = site.host("hip")
    yield from ("[hip]", f"proxy = {_prefixes(site, 'hip')}", f"verify = {_prefixes(site, 'verify')}", *_rules())
    yield from ("[[hip.host]]", f'address = "{host.address}"', f'key = "{host.name}.pem"')
    known = [(other.address, other.name) for other in _others(site, "hip")]
    known += [(hip_guest(number), guest_name(number)) for number in range(HIP_GUESTS)]
    for address, name in known:
        yield from ("[[hip.peer]]", f'address = "{address}"', f'hit = "{identity_of_host(name).hit}"')


def _ilnp(site: Site) -> Iterable[str]:
    ilnp_prefixes = [f'"{subnet}"' for other in _others(site, "ilnp") for subnet in other.site.subnets("ilnp")]
    ilnp_prefixes += [f'"{IPv6Network((locator("ilnp", provider) << 64, 64))}"' for provider in PROVIDERS]
    yield from ("[ilnp]", f"idle = {IDLE}", f"ilnp_prefixes = [{', '.join(ilnp_prefixes)}]")
    yield from ("[[ilnp.site]]", f"prefixes = {_prefixes(site, 'ilnp')}")


def _rules() -> tuple[str, ...]:
    return (f"send_timeout = {SEND_TIMEOUT}", f"idle = {IDLE}", "backup_probe_interval = 60")


def _others(site: Site, kind: str) -> list[SiteHost]:
    return [other.host(kind) for other in SITES if other is not site]


def _prefixes(site: Site, kind: str) -> str:
    return "[" + ", ".join(f'"{subnet}"' for subnet in site.subnets(kind)) + "]"
