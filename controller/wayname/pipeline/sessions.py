"""One builder for each table of sessions (docs/sessions.md): domain types in, finsy's entities out."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import finsy as fy

from wayname.p4_constants import HostProtocols
from wayname.pipeline.entries import prefix_keys, table_entry

MICROSECONDS = 1_000_000
IDENTIFIER_MASK = (1 << 64) - 1

ENDPOINT_POLICY_TABLES = ("endpoint_policy_sources", "endpoint_policy_destinations")


def microseconds(seconds: float) -> int:
    """Return a time as the tables have it."""
    return round(seconds * MICROSECONDS)


def endpoint_policy(
    prefix: IPv6Network, octets: int, seconds: float, protocols: int = HostProtocols.SHIM6
) -> list[fy.P4TableEntry]:
    """The hosts of a prefix have an edge that speaks for them; the thresholds make it begin."""
    parameters = {"bytes": octets, "time": microseconds(seconds), "protocols": int(protocols)}
    return [table_entry(table, prefix_keys(key, prefix), "proxy", **parameters) for table, key in _both_ways()]


def spoken_by_hosts(prefix: IPv6Network, verified: bool) -> list[fy.P4TableEntry]:
    """The hosts of a prefix speak Shim6 themselves, and may be checked."""
    action = "verify" if verified else "transparent"
    return [table_entry(table, prefix_keys(key, prefix), action) for table, key in _both_ways()]


def leaves_locators_to_border(prefix: IPv6Network) -> fy.P4TableEntry:
    """The hosts of a prefix speak ILNP themselves, but the border changes their locators."""
    return _at_border("endpoint_policy_sources", "source", prefix)


def reached_over_border(prefix: IPv6Network) -> fy.P4TableEntry:
    """What comes to this prefix is for such hosts."""
    return _at_border("endpoint_policy_destinations", "destination", prefix)


def _at_border(table: str, key: str, prefix: IPv6Network) -> fy.P4TableEntry:
    spoken = HostProtocols.ILNP | HostProtocols.HOSTS
    return table_entry(table, prefix_keys(key, prefix), "proxy", bytes=0, time=0, protocols=int(spoken))


def takes_nonces(prefix: IPv6Network, octets: int) -> fy.P4TableEntry:
    """TCP of hosts here to this prefix opens with a nonce."""
    return table_entry(
        "endpoint_policy_destinations", prefix_keys("destination", prefix), "takes_nonces", nonce_length=octets
    )


def takes_none(address: IPv6Address) -> fy.P4TableEntry:
    """TCP of hosts here to this address opens without a nonce."""
    return table_entry("endpoint_policy_destinations", prefix_keys("destination", IPv6Network(address)), "transparent")


def _both_ways() -> list[tuple[str, str]]:
    return list(zip(ENDPOINT_POLICY_TABLES, ("source", "destination"), strict=True))


def identities(
    local: IPv6Address,
    remote: IPv6Address,
    session: int,
    path: int,
    generation: int,
    send_timeout: float,
    keepalive: float,
    mode: int,
    idle: float,
    ecmp_paths: int = 0,
) -> fy.P4TableEntry:
    """Packets between these identities, of either direction, are a session's; a new generation moves it to the path.

    The switch says when there were none for as long as `idle`.
    """
    entry = table_entry(
        "identities",
        {"local": int(local), "remote": int(remote)},
        "send_in_session",
        session=session,
        path=path,
        generation=generation,
        ecmp_paths=ecmp_paths,
        send_timeout=microseconds(send_timeout),
        keepalive=microseconds(keepalive),
        mode=int(mode),
    )
    entry.idle_timeout_ns = int(idle * 1e9)
    return entry


def fork(
    of: int, protocol: int, local_port: int, peer_port: int, session: int, path: int, generation: int
) -> fy.P4TableEntry:
    """A flow of a session's host has a session of its own."""
    keys = {"session": of, "next_header": protocol, "source_port": local_port, "destination_port": peer_port}
    return table_entry("forks", keys, "fork_to", session=session, path=path, generation=generation)


def path_plain(session: int, path: int, route_table: int) -> fy.P4TableEntry:
    """A path on which packets bear the identities."""
    return table_entry("paths", {"session": session, "path": path}, "send_plain", vrf=route_table)


def path_shim6(
    session: int, path: int, source: IPv6Address, destination: IPv6Address, tag: int, route_table: int
) -> fy.P4TableEntry:
    """A path on which packets bear locators, and the peer's tag in a payload header."""
    return table_entry(
        "paths",
        {"session": session, "path": path},
        "send_shim6",
        source=int(source),
        destination=int(destination),
        tag=tag,
        vrf=route_table,
    )


def path_ilnp(
    session: int,
    path: int,
    source: IPv6Address,
    destination: IPv6Address,
    nonce: bytes,
    difference: int,
    route_table: int,
) -> fy.P4TableEntry:
    """A path on which packets bear other locators and, unless it is empty, a nonce."""
    return table_entry(
        "paths",
        {"session": session, "path": path},
        "send_ilnp",
        source=int(source),
        destination=int(destination),
        nonce=int.from_bytes(nonce),
        nonce_length=len(nonce),
        difference=difference,
        vrf=route_table,
    )


def ilnp_nonce(local: IPv6Address, remote: IPv6Address, nonce: bytes, session: int, difference: int) -> fy.P4TableEntry:
    """The session of packets between these identifiers that bear the nonce; none stands for packets without one."""
    identifiers = {"local": int(local) & IDENTIFIER_MASK, "remote": int(remote) & IDENTIFIER_MASK}
    return table_entry(
        "ilnp_nonces",
        identifiers | {"nonce": int.from_bytes(nonce)},
        "admit_ilnp",
        session=session,
        local=int(local),
        remote=int(remote),
        difference=difference,
    )


def backup(session: int, path: int, to: int) -> fy.P4TableEntry:
    """Where the switch moves a session that is not answered on a path."""
    return table_entry("backups", {"session": session, "path": path}, "next_path", path=to)


def context_tag(tag: int, session: int, local: IPv6Address, remote: IPv6Address) -> fy.P4TableEntry:
    """The identities of packets that bear one of our tags."""
    return table_entry("context_tags", {"tag": tag}, "admit", session=session, local=int(local), remote=int(remote))


def locator_pair(session: int, source: IPv6Address, destination: IPv6Address, path: int) -> fy.P4TableEntry:
    """Locators that a session's packets may come with."""
    keys = {"session": session, "source": int(source), "destination": int(destination)}
    return table_entry("locator_pairs", keys, "on_path", path=path)


def source_policy_route(prefix: IPv6Network, route_table: int) -> fy.P4TableEntry:
    """The routes of packets from a prefix."""
    return table_entry("source_policy_routes", prefix_keys("source", prefix), "use_vrf", vrf=route_table)
