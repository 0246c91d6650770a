"""Packets to the controller and from it."""

from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_RA, ICMPv6ND_RS, ICMPv6TimeExceeded, IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from harness.edge_test import EdgeTest
from small_site import (
    ADDRESS,
    HOST,
    IP_OF,
    ROUTER,
    error_about,
    from_host,
    in_chain,
    options,
    out_first,
    to_router,
    udp,
)

PING = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest(data=b"?"))
ANSWER = Ether(src=ROUTER[1], dst=HOST[1]) / IPv6(src=ADDRESS[1], dst=IP_OF[1], hlim=255) / ICMPv6ND_NA(tgt=ADDRESS[1])


class AsItArrived(EdgeTest):
    """A packet-in has reason, port and VLAN, and the packet with its tag, its hop limit and its padding."""

    def runTest(self) -> None:
        self.punts(1, PING, "PUNT_LOCAL")
        tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1, prio=5) / udp(3, to=ADDRESS[1], hlim=7)
        self.punts(3, tagged, "PUNT_LOCAL")
        padded = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1], nh=59, plen=0)) / Raw(bytes(6))
        self.punts(1, padded, "PUNT_LOCAL")


class InOrder(EdgeTest):
    """The controller gets packets in the order in which they came."""

    def runTest(self) -> None:
        packets = [to_router(udp(to=ADDRESS[1]) / Raw(bytes([number]))) for number in range(20)]
        punted = [self.punt("PUNT_LOCAL", 1, 1, packet) for packet in packets]
        self.verify([(1, packet) for packet in packets], punted=punted)


class PuntsAreCounted(EdgeTest):
    """By reason."""

    def runTest(self) -> None:
        before = self.counter("punts")
        self.punts(1, PING, "PUNT_LOCAL")
        self.punts(1, to_router(udp(to="2001:db8:1::99")), "PUNT_NEIGHBOUR_UNKNOWN")
        self.punts(1, PING, "PUNT_LOCAL")
        counted = [now - then for now, then in zip(self.counter("punts"), before, strict=True)]
        self.assertEqual(counted[:4], [0, 2, 1, 0])


class Send(EdgeTest):
    """Sent: by a port, as it is, whatever it is, even by a port without VLAN."""

    def runTest(self) -> None:
        lldp = Ether(dst="01:80:c2:00:00:0e", src=ROUTER[1], type=0x88CC) / Raw(b"lldp of ours")
        malformed = in_chain(*[(60, options())] * 11)
        for port, packet in ((1, ANSWER), (6, lldp), (4, malformed)):
            self.verify([self.out("SEND", packet, port)], [(port, packet)])


class Flood(EdgeTest):
    """Flooded: to all ports of a VLAN, tagged where they want it."""

    def runTest(self) -> None:
        ip = IPv6(src="fe80::1", dst="ff02::1", hlim=255) / ICMPv6ND_RA()
        ether = Ether(src=ROUTER[1], dst="33:33:00:00:00:01")
        plain, tagged = ether / ip, ether / Dot1Q(vlan=1) / ip
        self.verify([self.out("FLOOD", plain, vlan=1)], [(1, plain), (2, plain), (3, tagged)])


class Submit(EdgeTest):
    """Submitted: as if it had arrived by a port."""

    def runTest(self) -> None:
        routed = to_router(udp())
        self.verify([self.out("SUBMIT", routed, 1)], [(4, out_first(routed))])
        bridged = from_host(udp(), HOST[2])
        self.verify([self.out("SUBMIT", bridged, 1)], [(2, bridged)])
        self.verify([self.out("SUBMIT", PING, 1)], punted=[self.punt("PUNT_LOCAL", 1, 1, PING)])


class SubmittedAndCopied(EdgeTest):
    """What is submitted may be flooded and punted at once."""

    def runTest(self) -> None:
        ip = IPv6(src="fe80::11", dst="ff02::2", hlim=255) / ICMPv6ND_RS()
        ether = Ether(src=HOST[1], dst="33:33:00:00:00:02")
        self.verify(
            [self.out("SUBMIT", ether / ip, 1)],
            [(2, ether / ip), (3, ether / Dot1Q(vlan=1) / ip)],
            [self.punt("PUNT_ROUTER_SOLICITATION", 1, 1, ether / ip)],
            {"DROP_FLOOD_COPY": 1},
        )


class SubmittedAndRefused(EdgeTest):
    """An error about what was submitted goes by the port; the controller's header is no part of the quote."""

    def runTest(self) -> None:
        packet = to_router(udp(hlim=1))
        error = error_about(packet, ICMPv6TimeExceeded(code=0), 1, HOST[1])
        self.verify([self.out("SUBMIT", packet, 1)], [(1, error)], dropped={"DROP_HOP_LIMIT": 1})


class SubmittedTooShort(EdgeTest):
    """The controller's header does not make a packet longer than it is."""

    def runTest(self) -> None:
        packet = to_router(udp(plen=len(udp()) - 40 + 3))
        self.verify([self.out("SUBMIT", packet, 1)], dropped={"DROP_PAYLOAD_LENGTH": 1})


class MakesNoSense(EdgeTest):
    """Kinds, ports and VLANs that cannot be."""

    def runTest(self) -> None:
        unknown_kind = (self.out("SEND", ANSWER, 1)[0], b"\x09" + self.out("SEND", ANSWER, 1)[1][1:])
        for sent, reason in (
            (unknown_kind, "DROP_PACKET_OUT"),
            (self.out("SEND", ANSWER, 512), "DROP_PACKET_OUT"),
            (self.out("FLOOD", ANSWER, vlan=4096), "DROP_PACKET_OUT"),
            (self.out("FLOOD", ANSWER, vlan=77), "DROP_NO_FLOOD_GROUP"),
            (self.out("SUBMIT", ANSWER, 6), "DROP_PORT_UNKNOWN"),
        ):
            self.verify([sent], dropped={reason: 1})
