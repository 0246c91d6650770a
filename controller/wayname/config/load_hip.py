"""Reads what a configuration says of HIP."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

from wayname.config.checks import between, far_address, is_path, one_of
from wayname.config.hip import Hip, HipHost, HipPeer
from wayname.config.load_names import read_names
from wayname.config.load_shim6 import read_prefixes, read_rules
from wayname.config.reader import Table
from wayname.config.session_rules import KEEPALIVES_IN_TIMEOUT, Mode, SessionRules
from wayname.hip.errors import NoProposalError
from wayname.hip.suites import Point, suite_of


def read_hip(root: Table, folder: Path, others: Iterable[IPv6Network]) -> Hip | None:
    """Read `[hip]`; its prefixes are none of the others, of Shim6 and ILNP."""
    if not root.has("hip"):
        return None
    table = root.table("hip")
    taken = list(others)
    rules: list[SessionRules] = []
    common: SessionRules | None = None
    for mode in Mode:
        if table.has(mode):
            prefixes = read_prefixes(table, mode, taken)
            taken += prefixes
            # Hosts that speak themselves have sessions too, watched by the same rules.
            common = common or _rules(table, prefixes)
            if mode is not Mode.PROXY and common.least_send_timeout is not None:
                raise table.error("send_timeout", f'is "auto", but nobody probes for hosts of {mode}', "write seconds")
            rules.append(replace(common, prefixes=prefixes, mode=mode))
    if not rules:
        raise table.error("proxy", "is missing", "give prefixes in proxy, transparent or verify")
    proxied = [prefix for each in rules if each.mode is Mode.PROXY for prefix in each.prefixes]
    difficulty = table.take("difficulty", int, 8, between(0, 24))
    hip = Hip(
        tuple(rules),
        _hosts(table, folder, proxied),
        _peers(table, proxied),
        difficulty,
        table.take("most_difficulty", int, max(18, difficulty), between(difficulty, 32)),
        read_names(table.table("names"), [proxied], with_network=False) if table.has("names") else None,
    )
    _check_names(table, hip, proxied)
    table.close()
    return hip


def _check_names(table: Table, hip: Hip, proxied: list[IPv6Network]) -> None:
    """Names are of hosts that have an identity, and of peers that nothing else is said of."""
    if hip.names is None:
        return
    hosts, peers = {host.address for host in hip.hosts}, {peer.address for peer in hip.peers}
    for index, node in enumerate(hip.names.hosts):
        if node.address not in hosts:
            raise table.error(f"names.host[{index}]", f"{node.address} has no identity", "give it a [[hip.host]]")
    for index, node in enumerate(hip.names.peers):
        if node.address in peers or any(node.address in prefix for prefix in proxied):
            mend = "leave the [[hip.peer]] out, or the name" if node.address in peers else "peers are elsewhere"
            raise table.error(f"names.peer[{index}]", f"{node.address} is known already", mend)


def _rules(table: Table, prefixes: tuple[IPv6Network, ...]) -> SessionRules:
    """Read how sessions are watched; HIP has no word for send timeouts, so that keepalives fit the least one."""
    rules = read_rules(table, prefixes, SessionRules)
    if table.has("keepalive"):
        return rules
    return replace(rules, keepalive=rules.told_send_timeout / KEEPALIVES_IN_TIMEOUT)


def _hosts(table: Table, folder: Path, proxied: list[IPv6Network]) -> tuple[HipHost, ...]:
    hosts: list[HipHost] = []
    for each in table.tables("host"):
        address = each.parse("address", IPv6Address, "write the host's address")
        if not any(address in prefix for prefix in proxied):
            raise each.error("address", f"{address} is in none of proxy", "give the host an address in one of them")
        if any(host.address.packed[8:] == address.packed[8:] for host in hosts):
            # In all prefixes it has the same interface identifier.
            raise each.error("address", f"{address} or its interface identifier is there twice", "give every host once")
        key = folder / each.take("key", str, f"hip-{address.exploded.replace(':', '')}.pem", is_path)
        point = Point(each.take("point", str, Point.XY, one_of(*Point)))
        hosts.append(HipHost(address, key, point))
        each.close()
    return tuple(hosts)


def _peers(table: Table, proxied: list[IPv6Network]) -> tuple[HipPeer, ...]:
    peers: list[HipPeer] = []
    for each in table.tables("peer"):
        address = each.parse("address", far_address, "write the address that hosts here know the peer by")
        if any(address in prefix for prefix in proxied):
            raise each.error("address", f"{address} is of this site", "peers are elsewhere")
        hit = each.parse("hit", IPv6Address, "write the peer's HIT, as its HIP record has it")
        try:
            suite_of(hit)
        except NoProposalError as error:
            raise each.error("hit", str(error), "write the peer's HIT, as its HIP record has it") from None
        if any(peer.address == address or peer.hit == hit for peer in peers):
            raise each.error("address", f"{address} or its HIT is there twice", "give every peer once")
        peers.append(HipPeer(address, hit))
        each.close()
    return tuple(peers)
