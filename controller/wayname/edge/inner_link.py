"""The controller's own link with the switch: VLAN 4095 at port 510, in which no other port can be.

What is submitted there goes through the whole switch as a packet of the router: it is routed, and this node writes into
the trace that it carries. Nobody else can come in by that port.
"""

from __future__ import annotations

from wayname.edge.boundary import PacketOut
from wayname.p4_constants import CPU_PORT, PacketOutKind
from wayname.wire import ipv6
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac

INNER_VLAN = 4095
CONTROLLER_MAC = Mac(0x02FFFFFFFFFF)


def router_mac(device_id: int) -> Mac:
    """Return the router's MAC on the link."""
    return Mac(0x02 << 40 | (device_id & 0xFFFFFF) << 16 | INNER_VLAN)


def submitted(packet: ipv6.Packet, device_id: int) -> PacketOut:
    """Return what sends a packet into the switch by this link."""
    frame = Frame(router_mac(device_id), CONTROLLER_MAC, TYPE_IPV6, packet.encode())
    return PacketOut(frame.encode(), PacketOutKind.SUBMIT, port=CPU_PORT)
