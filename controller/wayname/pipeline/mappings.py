"""Builders for the tables that map a host with an address of its own to its identity, one to one.

An entry says what the other address adds to checksums: the ones' complement sum of the new one less the old one's.
"""

from __future__ import annotations

from ipaddress import IPv6Address

import finsy as fy

ONES = 0xFFFF


def mapped_source(host: IPv6Address, identity: IPv6Address) -> fy.P4TableEntry:
    """What a host sends bears its identity."""
    action = fy.Action("map_source", identity=int(identity), difference=_difference(host, identity))
    return fy.P4TableEntry("mapped_sources", match=fy.Match(source=int(host)), action=action)


def mapped_destination(identity: IPv6Address, host: IPv6Address) -> fy.P4TableEntry:
    """What is for an identity goes to its host."""
    action = fy.Action("map_destination", host=int(host), difference=_difference(identity, host))
    return fy.P4TableEntry("mapped_destinations", match=fy.Match(destination=int(identity)), action=action)


def _difference(old: IPv6Address, new: IPv6Address) -> int:
    # 2^16 is 1 modulo 0xFFFF, so an address's remainder is the folded sum of its words.
    return (int(new) - int(old)) % ONES
