"""Reads what a configuration says of names."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from ipaddress import IPv6Address, IPv6Network

import dns.exception
import dns.name

from wayname.config.checks import between, far_address, one_of
from wayname.config.names import NamedNode, Names, Transport
from wayname.config.reader import Table


def read_names(table: Table, sites: Sequence[Sequence[IPv6Network]], with_network: bool = True) -> Names:
    """Read which server is told of the hosts of these sites, and asked about whom; some have one name for a network."""
    key_name, key = table.take("key_name", str, ""), b""
    if key_name or table.has("key"):
        _name(table, "key_name", key_name)
        key = table.secret("key", _secret, "write the key that the server knows under key_name, in base64")
    zone = table.take("zone", str, "")
    if zone:
        _name(table, "zone", zone)
    network = table.take("network", str, "") if with_network else ""
    if network:
        _name(table, "network", network)
        if len(sites) > 1:
            mend = "leave network out, and each host's name gets the locators of its own site"
            raise table.error("network", f"is one name for {len(sites)} sites", mend)
    names = Names(
        table.parse("server", _server, "write the address of a DNS server"),
        table.take("port", int, 53, between(1, 65535)),
        zone,
        network,
        key_name,
        key,
        _nodes(table, "host"),
        _nodes(table, "peer"),
        Transport(table.take("transport", str, Transport.UDP.value, one_of(*Transport))),
        table.take("dnssec", bool, False),
    )
    if names.dnssec and not (names.server.is_loopback or names.key):
        wrong = f"whoever is between here and {names.server} can say that an answer is authentic"
        raise table.error("dnssec", wrong, "name a server on this machine (::1), or a key that signs its answers")
    for index, host in enumerate(names.hosts):
        if not any(host.address in prefix for prefixes in sites for prefix in prefixes):
            mend = "names of hosts here are told to the DNS, those of others belong into [[names.peer]]"
            raise table.error(f"host[{index}].address", f"{host.address} is in no site", mend)
        _in_zone(table, f"host[{index}].name", host.name, zone)
    if network:
        _in_zone(table, "network", network, zone)
    table.close()
    return names


def _in_zone(table: Table, key: str, name: str, zone: str) -> None:
    if not zone:
        raise table.error("zone", "is missing", "say in which zone the names of hosts are updated")
    if not dns.name.from_text(name).is_subdomain(dns.name.from_text(zone)):
        raise table.error(key, f"{name} is not in {zone}", "give it a name in the zone")


def _nodes(table: Table, kind: str) -> tuple[NamedNode, ...]:
    nodes: list[NamedNode] = []
    for each in table.tables(kind):
        address = each.parse("address", far_address, "write the node's address")
        name = each.take("name", str)
        _name(each, "name", name)
        if any(address == other.address for other in nodes):
            raise each.error("address", f"{address} is there twice", "give every node one name")
        nodes.append(NamedNode(address, name))
        each.close()
    return tuple(nodes)


def _name(table: Table, key: str, text: str) -> None:
    try:
        if dns.name.from_text(text) == dns.name.root:
            raise table.error(key, "is empty", "write a name as in a.example")
    except dns.exception.DNSException as wrong:
        raise table.error(key, f"{text!r} is no name ({wrong})", "write a name as in a.example") from None


def _server(text: str) -> IPv6Address:
    address = IPv6Address(text)
    if address.is_multicast or address.is_unspecified:
        raise ValueError("no server has it")
    return address


def _secret(text: str) -> bytes:
    key = base64.b64decode(text, validate=True)
    if not key:
        raise ValueError("it is empty")
    return key
