"""Ports and VLANs, and the limits of what comes to the controller: entries that follow from the configuration alone."""

from __future__ import annotations

from wayname.config.model import Config
from wayname.edge.desired import Desired
from wayname.pipeline import entries
from wayname.pipeline.reasons import CAPTURES, Punt

# Packets a second. A site's stations are learned within seconds; errors are for people who look for a fault; what comes
# to the controller stays below what it handles beside its other work.
LEARN_RATE = 200
ERROR_RATE = 100
PUNT_RATE = 1000
# Each is answered by a packet to who put the trace on, and that may be a fraction of the traffic only (RFC 9322, 4.2).
LOOPBACK_RATE = 100


def want_ports(config: Config, desired: Desired) -> None:
    """Want the entries of all ports and VLANs."""
    desired.put(entries.copies_to_controller())
    for name in entries.DIGESTS:
        desired.put(entries.digest(name))
    for reason in (each for each in Punt if each not in CAPTURES):
        desired.put(entries.rate("punt_meter", reason, LOOPBACK_RATE if reason is Punt.LOOPBACK else PUNT_RATE))
    for port in config.ports:
        desired.put(entries.rate("learn_meter", port.number, LEARN_RATE))
        desired.put(entries.rate("error_meter", port.number, ERROR_RATE))
        desired.put(entries.port(port.number, port.vlan or 0))
        desired.put(entries.port_mtu(port.number, port.mtu))
        for vlan in port.vlans:
            desired.put(entries.vlan_member(port.number, vlan))
            desired.put(entries.vlan_tag(port.number, vlan, vlan in port.tagged))
    for vlan in config.vlans:
        desired.put(entries.flood_group(vlan, (port.number for port in config.members(vlan))))
        desired.put(entries.flood(vlan))
