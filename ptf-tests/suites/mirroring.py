"""Captures: copies of what arrives by a port and of what leaves by it; packets go on as ever."""

import finsy as fy
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6EchoRequest, IPv6

from harness.edge_test import EdgeTest
from small_site import ADDRESS, HOST, IP_OF, error_about, from_host, out_first, to_router, udp

BRIDGED = from_host(udp(to=IP_OF[2]), HOST[2])


class Arriving(EdgeTest):
    """As it arrived, dropped or not."""

    def runTest(self) -> None:
        self.entries.insert("ingress_mirror", {"port": 1}, "mirror_ingress")
        self.verify([(1, BRIDGED)], [(2, BRIDGED)], [self.punt("PUNT_INGRESS_MIRROR", 1, 1, BRIDGED)])
        lost = to_router(udp(to="fd00::1"))
        error = error_about(lost, ICMPv6DestUnreach(code=0), 1, HOST[1])
        self.verify([(1, lost)], [(1, error)], [self.punt("PUNT_INGRESS_MIRROR", 1, 1, lost)], {"DROP_NO_ROUTE": 1})
        self.passes(2, from_host(udp(2, to=IP_OF[1]), HOST[1], 2), 1)


class Leaving(EdgeTest):
    """As it leaves, with the port and the VLAN that it leaves by."""

    def runTest(self) -> None:
        self.entries.insert("egress_mirror", {"port": 4}, "mirror_egress")
        packet = to_router(udp())
        routed = out_first(packet)
        self.verify([(1, packet)], [(4, routed)], [self.punt("PUNT_EGRESS_MIRROR", 4, 100, routed)])
        self.passes(1, BRIDGED, 2)


class PuntedToo(EdgeTest):
    """What the controller gets anyway, it gets a second time."""

    def runTest(self) -> None:
        self.entries.insert("ingress_mirror", {"port": 1}, "mirror_ingress")
        ping = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest())
        self.verify(
            [(1, ping)],
            punted=[self.punt("PUNT_LOCAL", 1, 1, ping), self.punt("PUNT_INGRESS_MIRROR", 1, 1, ping)],
        )


class UntilItEnds(EdgeTest):
    """A capture that was taken away copies nothing."""

    def runTest(self) -> None:
        capture = self.entries.entry("ingress_mirror", {"port": 1}, "mirror_ingress")
        self.entries.add(capture)
        self.verify([(1, BRIDGED)], [(2, BRIDGED)], [self.punt("PUNT_INGRESS_MIRROR", 1, 1, BRIDGED)])
        self.entries.delete(capture)
        self.passes(1, BRIDGED, 2)


class Rate(EdgeTest):
    """No more copies than the port's rate allows; the packets all go on."""

    def runTest(self) -> None:
        two = fy.P4MeterConfig(cir=1, cburst=2, pir=1, pburst=2)
        self.entries.modify(fy.P4MeterEntry("ingress_mirror_meter", index=1, config=two))
        self.entries.insert("ingress_mirror", {"port": 1}, "mirror_ingress")
        self.verify([(1, BRIDGED)] * 4, [(2, BRIDGED)] * 4, [self.punt("PUNT_INGRESS_MIRROR", 1, 1, BRIDGED)] * 2)
