"""Builders for what bounds the way to the controller (docs/punts.md): meters by class and port, shares of sources."""

from __future__ import annotations

from ipaddress import IPv6Address

import finsy as fy

from wayname.p4_constants import PORTS, Punt, PuntClass
from wayname.pipeline.entries import rate, table_entry
from wayname.pipeline.reasons import CAPTURES
from wayname.pipeline.sessions import microseconds

# In place of a class: what the switch told by a digest.
DIGEST = 0
# All that have meters by class and port: copies of captures have their own.
CLASSES: tuple[int, ...] = (*(each for each in Punt if each not in CAPTURES), *PuntClass)


def cell(punt_class: int, port: int) -> int:
    """Return the index of a class at a port."""
    return punt_class * PORTS + port


def class_rate(punt_class: int, port: int, a_second: int) -> fy.P4MeterEntry:
    """What may come of a class by a port."""
    return rate("punt_class_meter", cell(punt_class, port), a_second)


def port_share(port: int, a_second: int) -> fy.P4MeterEntry:
    """What may come by a port of all classes that share."""
    return rate("punt_port_meter", port, a_second)


def total_rate(a_second: int) -> fy.P4MeterEntry:
    """What may come by all ports together of all classes that share."""
    return rate("punt_total_meter", 0, a_second)


def source_limit(punt_class: int, a_second: int, at_once: int, shares: bool) -> fy.P4TableEntry:
    """What may come of a class from one source, and whether it counts for the shares of ports."""
    every = 1 / a_second
    times = {"every": microseconds(every), "early": microseconds(every * (at_once - 1))}
    return table_entry("punt_limits", {"class": punt_class}, "limit_sources", **times, shares=int(shares))


def protocol_punt(
    reason: int,
    punt_class: int,
    protocols: int,
    *,
    next_header: int | None = None,
    udp_port: int | None = None,
    icmpv6_type: int | None = None,
) -> fy.P4TableEntry:
    """What a message of a protocol that P4 does not know looks like, to hosts whose prefix has its bit."""
    keys: dict[str, int | tuple[int, int]] = {"protocols": (protocols, protocols)}
    for key, value, mask in (
        ("next_header", next_header, 0xFF),
        ("udp_port", udp_port, 0xFFFF),
        ("icmpv6_type", icmpv6_type, 0xFF),
    ):
        if value is not None:
            keys[key] = (value, mask)
    entry = table_entry("protocol_punts", keys, "punt_message", reason=reason, **{"class": punt_class})
    entry.priority = 1
    return entry


def own_probe(vlan: int, mark: bytes, nexthop: int) -> fy.P4TableEntry:
    """What marks the echo requests that the router sends to itself by a next hop."""
    return table_entry("own_probes", {"vlan": vlan, "mark": int.from_bytes(mark)}, "own_probe", nexthop=nexthop)


def association(local: IPv6Address, remote: IPv6Address, session: int) -> fy.P4TableEntry:
    """The session about which messages between two HITs are, ours first."""
    return table_entry("associations", {"local": int(local), "remote": int(remote)}, "of_association", session=session)
