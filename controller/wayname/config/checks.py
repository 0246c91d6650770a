"""What values of several tables have to be."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network

from wayname.config.model import Interface
from wayname.config.reader import Table

# A host's prefixes, one from each provider: as many as the Shim6 paper measured. With more than four at both ends not
# every pair of locators is a path (MOST_PATHS).
MOST_PREFIXES = 10


def between(least: float, most: float) -> Callable[[float], str | None]:
    """Check that a number is in a range."""
    return lambda number: None if least <= number <= most else f"write a number from {least} to {most}"


def one_of(*words: str) -> Callable[[str], str | None]:
    """Check that a word is one of some."""
    return lambda word: None if word in words else "write one of " + ", ".join(f'"{known}"' for known in words)


def is_name(text: str) -> str | None:
    """Check that a text may be a name."""
    return None if text and "%" not in text and text.isprintable() else "write a name without %"


def is_path(text: str) -> str | None:
    """Check that a text may be the path of a file."""
    return None if text and "\0" not in text else "write the path of a file"


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


def link_of(table: Table, key: str, address: IPv6Address, interfaces: tuple[Interface, ...]) -> Interface:
    """Return the interface behind which a next hop is."""
    known = ", ".join(interface.name for interface in interfaces) or "none"
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        raise table.error(key, f"{address} is nobody's address", "write the address of a router")
    if address.scope_id is not None:
        found = [interface for interface in interfaces if interface.name == address.scope_id]
        if not found:
            raise table.error(key, f"there is no interface {address.scope_id!r}", f"the interfaces are: {known}")
        if not found[0].is_on_link(IPv6Address(int(address))):
            raise table.error(key, f"{address} is on no prefix of {found[0].name}", "name a neighbour on that link")
    elif address.is_link_local:
        raise table.error(
            key, f"{address} may be on any link", f"write {address}%INTERFACE; the interfaces are: {known}"
        )
    else:
        found = [interface for interface in interfaces if interface.is_on_link(address)]
        if not found:
            raise table.error(key, f"{address} is on no interface's prefix", "name a neighbour on a connected prefix")
    if found[0].owns(IPv6Address(int(address))):
        raise table.error(key, f"{address} is {found[0].name}'s own address", "name the neighbour's")
    return found[0]
