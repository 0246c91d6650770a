"""Linux beside the switch: entries that follow from the configuration alone."""

from __future__ import annotations

from wayname.config.model import Config
from wayname.edge.desired_state import DesiredState
from wayname.p4_constants import LinuxClass
from wayname.pipeline.linux import linux_interface, linux_rate

# Packets a second of a class by one port: as many as Linux takes beside its work, and a routing daemon's neighbours, a
# table of the Internet or an operator's copying need at most.
RATES = {
    LinuxClass.DISCOVERY: 1000,
    LinuxClass.ARP: 1000,
    LinuxClass.LINK_GROUP: 2000,
    LinuxClass.BGP: 10_000,
    LinuxClass.UNICAST: 20_000,
    LinuxClass.GROUP: 1000,
    LinuxClass.OTHER: 1000,
}


def want_linux(config: Config, desired: DesiredState) -> None:
    """Want what pairs router interfaces with TAP devices, and how much each port may send there."""
    if config.linux is None:
        return
    for vlan, number in config.linux_ports.items():
        desired.put(linux_interface(vlan, number, config.linux.ipv4))
        for port in config.members(vlan):
            for linux_class, a_second in RATES.items():
                desired.put(linux_rate(linux_class, port.number, a_second))
