"""One builder for each table of simple security (docs/simple-security.md)."""

from __future__ import annotations

from collections.abc import Iterator

import finsy as fy

from wayname.config.simple_security import Filtering, Pinhole
from wayname.p4_constants import BorderSide
from wayname.pipeline.entries import table_entry

ALL_OF_PROTOCOL = 0xFF
ALL_PORTS = 0, 0xFFFF
PRIORITY = 1  # all pinholes do the same


def filter_inbound(filtering: Filtering) -> Iterator[fy.P4TableEntry]:
    """Only what answers comes in."""
    of_address = int(filtering is Filtering.ADDRESS_DEPENDENT)
    for side in (BorderSide.INSIDE, BorderSide.OUTSIDE):
        yield table_entry("simple_security", {"side": int(side)}, "filter_inbound", of_address=of_address)


def pinhole(pinhole: Pinhole) -> fy.P4TableEntry:
    """Flows that may begin outside."""
    keys: dict[str, int | tuple[int, int]] = {}
    if pinhole.inside.prefixlen:
        keys["local"] = (int(pinhole.inside.network_address), int(pinhole.inside.netmask))
    if pinhole.protocol is not None:
        keys["next_header"] = (pinhole.protocol, ALL_OF_PROTOCOL)
    if pinhole.ports is not None and pinhole.ports != ALL_PORTS:
        keys["local_port"] = pinhole.ports
    entry = table_entry("pinholes", keys, "open_pinhole")
    entry.priority = PRIORITY
    return entry
