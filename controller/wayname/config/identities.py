"""What a configuration says of the identities that hosts get from their edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationInfo, model_validator

from wayname.config.checks import MOST_PREFIXES, FilePath, kept_file, prefix
from wayname.config.provider import Phase
from wayname.config.tables import (
    WORD,
    Mistake,
    Site,
    Table,
    beneath,
    between,
    by,
    mistake,
    raise_all,
    twice,
)
from wayname.identity.key_files import LEAST_KEY_BITS, MOST_KEY_BITS

if TYPE_CHECKING:
    from wayname.config.model import Interface

MOST_SEC = 3
MOST_LIFETIME = 2**32 - 2  # one more is for ever
HostsPrefix = Annotated[IPv6Network, prefix("2001:db8:1:10::/64")]
Lifetime = Annotated[int, between(60, MOST_LIFETIME)]


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
    max_hosts_per_port: int = 4096

    def maps(self, address: IPv6Address) -> bool:
        """Whether a host has this address for itself, and is known elsewhere by an identity of the edge."""
        return any(address in prefix for prefix in self.mapped)


class LinkTable(Table):
    """`[[identities.link]]` as it is written."""

    interface: str
    prefixes: tuple[HostsPrefix, ...] | None = None
    dhcp: bool = True
    addresses: Literal["first", "all"] = "first"
    preferred: Lifetime = 3600
    valid: Lifetime = Field(default_factory=lambda link: max(7200, link["preferred"]))
    mapped: tuple[HostsPrefix, ...] = ()
    uplinks: tuple[str, ...] = ()
    most: Annotated[int, between(1, 100_000)] = 4096
    max_hosts_per_port: Annotated[int, between(1, 100_000)] | None = None

    def resolved(self, site: Site) -> HostLink:
        """Return it with its interfaces, and with what follows from them."""
        interface = _interface(self.interface, site, "interface")
        # Nobody gets an address in a prefix that has ended.
        ended = [each.prefix for each in site.config.providers if each.phase is Phase.ENDED]
        on_link = [own.network for own in interface.global_addresses if not _overlaps(own.network, ended)]
        own = dict.fromkeys(each for each in on_link if each.prefixlen == 64 and not _overlaps(each, self.mapped))
        written = (each for each in self.prefixes or () if not _overlaps(each, ended))
        prefixes = tuple(own) if self.prefixes is None else tuple(written)
        uplinks = [_interface(name, site, "uplinks", index) for index, name in enumerate(self.uplinks)]
        # An equal share for each port of the link, so that none takes the identities of others.
        share = max(1, self.most // len(site.config.members(interface.vlan)))
        # None is left until the provider gives another one.
        raise_all(self._mistakes(interface, prefixes, uplinks, site.is_incomplete or bool(ended)))
        return HostLink(
            interface.vlan,
            interface.name,
            prefixes,
            self.dhcp,
            self.addresses == "all",
            self.preferred,
            self.valid,
            self.mapped,
            tuple(dict.fromkeys(uplink.vlan for uplink in uplinks)),
            self.most,
            share if self.max_hosts_per_port is None else self.max_hosts_per_port,
        )

    def _mistakes(
        self, interface: Interface, prefixes: tuple[IPv6Network, ...], uplinks: list[Interface], is_incomplete: bool
    ) -> Iterator[Mistake]:
        on_link = [own.network for own in interface.global_addresses]
        mend = f"give {interface.name} an address in it"
        if len(prefixes) > MOST_PREFIXES:
            many = f"write {MOST_PREFIXES} at most, one from each provider"
            yield Mistake(("prefixes",), f"are {len(prefixes)}", many)
        for index, each in enumerate(prefixes):
            where = ("prefixes", index)
            if each.prefixlen > 64:
                yield Mistake(where, f"{each} is longer than /64", "write one from each provider")
            elif each.prefixlen != 64 or each.is_link_local or each.is_multicast:
                yield Mistake(where, f"{each} is no /64 of hosts", "write one from each provider")
            elif self.dhcp and each not in on_link:
                yield Mistake(where, f"{each} is not on {interface.name}", f"{mend}, or set dhcp = false")
            if _overlaps(each, self.mapped):
                yield Mistake(where, f"{each} is mapped too", "identities come from other prefixes")
        for index, each in enumerate(self.mapped):
            if not any(each.subnet_of(own) for own in on_link):
                yield Mistake(("mapped", index), f"{each} is not on {interface.name}", mend)
        for key, given in (("prefixes", prefixes), ("mapped", self.mapped)):
            for index, each in enumerate(given):
                if _overlaps(each, given[:index]):
                    yield Mistake((key, index), f"{each} is there twice", "give every prefix once")
        for index, uplink in enumerate(uplinks):
            if uplink.vlan == interface.vlan or uplink.advertise:
                behind = "name interfaces behind which providers are"
                yield Mistake(("uplinks", index), f"{uplink.name} is a link of hosts", behind)
        if not prefixes and not is_incomplete and (self.dhcp or not uplinks):
            mend = f"give {interface.name} an address with /64 of a provider"
            yield Mistake(("prefixes",), "are missing", mend)
        if self.valid < self.preferred:
            mend = f"write {self.preferred} at least, which is preferred"
            yield Mistake(("valid",), f"is {self.valid}", mend)
        if self.max_hosts_per_port is not None and self.max_hosts_per_port > self.most:
            mend = f"write a number from 1 to {self.most}"
            yield Mistake(("max_hosts_per_port",), f"is {self.max_hosts_per_port}", mend)


class Identities(Table):
    """The identities of one edge; their one key signs what no set proves."""

    key: FilePath = Path("keys/edge.pem")
    bits: Annotated[int, between(LEAST_KEY_BITS, MOST_KEY_BITS)] = MOST_KEY_BITS
    form: Annotated[Form, WORD] = Form.HBA
    sec: Annotated[int, between(0, MOST_SEC)] = 1
    prepared: Annotated[int, between(1, 1000)] = 16
    links: tuple[Annotated[HostLink, by(LinkTable)], ...] = Field(alias="link")

    def link(self, vlan: int) -> HostLink | None:
        """Return the link of a VLAN."""
        return next((link for link in self.links if link.vlan == vlan), None)

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any, info: ValidationInfo) -> Any:
        if isinstance(values, dict) and not values.get("link"):
            raise mistake("is missing", "write [[identities.link]] with the interface of the hosts", "link")
        return {"key": kept_file("keys/edge.pem"), **values} if isinstance(values, dict) and info.context else values


def check_identities(identities: Identities, _site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with its links beside each other."""
    names = (link.name for link in identities.links)
    yield from beneath(twice(names, "interface", "put all of a link into one", str), "link")


def _interface(name: str, site: Site, *where: str | int) -> Interface:
    for interface in site.config.interfaces:
        if interface.name == name:
            return interface
    known = ", ".join(interface.name for interface in site.config.interfaces) or "none"
    raise mistake(f"there is no interface {name!r}", f"the interfaces are: {known}", *where)


def _overlaps(prefix: IPv6Network, others: Sequence[IPv6Network]) -> bool:
    return any(prefix.overlaps(other) for other in others)
