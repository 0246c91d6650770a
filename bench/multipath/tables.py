"""What the tables of the two edges hold: hosts, paths between the edges, sessions over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address, IPv6Network

import finsy as fy

from wayname.p4_constants import SessionMode
from wayname.pipeline import entries, sessions
from wayname.pipeline.entries import Entity
from wayname.wire.mac import Mac

HOSTS_VLAN = 10
ROUTER = IPv6Address("fe80::1")
FIRST_PATH_PORT = 100


def site(side: int) -> IPv6Network:
    """Return the prefix of the hosts behind an edge; the edges are 0 and 1."""
    return IPv6Network((int(IPv6Address("2001:db8:a::")) + (side << 80), 64))


def host_address(side: int, host: int) -> IPv6Address:
    """Return the address of one of a side's hosts, which have numbers from 0."""
    return site(side)[0x11 + host]


def host_mac(side: int, host: int) -> Mac:
    """Return its MAC."""
    return Mac(0x02_00_00_00_00_11 + (side << 8) + host)


def router_mac(side: int, vlan: int) -> Mac:
    """Return an edge's MAC on a VLAN."""
    return Mac(0x02_ED_00_00_00_00 + (side << 24) + vlan)


def path_port(path: int) -> int:
    """Return the port of a path; its VLAN, next hop and table of routes have the same number."""
    return FIRST_PATH_PORT + path


def of_edge(side: int, hosts: int, paths: int) -> Iterator[Entity]:
    """Return everything of an edge but its sessions. Without a session packets go by the first path."""
    for host in range(hosts):
        yield from _port(host + 1, HOSTS_VLAN)
        yield entries.fdb_entry(HOSTS_VLAN, host_mac(side, host), host + 1)
        yield entries.neighbour(HOSTS_VLAN, host_address(side, host), host + 1, host_mac(side, host))
    yield from _interface(side, HOSTS_VLAN)
    yield from _routes_home(side, entries.MAIN_ROUTES)
    yield entries.route_nexthop(site(1 - side), path_port(0))
    for path in range(paths):
        number = path_port(path)
        yield from _port(number, number)
        yield from _interface(side, number)
        yield entries.nexthop(number, number, ROUTER)
        yield entries.neighbour(number, ROUTER, number, router_mac(1 - side, number))
        yield from _routes_home(side, number)
        yield entries.route_nexthop(site(1 - side), number, number)


def of_session(side: int, number: int, host: int, paths: Sequence[int], scheduled: bool) -> Iterator[Entity]:
    """Return a session between the two sides' hosts of one number; without a schedule it goes by its first path."""
    local, remote = host_address(side, host), host_address(1 - side, host)
    yield from sessions.endpoint_policy(IPv6Network(local), 0, 0.0)
    yield sessions.identities(
        local,
        remote,
        number,
        0,
        1,
        send_timeout=0.0,
        keepalive=0.0,
        mode=SessionMode.SCHEDULE if scheduled else SessionMode(0),
        idle=0.0,
    )
    for path, used in enumerate(paths):
        yield sessions.path_plain(number, path, path_port(used))


def _port(number: int, vlan: int) -> Iterator[fy.P4TableEntry]:
    yield entries.port(number, vlan)
    yield entries.vlan_member(number, vlan)
    yield entries.vlan_tag(number, vlan, tagged=False)


def _interface(side: int, vlan: int) -> Iterator[Entity]:
    yield entries.flood_group(vlan, ())
    yield entries.interface(vlan, router_mac(side, vlan), ROUTER)
    yield entries.source_mac(vlan, router_mac(side, vlan))
    yield entries.own_address(vlan, ROUTER)


def _routes_home(side: int, table: int) -> Iterator[fy.P4TableEntry]:
    yield entries.route_connected(site(side), HOSTS_VLAN, table)
