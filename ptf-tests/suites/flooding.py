"""Unknown stations and groups: to all ports of the VLAN but the one the packet came from."""

import finsy as fy
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6MLReport, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether

from harness.edge_test import EdgeTest
from small_site import HOST

UNKNOWN = "02:00:00:00:00:77"
IPV4 = IP(src="192.0.2.1", dst="192.0.2.7") / UDP()


class UnknownStation(EdgeTest):
    """Everybody gets what is for a station that nobody knows."""

    def runTest(self) -> None:
        self.floods(1, Ether(src=HOST[1], dst=UNKNOWN) / IPV4)
        self.floods(2, Ether(src=HOST[2], dst=UNKNOWN) / IPV4)


class FromTheTrunk(EdgeTest):
    """A flood from a tagged port loses its tag on untagged ones."""

    def runTest(self) -> None:
        packet = Ether(src=HOST[3], dst=UNKNOWN) / IPV4
        tagged = Ether(src=HOST[3], dst=UNKNOWN) / Dot1Q(vlan=1) / IPV4
        self.verify([(3, tagged)], [(1, packet), (2, packet)], dropped={"DROP_FLOOD_COPY": 1})


class Groups(EdgeTest):
    """Broadcast and multicast."""

    def runTest(self) -> None:
        self.floods(
            1, Ether(src=HOST[1], dst="ff:ff:ff:ff:ff:ff") / ARP(hwsrc=HOST[1], psrc="192.0.2.1", pdst="192.0.2.2")
        )
        report = IPv6(src="fe80::11", dst="ff02::16", hlim=1) / ICMPv6MLReport()
        self.floods(1, Ether(src=HOST[1], dst="33:33:00:00:00:16") / report)


class GroupChanges(EdgeTest):
    """Floods go to the ports that the VLAN's group has now."""

    def runTest(self) -> None:
        packet = Ether(src=HOST[1], dst=UNKNOWN) / IPV4
        self.entries.modify(fy.P4MulticastGroupEntry(1, replicas=[1, 2]))
        self.verify([(1, packet)], [(2, packet)], dropped={"DROP_FLOOD_COPY": 1})
        self.entries.modify(fy.P4MulticastGroupEntry(1, replicas=[1]))
        self.drops(1, packet, "DROP_FLOOD_COPY")


class NoGroup(EdgeTest):
    """A VLAN without a group has nowhere to flood to."""

    def runTest(self) -> None:
        self.entries.insert("vlan_members", {"port": 3, "vlan": 30}, "admit_to_vlan")
        self.drops(3, Ether(src=HOST[3], dst=UNKNOWN) / Dot1Q(vlan=30) / IPV4, "DROP_NO_FLOOD_GROUP")
