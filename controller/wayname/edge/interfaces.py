"""The router's interfaces: entries that follow from the configuration alone."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import IPv6Address

import finsy as fy

from wayname.config.model import Config, Interface
from wayname.edge.desired_state import DesiredState
from wayname.p4_constants import Maps
from wayname.pipeline import entries
from wayname.pipeline.entries import MAIN_ROUTES
from wayname.pipeline.mappings import mapping_interface


def want_interfaces(config: Config, tables: Collection[int], desired: DesiredState) -> None:
    """Want the entries of all interfaces: their MACs, addresses and prefixes, these in all route tables."""
    for interface in config.interfaces:
        desired.put(_interface(config, interface))
        desired.put(entries.source_mac(interface.vlan, interface.mac))
        for address in answered_addresses(interface):
            # Linux answers for the addresses that it has.
            if interface.vlan not in config.linux_ports:
                desired.put(entries.own_address(interface.vlan, address))
            for table in (MAIN_ROUTES, *tables):
                desired.put(entries.route_local(address, table))
        for own in interface.global_addresses:
            if own.network.prefixlen < 128:
                for table in (MAIN_ROUTES, *tables):
                    desired.put(entries.route_connected(own.network, interface.vlan, table))


def _interface(config: Config, interface: Interface) -> fy.P4TableEntry:
    """Return the entry of an interface: where hosts are mapped, and where what comes may be for their identities."""
    mapping = {link.vlan for link in config.identities.links if link.mapped} if config.identities else set()
    on_link = interface.vlan, interface.mac, interface.error_address
    if not mapping:
        return entries.interface(*on_link)
    maps = Maps.SOURCES | Maps.DESTINATIONS if interface.vlan in mapping else Maps.DESTINATIONS
    return mapping_interface(*on_link, maps)


def answered_addresses(interface: Interface) -> list[IPv6Address]:
    """Return the addresses that the router has on a link.

    Beside those that are given: the routers' anycast address of each prefix (RFC 4291, section 2.6.1), unless the
    prefix is so long that it is one of the link's two ends (RFC 6164).
    """
    anycast = (own.network.network_address for own in interface.own_addresses if own.network.prefixlen < 127)
    given = (own.ip for own in interface.own_addresses)
    return list(dict.fromkeys((interface.link_local, *given, *anycast)))
