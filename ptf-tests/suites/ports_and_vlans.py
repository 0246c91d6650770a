"""Ports, their VLANs, and tags."""

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from harness.edge_test import EdgeTest
from small_site import HOST, IP_OF, from_host, udp

TO_TRUNK = udp(to=IP_OF[3])
FROM_TRUNK = IPv6(src=IP_OF[3], dst=IP_OF[1]) / UDP() / Raw(b"back")


class PortWithoutVlan(EdgeTest):
    """A port that nobody configured takes nothing."""

    def runTest(self) -> None:
        self.drops(6, from_host(TO_TRUNK, HOST[2]), "DROP_PORT_UNKNOWN")


class TagPutOn(EdgeTest):
    """Towards a tagged member the packet gets the VLAN's tag."""

    def runTest(self) -> None:
        tagged = Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=1) / TO_TRUNK
        self.passes(1, from_host(TO_TRUNK, HOST[3]), 3, tagged)


class TagTakenOff(EdgeTest):
    """Towards an untagged member the tag goes, whatever its priority."""

    def runTest(self) -> None:
        for priority in (0, 5):
            tagged = Ether(src=HOST[3], dst=HOST[1]) / Dot1Q(vlan=1, prio=priority) / FROM_TRUNK
            self.passes(3, tagged, 1, from_host(FROM_TRUNK, HOST[1], 3))


class PriorityTag(EdgeTest):
    """A tag of VLAN 0 only carries a priority: the packet is in its port's VLAN, and the priority stays."""

    def runTest(self) -> None:
        ether = Ether(src=HOST[1], dst=HOST[3])
        self.passes(1, ether / Dot1Q(vlan=0, prio=6) / TO_TRUNK, 3, ether / Dot1Q(vlan=1, prio=6) / TO_TRUNK)


class InnerTagIsPayload(EdgeTest):
    """Only the outer tag counts; a service tag is no tag at all."""

    def runTest(self) -> None:
        inner = Dot1Q(vlan=77) / TO_TRUNK
        ether = Ether(src=HOST[3], dst=HOST[1])
        self.passes(3, ether / Dot1Q(vlan=1) / inner, 1, ether / inner)
        service = Ether(src=HOST[1], dst=HOST[2], type=0x88A8) / Raw(b"\x00\x14\x86\xdd" + bytes(60))
        self.passes(1, service, 2)


class PortNotInVlan(EdgeTest):
    """A packet enters by members of its VLAN only."""

    def runTest(self) -> None:
        self.drops(3, from_host(FROM_TRUNK, HOST[1], 3), "DROP_VLAN_INGRESS")
        self.drops(1, Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=20) / TO_TRUNK, "DROP_VLAN_INGRESS")


class LeavesByMembersOnly(EdgeTest):
    """A station behind a port that is not in its VLAN is not reached."""

    def runTest(self) -> None:
        self.entries.insert("fdb", {"vlan": 20, "destination": HOST[2]}, "send_to_port", port=2)
        self.drops(3, Ether(src=HOST[3], dst=HOST[2]) / Dot1Q(vlan=20) / TO_TRUNK, "DROP_VLAN_EGRESS")


class MembershipChanges(EdgeTest):
    """A port that is taken out of a VLAN hears nothing of it, and is heard again when it is back."""

    def runTest(self) -> None:
        member = self.entries.entry("vlan_members", {"port": 1, "vlan": 1}, "admit_to_vlan")
        packet = from_host(udp(to=IP_OF[2]), HOST[2])
        self.passes(1, packet, 2)
        self.entries.delete(member)
        self.drops(1, packet, "DROP_VLAN_INGRESS")
        self.entries.add(member)
        self.passes(1, packet, 2)


class PortChangesVlan(EdgeTest):
    """What comes in untagged is in the VLAN that the port has now."""

    def runTest(self) -> None:
        packet = from_host(udp(to=IP_OF[2]), HOST[2])
        self.entries.insert("vlan_members", {"port": 1, "vlan": 20}, "admit_to_vlan")
        self.entries.modify(self.entries.entry("ports", {"port": 1}, "set_port_vlan", vlan=20))
        # VLAN 20 does not know the station: it goes to the trunk, the only member.
        tagged = Ether(src=HOST[1], dst=HOST[2]) / Dot1Q(vlan=20) / packet.payload
        self.verify([(1, packet)], [(3, tagged)])


class PortsAreCounted(EdgeTest):
    """Packets received and sent, by port."""

    def runTest(self) -> None:
        received, sent = self.counter("port_received"), self.counter("port_sent")
        self.passes(1, from_host(udp(to=IP_OF[2]), HOST[2]), 2)
        self.passes(1, from_host(udp(to=IP_OF[2]), HOST[2]), 2)
        self.drops(6, from_host(TO_TRUNK, HOST[2]), "DROP_PORT_UNKNOWN")
        now_received, now_sent = self.counter("port_received"), self.counter("port_sent")
        for port in range(1, 7):
            entered = now_received[port] - received[port] - self.collector.entered[port]
            self.assertEqual(entered, {1: 2, 6: 1}.get(port, 0), f"received by port {port}")
            left = now_sent[port] - sent[port] - self.collector.left[port]
            self.assertEqual(left, {2: 2}.get(port, 0), f"sent by port {port}")
