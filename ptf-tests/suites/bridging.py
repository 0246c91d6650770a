"""Each VLAN is a bridge, for packets of any kind."""

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from harness.edge_test import EdgeTest
from small_site import HOST, IP_OF, ROUTER, from_host, udp

IPV4 = IP(src="192.0.2.1", dst="192.0.2.2") / UDP() / Raw(b"four")


class KnownStation(EdgeTest):
    """A packet to a known station leaves by its port alone: IPv6, IPv4, ARP, anything."""

    def runTest(self) -> None:
        self.passes(1, from_host(udp(to=IP_OF[2]), HOST[2]), 2)
        self.passes(1, from_host(IPV4, HOST[2]), 2)
        self.passes(2, from_host(ARP(op=2, hwsrc=HOST[2], psrc="192.0.2.2", pdst="192.0.2.1"), HOST[1], 2), 1)
        self.passes(1, Ether(src=HOST[1], dst=HOST[2], type=0x1234) / Raw(bytes(46)), 2)


class LongFrames(EdgeTest):
    """The router's MTU does not bind what is bridged."""

    def runTest(self) -> None:
        self.passes(1, from_host(udp(to=IP_OF[2]) / Raw(bytes(3000)), HOST[2]), 2)


class StationMoves(EdgeTest):
    """The controller says where a station is now."""

    def runTest(self) -> None:
        packet = from_host(IPV4, HOST[2])
        self.passes(1, packet, 2)
        self.entries.modify(
            self.entries.entry("fdb", {"vlan": 1, "destination": HOST[2]}, "send_to_port", port=3),
        )
        self.passes(1, packet, 3, Ether(src=HOST[1], dst=HOST[2]) / Dot1Q(vlan=1) / IPV4)


class SamePort(EdgeTest):
    """A station behind the port that the packet came from has it already."""

    def runTest(self) -> None:
        self.drops(2, from_host(IPV4, HOST[2], 1), "DROP_SAME_PORT")


class OneBridgePerVlan(EdgeTest):
    """A station of one VLAN is unknown in another."""

    def runTest(self) -> None:
        packet = Ether(src=HOST[3], dst=HOST[1]) / Dot1Q(vlan=20) / IPV4
        self.drops(3, packet, "DROP_FLOOD_COPY")


class SourcesThatCannotBe(EdgeTest):
    """No group sends, and nobody but the router has its MAC."""

    def runTest(self) -> None:
        self.drops(1, Ether(src="03:00:00:00:00:11", dst=HOST[2]) / IPV4, "DROP_SOURCE_MAC")
        self.drops(1, Ether(src=ROUTER[1], dst=HOST[2]) / IPV4, "DROP_SOURCE_MAC")


class ReservedGroups(EdgeTest):
    """Groups that concern the next bridge only go no further; their neighbours do."""

    def runTest(self) -> None:
        for last in (0x00, 0x0E, 0x0F):
            frame = Ether(src=HOST[1], dst=f"01:80:c2:00:00:{last:02x}", type=0x88CC) / Raw(bytes(46))
            self.drops(1, frame, "DROP_RESERVED_GROUP")
        self.floods(1, Ether(src=HOST[1], dst="01:80:c2:00:00:10", type=0x88CC) / Raw(bytes(46)))


class NotIpv6ToTheRouter(EdgeTest):
    """What comes to the router's MAC and is not IPv6 ends there."""

    def runTest(self) -> None:
        self.drops(1, from_host(IPV4, ROUTER[1]), "DROP_NOT_ROUTED")
