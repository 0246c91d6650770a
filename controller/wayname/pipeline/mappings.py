"""Builders for the tables that map a host with an address of its own to its identity, one to one.

An entry says what the other address adds to checksums.
"""

from __future__ import annotations

from ipaddress import IPv6Address

import finsy as fy

from wayname.p4_constants import Maps
from wayname.pipeline.entries import table_entry
from wayname.wire.checksum import address_delta
from wayname.wire.mac import Mac


def mapping_interface(vlan: int, mac: Mac, address: IPv6Address, maps: Maps) -> fy.P4TableEntry:
    """The router on a VLAN of an edge that maps hosts."""
    arguments = {"mac": mac.value, "address": int(address), "maps": int(maps)}
    return table_entry("interfaces", {"vlan": vlan}, "set_mapping_interface", **arguments)


def mapped_source(host: IPv6Address, identity: IPv6Address) -> fy.P4TableEntry:
    """What a host sends bears its identity."""
    action = fy.Action("map_source", identity=int(identity), difference=address_delta(host, identity))
    return fy.P4TableEntry("static_mapping_sources", match=fy.Match(source=int(host)), action=action)


def mapped_destination(identity: IPv6Address, host: IPv6Address) -> fy.P4TableEntry:
    """What is for an identity goes to its host."""
    action = fy.Action("map_destination", host=int(host), difference=address_delta(identity, host))
    return fy.P4TableEntry("static_mapping_destinations", match=fy.Match(destination=int(identity)), action=action)
