"""Builders for the tables that map a host with an address of its own to its identity, one to one."""

from __future__ import annotations

from ipaddress import IPv6Address

import finsy as fy


def mapped_source(host: IPv6Address, identity: IPv6Address) -> fy.P4TableEntry:
    """What a host sends bears its identity."""
    action = fy.Action("map_source", identity=int(identity))
    return fy.P4TableEntry("mapped_sources", match=fy.Match(source=int(host)), action=action)


def mapped_destination(identity: IPv6Address, host: IPv6Address) -> fy.P4TableEntry:
    """What is for an identity goes to its host."""
    action = fy.Action("map_destination", host=int(host))
    return fy.P4TableEntry("mapped_destinations", match=fy.Match(destination=int(identity)), action=action)
