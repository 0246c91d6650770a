"""Ports and VLANs: entries that follow from the configuration alone."""

from __future__ import annotations

from wayname.config.model import Config
from wayname.edge.desired_state import DesiredState
from wayname.pipeline import entries

# A second. A site's stations are learned within seconds; errors are for people who look for a fault; more pairs and
# flows are told of than sessions can be made of.
LEARN_RATE = 200
ERROR_RATE = 100
PAIR_RATE = 200
ILNP_FLOW_RATE = 500


def want_ports(config: Config, desired: DesiredState) -> None:
    """Want the entries of all ports and VLANs."""
    desired.put(entries.copies_to_controller())
    for name in entries.digests():
        desired.put(entries.digest(name))
    for port in config.ports:
        desired.put(entries.rate("learn_meter", port.number, LEARN_RATE))
        desired.put(entries.rate("error_meter", port.number, ERROR_RATE))
        desired.put(entries.rate("pair_meter", port.number, PAIR_RATE))
        desired.put(entries.rate("ilnp_flow_meter", port.number, ILNP_FLOW_RATE))
        desired.put(entries.port(port.number, port.vlan or 0))
        desired.put(entries.port_mtu(port.number, port.mtu))
        for vlan in port.vlans:
            desired.put(entries.vlan_member(port.number, vlan))
            desired.put(entries.vlan_tag(port.number, vlan, vlan in port.tagged))
    for vlan in config.vlans:
        desired.put(entries.flood_group(vlan, (port.number for port in config.members(vlan))))
        desired.put(entries.flood(vlan))
