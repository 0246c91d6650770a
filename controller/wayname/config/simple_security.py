"""What a configuration says of simple security at a site's border (RFC 6092), and the pinholes in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Network
from typing import Annotated, Any, Self

from pydantic import model_validator

from wayname.config.flows import WITH_PORTS, FlowPrefix, Ports, Protocol
from wayname.config.tables import WORD, Mistake, Site, Table, mistake, raise_all, read, reported

MOST_PINHOLES = 1024
WORDS = {6: "tcp", 17: "udp", 58: "icmpv6", 132: "sctp"}


class Filtering(StrEnum):
    """Who outside may send to what the inside sent from."""

    ENDPOINT_INDEPENDENT = "endpoint-independent"
    ADDRESS_DEPENDENT = "address-dependent"


class SimpleSecurity(Table):
    """`[simple_security]`; where it does not say so, it is on with `[[nptv6]]`."""

    enabled: bool | None = None
    filtering: Annotated[Filtering, WORD] = Filtering.ENDPOINT_INDEPENDENT


@dataclass(frozen=True, slots=True, order=True)
class Pinhole:
    """Flows to hosts inside that may begin outside; what is None does not matter."""

    inside: IPv6Network
    protocol: int | None = None
    ports: tuple[int, int] | None = None

    def __str__(self) -> str:
        protocol = "" if self.protocol is None else f" {WORDS[self.protocol]}"
        ports = "" if self.ports is None else f" {'-'.join(map(str, dict.fromkeys(self.ports)))}"
        return f"{self.inside}{protocol}{ports}"


class PinholeTable(Table):
    """`[[pinhole]]` as it is written."""

    inside: FlowPrefix
    protocol: Protocol | None = None
    ports: Ports | None = None

    @model_validator(mode="after")
    def _check_ports(self) -> Self:
        if self.ports is not None and self.protocol not in WITH_PORTS:
            raise mistake("needs a protocol with ports", 'write protocol = "tcp", "udp" or "sctp"', "ports")
        return self

    def resolved(self, site: Site) -> Pinhole:
        """Return it, if there are hosts in its prefix."""
        raise_all(_inside(self.inside, site))
        return Pinhole(self.inside, self.protocol, self.ports)


def _inside(inside: IPv6Network, site: Site) -> Iterator[Mistake]:
    outer = {hop.vlan for provider in site.config.providers for hop, _ in provider.via}
    own = [each.inside for each in site.config.translations]
    own += [
        each.network
        for interface in site.config.interfaces
        for each in interface.global_addresses
        if interface.vlan not in outer
    ]
    own += [route.prefix for route in site.config.routes if not any(hop.vlan in outer for hop, _ in route.via)]
    if not any(inside.overlaps(each) for each in own):
        mend = "write the address that the host has inside; those outside follow from it"
        yield Mistake(("inside",), f"no host inside has an address in {inside}", mend)


def check_simple_security(found: SimpleSecurity, site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with `[simple_security]`."""
    if found.enabled and not site.config.translations:
        yield Mistake(("enabled",), "there is no border to filter at", "write [[nptv6]], whose border it guards")


def check_pinholes(found: tuple[Pinhole, ...], site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with all `[[pinhole]]` beside each other."""
    if found and not site.config.filters_inbound:
        wrong, mend = "nothing is filtered, so it opens nothing", "switch on [simple_security], or leave it out"
        yield Mistake((0,), wrong, mend)
    if len(found) > MOST_PINHOLES:
        yield Mistake((), f"there are {len(found)}", f"write {MOST_PINHOLES} at most")
    for index, each in enumerate(found):
        if each in found[:index]:
            yield Mistake((index,), f"{each} is there twice", "give every pinhole once")


def read_pinhole(values: Mapping[str, Any], site: Site) -> Pinhole:
    """Read a pinhole that is wanted while the controller runs."""
    table: PinholeTable = read(PinholeTable, values, "pinhole", "", site)
    with reported("pinhole", ""):
        return table.resolved(site)
