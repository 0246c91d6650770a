"""Builders for interfaces of Linux beside the router's (docs/linux-control-plane.md)."""

from __future__ import annotations

import finsy as fy

from wayname.p4_constants import PORTS, LinuxClass
from wayname.pipeline.entries import rate, table_entry


def linux_interface(vlan: int, port: int, ipv4: bool) -> fy.P4TableEntry:
    """The port of Linux's TAP device on a VLAN, and whether Linux is the IPv4 router."""
    return table_entry("linux_interfaces", {"vlan": vlan}, "set_linux_interface", port=port, ipv4=int(ipv4))


def linux_rate(linux_class: LinuxClass, port: int, a_second: int) -> fy.P4MeterEntry:
    """What Linux may get of a class by a port."""
    return rate("linux_meter", linux_class * PORTS + port, a_second)
