"""Entries of first-hop security: what is checked of hosts, and which addresses are whose."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import finsy as fy

from wayname.p4_constants import CPU_PORT, Guard
from wayname.pipeline.entries import prefix_keys, table_entry
from wayname.wire.mac import Mac

# What no host has is bound to the controller's port.
NOBODY = CPU_PORT


def host_member(number: int, vlan: int, guards: Guard) -> fy.P4TableEntry:
    """A VLAN whose packets may come in by a port of hosts."""
    return table_entry("vlan_members", {"port": number, "vlan": vlan}, "admit_host", guards=guards.value)


def host_prefix(vlan: int, prefix: IPv6Network) -> fy.P4TableEntry:
    """A prefix in which hosts of a VLAN may have addresses."""
    return table_entry("host_prefixes", {"vlan": vlan, **prefix_keys("address", prefix)}, "host_prefix")


def source_binding(vlan: int, address: IPv6Address, number: int, mac: Mac, idle: float = 0) -> fy.P4TableEntry:
    """To whom an address belongs; the switch says when it was not used for so many seconds."""
    entry = table_entry(
        "source_bindings", {"vlan": vlan, "address": int(address)}, "bind_source", port=number, mac=mac.value
    )
    entry.idle_timeout_ns = int(idle * 1e9)
    return entry


def refused_source(number: int, vlan: int, mac: Mac) -> fy.P4TableEntry:
    """A station that lives behind another port."""
    return table_entry("learned_macs", {"port": number, "vlan": vlan, "source": mac.value}, "refuse_mac")
