"""What a configuration says of names."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Network
from typing import Annotated, Self

import dns.exception
import dns.name
from pydantic import Field, model_validator

from wayname.config.checks import FarAddress
from wayname.config.tables import WORD, Mistake, Table, beneath, between, mistake, parsed, raise_all, secret, twice


class Transport(StrEnum):
    """How messages go to a DNS server. By UDP, what does not fit goes by TCP."""

    UDP = "udp"
    TCP = "tcp"


def _dns_name(text: str) -> str:
    if not text:
        return text
    try:
        name = dns.name.from_text(text)
    except dns.exception.DNSException as wrong:
        raise mistake(f"{text!r} is no name ({wrong})", "write a name as in a.example") from None
    if name == dns.name.root:
        raise mistake("is empty", "write a name as in a.example")
    return text


def _server(text: str) -> IPv6Address:
    address = IPv6Address(text)
    if address.is_multicast or address.is_unspecified:
        raise ValueError("no server has it")
    return address


def _key(text: str) -> bytes:
    key = base64.b64decode(text, validate=True)
    if not key:
        raise ValueError("it is empty")
    return key


_KEY_MEND = "write the key that the server knows under key_name, in base64"
DnsName = Annotated[str, parsed(_dns_name, "write a name as in a.example")]


class NamedNode(Table):
    """A node whose identifier and locators are under a name."""

    address: FarAddress
    name: DnsName


class Names(Table):
    """Which DNS server is asked and told, and who has which name there."""

    server: Annotated[IPv6Address, parsed(_server, "write the address of a DNS server")]
    port: Annotated[int, between(1, 65535)] = 53
    zone: DnsName = ""
    # What signs all messages, both ways (RFC 8945); without a key they go unsigned.
    key_name: DnsName = ""
    key: Annotated[bytes, secret(_key, _KEY_MEND)] = Field(default=b"", repr=False)
    hosts: tuple[NamedNode, ...] = Field(default=(), alias="host")
    peers: tuple[NamedNode, ...] = Field(default=(), alias="peer")
    transport: Annotated[Transport, WORD] = Transport.UDP
    # Whether answers count only if the server has validated them; whoever wrote the file can trust its word.
    dnssec: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        raise_all(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        if self.key_name and not self.key:
            yield Mistake(("key",), "is missing", _KEY_MEND)
        if self.key and not self.key_name:
            yield Mistake(("key_name",), "is missing", "write the name that the server knows the key by")
        if self.dnssec and not (self.server.is_loopback or self.key):
            wrong = f"whoever is between here and {self.server} can say that an answer is authentic"
            yield Mistake(("dnssec",), wrong, "name a server on this machine (::1), or a key that signs its answers")
        for index, host in enumerate(self.hosts):
            yield from self._outside_zone(host.name, "host", index, "name")
        for key, nodes in (("host", self.hosts), ("peer", self.peers)):
            addresses = (node.address for node in nodes)
            yield from beneath(twice(addresses, "address", "give every node one name", str), key)

    def _outside_zone(self, name: str, *where: str | int) -> Iterator[Mistake]:
        if not self.zone:
            yield Mistake(("zone",), "is missing", "say in which zone the names of hosts are updated")
        elif not dns.name.from_text(name).is_subdomain(dns.name.from_text(self.zone)):
            yield Mistake(where, f"{name} is not in {self.zone}", "give it a name in the zone")

    def outsiders(self, sites: Sequence[Sequence[IPv6Network]]) -> Iterator[Mistake]:
        """Yield a mistake for each host that is in none of these sites."""
        for index, host in enumerate(self.hosts):
            if not any(host.address in prefix for prefixes in sites for prefix in prefixes):
                mend = "names of hosts here are told to the DNS, those of others belong into [[names.peer]]"
                yield Mistake(("names", "host", index, "address"), f"{host.address} is in no site", mend)


class NetworkNames(Names):
    """The same, where a name may have the locators of a whole network."""

    # The name that has the locators of all hosts; theirs point at it (LP). Without it each has its own.
    network: DnsName = ""

    def _mistakes(self) -> Iterator[Mistake]:
        yield from super()._mistakes()
        if self.network:
            yield from self._outside_zone(self.network, "network")
