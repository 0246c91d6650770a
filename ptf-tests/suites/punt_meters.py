"""Rates: a meter before everything that could swamp the controller or a sender."""

import finsy as fy
from case import cell
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_RS, ICMPv6TimeExceeded, IPv6

from harness.edge_test import EdgeTest
from small_site import ADDRESS, HOST, IP_OF, PUNT, ROUTER, error_about, from_host, to_router, udp

PING = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest())
UNKNOWN = to_router(udp(to="2001:db8:1::99"))


class MeterTest(EdgeTest):
    """A test that lets a burst pass, and then one packet a second at most."""

    def limit(self, meter: str, index: int, burst: int) -> None:
        """So many packets at once."""
        config = fy.P4MeterConfig(cir=1, cburst=burst, pir=1, pburst=burst)
        self.entries.modify(fy.P4MeterEntry(meter, index=index, config=config))


class PuntRate(MeterTest):
    """Each punt reason has a rate of its own at each port; what is above it is dropped and counted."""

    def runTest(self) -> None:
        self.limit("punt_class_meter", cell(PUNT["PUNT_LOCAL"], 1), 3)
        self.verify(
            [(1, PING)] * 5,
            punted=[self.punt("PUNT_LOCAL", 1, 1, PING)] * 3,
            dropped={"DROP_PUNT_RATE": 2},
        )
        self.punts(1, UNKNOWN, "PUNT_NEIGHBOUR_UNKNOWN")
        by_another = to_router(IPv6(src=IP_OF[2], dst=ADDRESS[1]) / ICMPv6EchoRequest(), 2)
        self.punts(2, by_another, "PUNT_LOCAL")


class SourceRate(MeterTest):
    """Each source has a share of a class; what is above it is dropped and counted, and another source has its own."""

    def runTest(self) -> None:
        hour = 3_600_000_000
        keys = {"class": PUNT["PUNT_LOCAL"]}
        self.entries.insert("punt_limits", keys, "limit_sources", every=hour, early=hour, shares=0)
        # Slots outlive a test: nobody else sends from here.
        ping = to_router(IPv6(src="2001:db8:5ec::1", dst=ADDRESS[1]) / ICMPv6EchoRequest())
        self.verify(
            [(1, ping)] * 4,
            punted=[self.punt("PUNT_LOCAL", 1, 1, ping)] * 2,
            dropped={"DROP_PUNT_SOURCE_RATE": 2},
        )
        self.punts(1, PING, "PUNT_LOCAL")


class SharesOfPorts(MeterTest):
    """Classes that share have a rate for each port together, and one for all ports."""

    def runTest(self) -> None:
        keys = {"class": PUNT["PUNT_LOCAL"]}
        self.entries.insert("punt_limits", keys, "limit_sources", every=0, early=0, shares=1)
        self.limit("punt_port_meter", 1, 2)
        self.verify(
            [(1, PING)] * 4, punted=[self.punt("PUNT_LOCAL", 1, 1, PING)] * 2, dropped={"DROP_PUNT_PORT_RATE": 2}
        )
        self.punts(1, UNKNOWN, "PUNT_NEIGHBOUR_UNKNOWN")
        other = to_router(IPv6(src=IP_OF[2], dst=ADDRESS[1]) / ICMPv6EchoRequest(), 2)
        self.limit("punt_total_meter", 0, 1)
        self.punts(2, other, "PUNT_LOCAL")
        self.drops(2, other, "DROP_PUNT_TOTAL_RATE")


class RateComesBack(MeterTest):
    """After a second one more passes."""

    def runTest(self) -> None:
        self.needs_own_time()
        self.limit("punt_class_meter", cell(PUNT["PUNT_LOCAL"], 1), 1)
        for _ in range(3):
            self.punts(1, PING, "PUNT_LOCAL")
            self.drops(1, PING, "DROP_PUNT_RATE")
            self.target.pass_time(1.1)


class CopiesAboveTheRate(MeterTest):
    """The bridge passes on what the controller has no room for."""

    def runTest(self) -> None:
        self.limit("punt_class_meter", cell(PUNT["PUNT_ROUTER_SOLICITATION"], 1), 1)
        packet = from_host(IPv6(src="fe80::11", dst="ff02::2", hlim=255) / ICMPv6ND_RS(), "33:33:00:00:00:02")
        plain = bytes(packet)
        flooded = [(2, plain), (3, plain[:12] + b"\x81\x00\x00\x01" + plain[12:])]
        punted = [self.punt("PUNT_ROUTER_SOLICITATION", 1, 1, packet)]
        self.verify([(1, packet)] * 3, flooded * 3, punted, {"DROP_FLOOD_COPY": 3})


class ErrorRate(MeterTest):
    """ICMPv6 errors have a rate for each port; the packets are dropped and counted all the same."""

    def runTest(self) -> None:
        self.limit("error_meter", 2, 2)
        second = from_host(udp(2, hlim=1), ROUTER[1], 2)
        about_second = error_about(second, ICMPv6TimeExceeded(code=0), 1, HOST[2])
        self.verify([(2, second)] * 4, [(2, about_second)] * 2, dropped={"DROP_HOP_LIMIT": 4})
        first = to_router(udp(hlim=1))
        self.refused(1, first, "DROP_HOP_LIMIT", error_about(first, ICMPv6TimeExceeded(code=0), 1, HOST[1]))


class WithoutARate(MeterTest):
    """A meter that was never set, or was set back, lets everything pass."""

    def runTest(self) -> None:
        everything = [self.punt("PUNT_LOCAL", 1, 1, PING)] * 50
        self.verify([(1, PING)] * 50, punted=everything)
        self.limit("punt_class_meter", cell(PUNT["PUNT_LOCAL"], 1), 1)
        self.entries.modify(fy.P4MeterEntry("punt_class_meter", index=cell(PUNT["PUNT_LOCAL"], 1)))
        self.verify([(1, PING)] * 50, punted=everything)


class ReadBack(MeterTest):
    """The switch says which rates it holds, those of one index and all of a meter."""

    def runTest(self) -> None:
        config = fy.P4MeterConfig(cir=100, cburst=10, pir=200, pburst=30)
        entry = fy.P4MeterEntry("punt_class_meter", index=cell(PUNT["PUNT_LOCAL"], 1), config=config)
        self.entries.modify(entry)
        (held,) = self.read(fy.P4MeterEntry("punt_class_meter", index=cell(PUNT["PUNT_LOCAL"], 1)))
        self.assertEqual(fy.P4MeterEntry.decode(held, self.target.schema), entry)
        read = self.read(fy.P4MeterEntry("punt_class_meter"))
        cells = [fy.P4MeterEntry.decode(each, self.target.schema) for each in read]
        self.assertEqual([each.index for each in cells if each.config == config], [cell(PUNT["PUNT_LOCAL"], 1)])
        self.assertEqual(len(cells), 64 * 512)
