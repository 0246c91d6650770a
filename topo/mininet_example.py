#!/usr/bin/env python3
"""Two hosts at one edge switch, as a script of Mininet's own: .venv/bin/python topo/mininet_example.py [embedded|bmv2].

It needs root and Debian's package `mininet`; for BMv2 also `simple_switch_grpc` and `p4c-bm2-ss`.
"""

import sys

# First: it says where Debian has Mininet.
from wayname_lab.mininet_nodes import EdgeHost, EdgeNetwork, EdgeSwitch  # isort: skip

from mininet.topo import Topo

# The controller's, as in docs/configuration.md. The switch routes between its two VLANs.
CONFIGURATION = """
[[interface]]
vlan = 10
name = "left"
addresses = ["2001:db8:1:10::1/64"]

[[interface]]
vlan = 20
name = "right"
addresses = ["2001:db8:1:20::1/64"]
"""


class OneEdge(Topo):
    """A host in each VLAN."""

    def build(self, target: str = "embedded") -> None:
        """Say what there is."""
        self.addSwitch("e1", cls=EdgeSwitch, configuration=CONFIGURATION, target=target)
        for name, vlan in (("h1", 10), ("h2", 20)):
            address, gateway = f"2001:db8:1:{vlan}::11/64", f"2001:db8:1:{vlan}::1"
            self.addHost(name, cls=EdgeHost, address=address, gateway=gateway, target=target)
            self.addLink(name, "e1", params2={"vlan": vlan})


def main() -> int:
    """Ping from each host to each other one."""
    net = EdgeNetwork(OneEdge(target=sys.argv[1] if sys.argv[1:] else "embedded"))
    try:
        net.start()
        net["e1"].wait_until_ready()
        lost = net.pingAll()
    finally:
        net.stop()
    return 0 if lost == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
