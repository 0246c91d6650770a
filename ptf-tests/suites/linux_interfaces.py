"""Linux beside the switch: what its TAP device gets, what it sends, and how much it gets."""

import finsy as fy
from linux_cases import BGP, EVERYBODY, TAP, cell
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_NS, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet

from harness.edge_test import EdgeTest
from small_site import ADDRESS, HOST, IP_OF, ROUTER, from_host, to_router, udp

REASONS = {"DROP_LINUX_RATE", "DROP_LINUX_COPY"}
BRIDGED = (1, 2, 3, TAP)


class LinuxTest(EdgeTest):
    """VLAN 1 with a TAP device of Linux, which answers for the router there."""

    ipv4 = True

    def setUp(self) -> None:
        """Make Linux a member of VLAN 1, and let it have the router's addresses."""
        super().setUp()
        for address in (ADDRESS[1], "fe80::1"):
            self.entries.delete(self.entries.entry("own_addresses", {"vlan": 1, "target": address}, "own_address"))
        self.entries.modify(fy.P4MulticastGroupEntry(1, replicas=BRIDGED))
        self.entries.insert("ports", {"port": TAP}, "set_port_vlan", vlan=1)
        self.entries.insert("vlan_members", {"port": TAP, "vlan": 1}, "admit_to_vlan")
        self.entries.insert("vlan_tags", {"port": TAP, "vlan": 1}, "send_untagged")
        self.entries.insert("linux_interfaces", {"vlan": 1}, "set_linux_interface", port=TAP, ipv4=int(self.ipv4))
        self.entries.insert("learned_macs", {"port": TAP, "vlan": 1, "source": ROUTER[1]}, "known_mac")

    def spreads(self, into: int, packet: Packet, *ports: int, dropped: dict[str, int] | None = None) -> None:
        """A packet goes to these ports of VLAN 1: with a tag at port 3."""
        tagged = Ether(src=packet.src, dst=packet.dst) / Dot1Q(vlan=1, type=packet.type) / packet.payload
        leave = [(port, tagged if port == 3 else packet) for port in ports]
        self.verify([(into, packet)], leave, dropped={"DROP_FLOOD_COPY": 1} | (dropped or {}))


class ForTheRouter(LinuxTest):
    """What is for the router goes to Linux, and IPv4 too."""

    def runTest(self) -> None:
        for packet in (
            to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest()),
            to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / TCP(sport=5000, dport=22)),
            to_router(IP(src="192.0.2.1", dst="203.0.113.9") / TCP()),
            to_router(ARP(op=2, psrc="192.0.2.1", pdst="192.0.2.254")),
        ):
            self.passes(1, packet, TAP)
        self.spreads(1, Ether(src=HOST[1], dst=EVERYBODY) / ARP(psrc="192.0.2.1", pdst="192.0.2.254"), 2, 3, TAP)
        unknown = from_host(udp(), "02:00:00:00:00:77")
        self.spreads(1, unknown, 2, 3, dropped={"DROP_LINUX_COPY": 1})


class FromLinux(LinuxTest):
    """What Linux sends leaves by the VLAN as it is; nothing routes it again."""

    def runTest(self) -> None:
        self.passes(TAP, Ether(src=ROUTER[1], dst=HOST[2]) / udp(), 2)
        reply = IPv6(src=ADDRESS[1], dst=IP_OF[1]) / ICMPv6EchoReply()
        self.passes(TAP, Ether(src=ROUTER[1], dst=HOST[1]) / reply, 1)
        asked = IPv6(src="::", dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1])
        self.spreads(TAP, Ether(src=ROUTER[1], dst="33:33:ff:00:00:01") / asked, 1, 2, 3)
        self.drops(1, Ether(src=ROUTER[1], dst=HOST[2]) / udp(), "DROP_SOURCE_MAC")


class BridgedIpv4(LinuxTest):
    """Where Linux does not route IPv4 it ends at the router's MAC, and hosts' own is bridged."""

    ipv4 = False

    def runTest(self) -> None:
        self.drops(1, to_router(IP(src="192.0.2.1", dst="203.0.113.9") / TCP()), "DROP_NOT_ROUTED")
        self.passes(1, from_host(IP(src="192.0.2.1", dst="192.0.2.2") / TCP(), HOST[2]), 2)


class Rates(LinuxTest):
    """Each class at each port has a rate of its own; what is above it is dropped and counted."""

    def runTest(self) -> None:
        for linux_class in ("LINUX_UNICAST", "LINUX_BGP"):
            config = fy.P4MeterConfig(cir=1, cburst=1, pir=1, pburst=1)
            self.entries.modify(fy.P4MeterEntry("linux_meter", index=cell(linux_class), config=config))
        for transport in (UDP(), TCP(sport=5000, dport=BGP)):
            packet = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / transport)
            self.passes(1, packet, TAP)
            self.drops(1, packet, "DROP_LINUX_RATE")
        other = Ether(src=HOST[2], dst=ROUTER[1]) / IPv6(src=IP_OF[2], dst=ADDRESS[1]) / UDP()
        self.passes(2, other, TAP)
