"""What a configuration says of the identities that hosts get from their edge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path


class Form(StrEnum):
    """How locators are proved: by belonging to a set, and what came later by a signature; or all by a signature."""

    HBA = "hba"
    CGA = "cga"


@dataclass(frozen=True, slots=True)
class HostLink:
    """A link whose hosts get identities, by DHCPv6 or by mapping; lifetimes in seconds."""

    vlan: int
    name: str
    prefixes: tuple[IPv6Network, ...] = ()
    dhcp: bool = True
    every_prefix: bool = False
    preferred: int = 3600
    valid: int = 7200
    mapped: tuple[IPv6Network, ...] = ()
    uplinks: tuple[int, ...] = ()
    most: int = 4096
    most_by_port: int = 4096

    def maps(self, address: IPv6Address) -> bool:
        """Whether a host has this address for itself, and is known elsewhere by an identity of the edge."""
        return any(address in prefix for prefix in self.mapped)


@dataclass(frozen=True, slots=True)
class Identities:
    """The identities of one edge; their one key signs what no set proves."""

    key: Path
    bits: int = 2048
    form: Form = Form.HBA
    sec: int = 1
    prepared: int = 16
    links: tuple[HostLink, ...] = ()

    def link(self, vlan: int) -> HostLink | None:
        """Return the link of a VLAN."""
        return next((link for link in self.links if link.vlan == vlan), None)
