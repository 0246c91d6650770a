"""Kinds of values that several tables have."""

from __future__ import annotations

import os
from collections.abc import Iterable
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from wayname.config.links import LinkAddress
from wayname.config.tables import Mistake, Site, between, count, mistake, parsed, quoted, site_of

# A host's prefixes, one from each provider: as many as the Shim6 paper measured. With more than four at both ends not
# every pair of locators is a path (MOST_PATHS).
MOST_PREFIXES = 10
MOST_WEIGHT = 255
MOST_NEXT_HOPS = 16


def _read_name(name: str) -> str:
    if not name or "%" in name or not name.isprintable():
        raise mistake(f"is {name!r}", "write a name without %")
    return name


def check_path(path: str) -> str:
    """Return what may be the path of a file."""
    if not path or "\0" in path:
        raise mistake(f"is {path!r}", "write the path of a file")
    return path


def _read_path(given: object, info: ValidationInfo) -> object:
    if isinstance(given, Path):
        return given
    if not isinstance(given, str):
        raise mistake(f"is {quoted(given)}", "write a text")
    return site_of(info).folder / check_path(given)


def network(text: str) -> IPv6Network:
    """Read a prefix with its length."""
    if "/" not in text:
        raise ValueError("it has no prefix length")
    if "%" in text:
        raise ValueError("a prefix is of no interface")
    return IPv6Network(text)


def far_address(text: str) -> IPv6Address:
    """Read the address of one node that packets can be sent to over routers."""
    address = IPv6Address(text)
    if address.is_multicast or address.is_unspecified or address.is_loopback or address.is_link_local:
        raise ValueError("packets are not sent there")
    if address.scope_id is not None:
        raise ValueError("no interface is named for it")
    return address


def prefix(example: str) -> BeforeValidator:
    """A prefix with its length."""
    return parsed(network, f"write PREFIX/LENGTH as in {example}")


def link_of(address: IPv6Address, site: Site) -> LinkAddress:
    """Return a next hop, and the link that it is on."""
    interfaces = site.config.interfaces
    known = ", ".join(interface.name for interface in interfaces) or "none"
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        raise mistake(f"{address} is nobody's address", "write the address of a router")
    if address.scope_id is not None:
        found = [interface for interface in interfaces if interface.name == address.scope_id]
        if not found:
            raise mistake(f"there is no interface {address.scope_id!r}", f"the interfaces are: {known}")
        if not found[0].is_on_link(IPv6Address(int(address))):
            raise mistake(f"{address} is on no prefix of {found[0].name}", "name a neighbour on that link")
    elif address.is_link_local:
        raise mistake(f"{address} may be on any link", f"write {address}%INTERFACE; the interfaces are: {known}")
    else:
        found = [interface for interface in interfaces if interface.is_on_link(address)]
        if not found:
            raise mistake(f"{address} is on no interface's prefix", "name a neighbour on a connected prefix")
    if found[0].owns(IPv6Address(int(address))):
        raise mistake(f"{address} is {found[0].name}'s own address", "name the neighbour's")
    return LinkAddress(found[0].vlan, IPv6Address(int(address)))


def _read_link(given: object, info: ValidationInfo) -> object:
    return link_of(given, site_of(info)) if isinstance(given, IPv6Address) else given


def weighted(values: tuple[object, ...], weights: tuple[int, ...] | None, of: str) -> tuple[int, ...]:
    """Return the weight of each value: the same if none are given."""
    if weights is None:
        return (1,) * len(values)
    if len(weights) != len(values):
        raise mistake(f"has {len(weights)} numbers for {len(values)} {of}", "write one for each", "weights")
    return weights


def weighted_hops(
    hops: tuple[LinkAddress, ...], weights: tuple[int, ...] | None
) -> tuple[tuple[LinkAddress, int], ...]:
    """Return the next hops of a route, each with its weight."""
    if len(hops) > MOST_NEXT_HOPS:
        raise mistake(f"has {len(hops)} next hops", f"write {MOST_NEXT_HOPS} at most", "via")
    for index, hop in enumerate(hops):
        if hop in hops[:index]:
            raise mistake(f"{hop.address} is there twice", "use weights for unequal shares", "via", index)
    return tuple(zip(hops, weighted(hops, weights, "next hops"), strict=True))


def hosts_prefixes(prefixes: Iterable[IPv6Network], taken: Iterable[IPv6Network], key: str) -> Iterable[Mistake]:
    """Yield what is wrong with the prefixes of a site's hosts, none of which anybody else has."""
    seen = set(taken)
    for index, each in enumerate(prefixes):
        if each.prefixlen != 64 or each.is_link_local or each.is_multicast or each.is_unspecified:
            mend = "write PREFIX/64 as in 2001:db8:1:10::/64"
            yield Mistake((key, index), f"{each} is no /64 of hosts", mend)
        elif each in seen:
            yield Mistake((key, index), f"{each} is there twice", "give every prefix once, to one protocol")
        seen.add(each)


def kept_file(name: str) -> str:
    """Return where a file is that the controller makes: in the service's own folder (systemd's StateDirectory=) if it
    has one, or else beside the configuration, which a service may not write.
    """
    return str(Path(os.environ.get("STATE_DIRECTORY", "")) / name)


Name = Annotated[str, AfterValidator(_read_name)]
FilePath = Annotated[Path, BeforeValidator(_read_path)]
# The validator behind is asked first.
NextHop = Annotated[
    LinkAddress,
    BeforeValidator(_read_link),
    parsed(IPv6Address, "write an address, with %INTERFACE if it is link-local"),
]
Weight = Annotated[int, between(0, MOST_WEIGHT)]
HopWeight = Annotated[int, between(1, MOST_WEIGHT)]
Octets32 = Annotated[int, between(0, 2**32 - 1)]
FarAddress = Annotated[IPv6Address, parsed(far_address, "write an address as in 2001:db8::1")]
HostPrefix = Annotated[IPv6Network, parsed(IPv6Network, "write PREFIX/64 as in 2001:db8:1:10::/64")]
HostPrefixes = Annotated[tuple[HostPrefix, ...], count(1, MOST_PREFIXES, ", one from each provider")]
