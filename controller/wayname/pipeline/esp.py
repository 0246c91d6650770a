"""Builders for what the tables hold of HIP hosts' ESP (docs/hip-tables.md); the rest is as for any session."""

from __future__ import annotations

from ipaddress import IPv6Address

import finsy as fy

from wayname.pipeline.entries import table_entry


def spi(destination: IPv6Address, number: int, local: IPv6Address, remote: IPv6Address) -> fy.P4TableEntry:
    """ESP to this locator, with the SPI that its host chose, goes between these HITs: our host's, and the peer's."""
    keys = {"destination": int(destination), "spi": number}
    return table_entry("spis", keys, "admit_esp", local=int(local), remote=int(remote))


def path_beet(
    session: int, path: int, source: IPv6Address, destination: IPv6Address, route_table: int, peer_spi: int
) -> fy.P4TableEntry:
    """A path on which ESP bears these locators; the SPI is that of what the switch itself sends to the peer's edge."""
    return table_entry(
        "paths",
        {"session": session, "path": path},
        "send_beet",
        source=int(source),
        destination=int(destination),
        vrf=route_table,
        spi=peer_spi,
    )
