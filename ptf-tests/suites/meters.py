"""Rates: a meter before everything that could swamp the controller or a sender."""

import finsy as fy
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
    """Each punt reason has a rate of its own; what is above it is dropped and counted."""

    def runTest(self) -> None:
        self.limit("punt_meter", PUNT["PUNT_LOCAL"], 3)
        self.verify(
            [(1, PING)] * 5,
            punted=[self.punt("PUNT_LOCAL", 1, 1, PING)] * 3,
            dropped={"DROP_PUNT_RATE": 2},
        )
        self.punts(1, UNKNOWN, "PUNT_NEIGHBOUR_UNKNOWN")


class RateComesBack(MeterTest):
    """After a second one more passes."""

    def runTest(self) -> None:
        self.needs_own_time()
        self.limit("punt_meter", PUNT["PUNT_LOCAL"], 1)
        for _ in range(3):
            self.punts(1, PING, "PUNT_LOCAL")
            self.drops(1, PING, "DROP_PUNT_RATE")
            self.target.pass_time(1.1)


class CopiesAboveTheRate(MeterTest):
    """The bridge passes on what the controller has no room for."""

    def runTest(self) -> None:
        self.limit("punt_meter", PUNT["PUNT_ROUTER_SOLICITATION"], 1)
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
        self.limit("punt_meter", PUNT["PUNT_LOCAL"], 1)
        self.entries.modify(fy.P4MeterEntry("punt_meter", index=PUNT["PUNT_LOCAL"]))
        self.verify([(1, PING)] * 50, punted=everything)


class ReadBack(MeterTest):
    """The switch says which rates it holds, those of one index and all of a meter."""

    def runTest(self) -> None:
        config = fy.P4MeterConfig(cir=100, cburst=10, pir=200, pburst=30)
        entry = fy.P4MeterEntry("punt_meter", index=PUNT["PUNT_LOCAL"], config=config)
        self.entries.modify(entry)
        (held,) = self.read(fy.P4MeterEntry("punt_meter", index=PUNT["PUNT_LOCAL"]))
        self.assertEqual(fy.P4MeterEntry.decode(held, self.target.schema), entry)
        cells = [fy.P4MeterEntry.decode(cell, self.target.schema) for cell in self.read(fy.P4MeterEntry("punt_meter"))]
        self.assertEqual([cell.index for cell in cells if cell.config == config], [PUNT["PUNT_LOCAL"]])
        self.assertEqual(len(cells), 256)
