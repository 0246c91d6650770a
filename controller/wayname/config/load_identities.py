"""Reads what a configuration says of identities."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Network
from pathlib import Path

from wayname.config.checks import MOST_PREFIXES, between, is_path, network, one_of
from wayname.config.identities import Form, HostLink, Identities
from wayname.config.model import Interface, Port
from wayname.config.reader import Table
from wayname.identity.key_files import LEAST_KEY_BITS, MOST_KEY_BITS

KEY_FILE = "keys/edge.pem"
MOST_SEC = 3
MOST_LIFETIME = 2**32 - 2  # one more is for ever


def read_identities(
    root: Table, folder: Path, interfaces: tuple[Interface, ...], ports: tuple[Port, ...]
) -> Identities | None:
    """Read `[identities]`, which need not be there."""
    if not root.has("identities"):
        return None
    table = root.table("identities")
    links: list[HostLink] = []
    for each in table.tables("link"):
        link = _link(each, interfaces, ports)
        if any(other.vlan == link.vlan for other in links):
            raise each.error("interface", f"{link.name} is there twice", "put all of a link into one")
        links.append(link)
    if not links:
        raise table.error("link", "is missing", "write [[identities.link]] with the interface of the hosts")
    identities = Identities(
        key=folder / table.take("key", str, KEY_FILE, is_path),
        bits=table.take("bits", int, MOST_KEY_BITS, between(LEAST_KEY_BITS, MOST_KEY_BITS)),
        form=Form(table.take("form", str, Form.HBA, one_of(*Form))),
        sec=table.take("sec", int, 1, between(0, MOST_SEC)),
        prepared=table.take("prepared", int, 16, between(1, 1000)),
        links=tuple(links),
    )
    table.close()
    return identities


def _link(table: Table, interfaces: tuple[Interface, ...], ports: tuple[Port, ...]) -> HostLink:
    interface = _interface(table, "interface", table.take("interface", str), interfaces)
    dhcp = table.take("dhcp", bool, True)
    mapped = _prefixes(table, "mapped", 128)
    on_link = [own.network for own in interface.global_addresses]
    own = [prefix for prefix in on_link if prefix.prefixlen == 64 and not _overlaps(prefix, mapped)]
    prefixes = _prefixes(table, "prefixes", 64) if table.has("prefixes") else tuple(dict.fromkeys(own))
    if len(prefixes) > MOST_PREFIXES:
        raise table.error("prefixes", f"are {len(prefixes)}", f"write {MOST_PREFIXES} at most, one from each provider")
    for index, prefix in enumerate(prefixes):
        if prefix.prefixlen != 64 or prefix.is_link_local or prefix.is_multicast:
            raise table.error(f"prefixes[{index}]", f"{prefix} is no /64 of hosts", "write one from each provider")
        if dhcp and prefix not in on_link:
            mend = f"give {interface.name} an address in it, or set dhcp = false"
            raise table.error(f"prefixes[{index}]", f"{prefix} is not on {interface.name}", mend)
        if _overlaps(prefix, mapped):
            raise table.error(f"prefixes[{index}]", f"{prefix} is mapped too", "identities come from other prefixes")
    for index, prefix in enumerate(mapped):
        if not any(prefix.subnet_of(own) for own in on_link):
            mend = f"give {interface.name} an address in it"
            raise table.error(f"mapped[{index}]", f"{prefix} is not on {interface.name}", mend)
    uplinks = _uplinks(table, interface, interfaces)
    if not prefixes and (dhcp or not uplinks):
        raise table.error("prefixes", "are missing", f"give {interface.name} an address with /64 of a provider")
    preferred = table.take("preferred", int, 3600, between(60, MOST_LIFETIME))
    valid = table.take("valid", int, max(7200, preferred), between(60, MOST_LIFETIME))
    if valid < preferred:
        raise table.error("valid", f"is {valid}", f"write {preferred} at least, which is preferred")
    most = table.take("most", int, 4096, between(1, 100_000))
    # An equal share for each port of the link, so that none takes the identities of others.
    share = max(1, most // sum(interface.vlan in port.vlans for port in ports))
    link = HostLink(
        vlan=interface.vlan,
        name=interface.name,
        prefixes=prefixes,
        dhcp=dhcp,
        every_prefix=table.take("addresses", str, "first", one_of("first", "all")) == "all",
        preferred=preferred,
        valid=valid,
        mapped=mapped,
        uplinks=uplinks,
        most=most,
        most_by_port=table.take("most_by_port", int, share, between(1, most)),
    )
    table.close()
    return link


def _prefixes(table: Table, key: str, longest: int) -> tuple[IPv6Network, ...]:
    mend = "write PREFIX/LENGTH as in 2001:db8:1:10::/64"
    found: list[IPv6Network] = []
    for index, text in enumerate(table.take(key, list, [])):
        prefix = table.convert(f"{key}[{index}]", text, network, mend)
        if prefix.prefixlen > longest:
            raise table.error(f"{key}[{index}]", f"{prefix} is longer than /{longest}", mend)
        if _overlaps(prefix, found):
            raise table.error(f"{key}[{index}]", f"{prefix} is there twice", "give every prefix once")
        found.append(prefix)
    return tuple(found)


def _uplinks(table: Table, link: Interface, interfaces: tuple[Interface, ...]) -> tuple[int, ...]:
    found: list[int] = []
    for index, name in enumerate(table.take("uplinks", list, [])):
        uplink = _interface(table, f"uplinks[{index}]", name, interfaces)
        if uplink.vlan == link.vlan or uplink.advertise:
            mend = "name interfaces behind which providers are"
            raise table.error(f"uplinks[{index}]", f"{name} is a link of hosts", mend)
        found.append(uplink.vlan)
    return tuple(dict.fromkeys(found))


def _interface(table: Table, key: str, name: object, interfaces: tuple[Interface, ...]) -> Interface:
    for interface in interfaces:
        if interface.name == name:
            return interface
    known = ", ".join(interface.name for interface in interfaces) or "none"
    raise table.error(key, f"there is no interface {name!r}", f"the interfaces are: {known}")


def _overlaps(prefix: IPv6Network, others: Sequence[IPv6Network]) -> bool:
    return any(prefix.overlaps(other) for other in others)
