"""Values that several of these tables have, and whether what they refer to is there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import TYPE_CHECKING

from wayname.config.checks import far_address, is_name, link_of
from wayname.config.encapsulation.model import EncapsulationConfig, Mode
from wayname.config.links import LinkAddress
from wayname.config.reader import Table

if TYPE_CHECKING:
    from wayname.config.model import Config

_ADDRESS = "write an address as in 2001:db8::1"


@dataclass(slots=True)
class Site:
    """The rest of the configuration, the kinds that were read before, and the names of the kind that is read."""

    config: Config
    read: EncapsulationConfig
    taken: set[Hashable] = field(default_factory=set)

    def take(self, table: Table, key: str, name: Hashable, text: str) -> None:
        """Refuse a name that another one of the kind has."""
        if name in self.taken:
            raise table.error(key, f"{text} is there twice", "say it once")
        self.taken.add(name)


def unique_name(table: Table, site: Site) -> str:
    """Return the name of a table, which no other of its kind has."""
    name = table.take("name", str, check=is_name)
    site.take(table, "name", name, repr(name))
    return name


def known_name(table: Table, key: str, known: Mapping[str, object]) -> str:
    """Return the name of what has to be there, or an empty one."""
    name = table.take(key, str, "")
    if table.has(key) and name not in known:
        there = ", ".join(list(known)[:20]) or "none"
        raise table.error(key, f"there is no [[{key}]] {name!r}", f"write one of those that are there: {there}")
    return name


def known_policy(table: Table, site: Site) -> str:
    """Return the name of a policy that has to be there."""
    table.take("policy", str)
    return known_name(table, "policy", site.read.policy)


def node_addresses(table: Table, key: str, most: int) -> tuple[IPv6Address, ...]:
    """Return a list of addresses of nodes."""
    given = table.take(key, list)
    if not 1 <= len(given) <= most:
        raise table.error(key, f"has {len(given)} addresses", f"write 1 to {most}")
    return tuple(table.convert(f"{key}[{index}]", text, far_address, _ADDRESS) for index, text in enumerate(given))


def node_address(table: Table, key: str) -> IPv6Address | None:
    """Return the address of a node, if there is one."""
    return table.parse(key, far_address, _ADDRESS) if table.has(key) else None


def own_source(table: Table, site: Site) -> IPv6Address:
    """Return an address of this node that packets of a tunnel can come from."""
    for interface in site.config.interfaces:
        for address in interface.global_addresses:
            return address.ip
    raise table.error("source", "is missing", "no interface has an address that a tunnel could come from: write one")


def next_hop(table: Table, key: str, text: str, site: Site) -> LinkAddress:
    """Return a neighbour and the link that it is on."""
    address = table.convert(key, text, IPv6Address, "write an address, with %INTERFACE if it is link-local")
    return LinkAddress(link_of(table, key, address, site.config.interfaces).vlan, IPv6Address(int(address)))


def check_proof(table: Table, key: str, mode: Mode, policy: str, site: Site) -> None:
    """Refuse what the proof does not cover: it is of the whole list, as it stands in a tunnel."""
    if policy and site.read.policy[policy].secret and mode not in (Mode.TUNNEL, Mode.FRAME):
        mend = f'leave key out of policy {policy!r}, or write mode = "tunnel" or "frame"'
        raise table.error(key, f"policy {policy!r} has a key, and no proof goes with this mode", mend)
