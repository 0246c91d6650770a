"""Simple security at a site's border (RFC 6092): what comes in, and what does not."""

import finsy as fy
from border_site import INSIDE, INSIDE_SIDE, OUTSIDE_SIDE
from carriers import ROUTING, ipv6, segment_header, source_route
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6PacketTooBig,
    IPv6,
    IPv6ExtHdrFragment,
    IPv6ExtHdrRouting,
)
from scapy.packet import Packet, Raw
from session_site import from_host, in_by
from simple_security_cases import OUTSIDE, STRANGER, tcp, udp
from suites.nptv6 import Nptv6Test

from small_site import FAR, IP_OF

HOST = IP_OF[1]
REASONS = {
    "DROP_UNSOLICITED_OPEN",
    "DROP_UNSOLICITED",
    "DROP_UNSOLICITED_ERROR",
    "DROP_UNSOLICITED_ECHO",
    "DROP_UNSOLICITED_FRAGMENT",
    "DROP_ROUTING_HEADER_0",
    "DROP_SEGMENTS_AT_BORDER",
}


class FilteredTest(Nptv6Test):
    """A border that filters. Records outlive tests: flows have ports of their own in each."""

    address_dependent = False

    def setUp(self) -> None:
        """Filter in both directions."""
        super().setUp()
        inside = {"destination": str(INSIDE)}
        self.entries.modify(self.entries.entry("nptv6_destinations", inside, "inside_network"))
        for side in (INSIDE_SIDE, OUTSIDE_SIDE):
            of_address = int(self.address_dependent)
            self.entries.insert("simple_security", {"side": side}, "filter_inbound", of_address=of_address)

    def goes_out(self, packet: Packet) -> None:
        """A host's packet goes out."""
        leaves = packet.copy()
        leaves.src = OUTSIDE
        self.goes(1, packet, leaves)

    def comes_in(self, packet: Packet) -> None:
        """A packet from outside reaches the host."""
        arrives = packet.copy()
        arrives.dst = HOST
        self.comes(1, packet, arrives)

    def stays_out(self, packet: Packet, reason: str) -> None:
        """A packet from outside ends at the border."""
        self.drops(4, in_by(4, bytes(packet)), reason)


class Unasked(FilteredTest):
    """What began outside stays there, each kind by its reason."""

    def runTest(self) -> None:
        self.stays_out(tcp(True, "S", 6001), "DROP_UNSOLICITED_OPEN")
        self.stays_out(tcp(True, "A", 6001), "DROP_UNSOLICITED")
        self.stays_out(udp(True, 6001), "DROP_UNSOLICITED")
        self.stays_out(IPv6(src=FAR, dst=OUTSIDE) / ICMPv6EchoRequest(id=61), "DROP_UNSOLICITED_ECHO")
        seen = IPv6(src=OUTSIDE, dst=FAR) / UDP(sport=6002, dport=80) / Raw(b"data")
        too_big = IPv6(src="2001:db8:f00:9::1", dst=OUTSIDE) / ICMPv6PacketTooBig(mtu=1400) / Raw(bytes(seen))
        self.stays_out(too_big, "DROP_UNSOLICITED_ERROR")
        later = IPv6(src=FAR, dst=OUTSIDE) / IPv6ExtHdrFragment(offset=8, id=61, nh=17) / Raw(bytes(16))
        self.stays_out(later, "DROP_UNSOLICITED_FRAGMENT")
        # Type 0 has no segments left here: it is no router's any more.
        old = IPv6(src=FAR, dst=OUTSIDE) / IPv6ExtHdrRouting(type=0, segleft=0, addresses=["2001:db8::1"])
        self.stays_out(old / UDP(sport=80, dport=6003), "DROP_ROUTING_HEADER_0")


class RoutingHeaders(FilteredTest):
    """No packet writes itself a way past the border: segments left stay out, the last one is judged like any packet."""

    sid = "fd00:1::1"
    other = IP_OF[2]

    def with_header(self, header: bytes, to: str, source: str = FAR) -> Packet:
        """A datagram to a host's port behind a routing header."""
        return IPv6(ipv6(ROUTING, header + bytes(udp(True, 6301))[40:], source, to))

    def runTest(self) -> None:
        self.goes_out(udp(False, 6301))
        self.comes_in(udp(True, 6301))
        for header in (segment_header(17, [self.other], 1), source_route(17, [self.other], 1, 0, 0)):
            self.stays_out(self.with_header(header, OUTSIDE), "DROP_SEGMENTS_AT_BORDER")
        arrived = segment_header(17, [self.other], 0)
        self.comes_in(self.with_header(arrived, OUTSIDE))
        self.stays_out(self.with_header(segment_header(17, [OUTSIDE], 1), OUTSIDE, IP_OF[3]), "DROP_BORDER_SOURCE")
        sent = ipv6(ROUTING, source_route(17, [FAR], 1, 0, 0) + bytes(udp(False, 6301))[40:], HOST, FAR)
        self.drops(1, from_host(sent), "DROP_SEGMENTS_AT_BORDER")

        self.entries.insert("sids", {"destination": f"{self.sid}/128"}, "end", flavours=0)
        inside = segment_header(17, [self.sid, HOST, self.other], 2)
        self.stays_out(self.with_header(inside, self.sid), "DROP_SEGMENTS_AT_BORDER")
        last = self.with_header(segment_header(17, [self.sid, OUTSIDE], 1), self.sid)
        arrives = self.with_header(segment_header(17, [self.sid, OUTSIDE], 0), HOST)
        self.comes(1, last, arrives)
        asks = segment_header(6, [self.sid, OUTSIDE], 1) + bytes(tcp(True, "S", 6302))[40:]
        self.stays_out(IPv6(ipv6(ROUTING, asks, FAR, self.sid)), "DROP_UNSOLICITED_OPEN")


class Answers(FilteredTest):
    """What answers the inside comes in; anybody may send to an endpoint that sent (REC-11, REC-33)."""

    def runTest(self) -> None:
        self.goes_out(tcp(False, "S", 6101))
        self.comes_in(tcp(True, "SA", 6101))
        self.goes_out(udp(False, 6101))
        self.comes_in(udp(True, 6101))
        self.goes_out(IPv6(src=HOST, dst=FAR) / ICMPv6EchoRequest(id=611))
        self.comes_in(IPv6(src=FAR, dst=OUTSIDE) / ICMPv6EchoReply(id=611))
        self.comes_in(udp(True, 6101, of=STRANGER))
        self.comes_in(tcp(True, "S", 6101, of=STRANGER))


class AnswersOfWhomWasAsked(FilteredTest):
    """Filtering by address: a stranger may not send to an endpoint, another port of the peer may."""

    address_dependent = True

    def runTest(self) -> None:
        self.goes_out(udp(False, 6201))
        self.stays_out(udp(True, 6201, of=STRANGER), "DROP_UNSOLICITED")
        self.stays_out(tcp(True, "S", 6201, of=STRANGER), "DROP_UNSOLICITED_OPEN")
        self.comes_in(udp(True, 6201, remote=81))


class Pinholes(FilteredTest):
    """What a pinhole covers comes in unasked, and nothing beside it."""

    def runTest(self) -> None:
        self.entries.add(
            fy.P4TableEntry(
                "pinholes",
                match=fy.P4TableMatch(local=HOST, next_header=6, local_port="6343...6343"),
                action=fy.P4TableAction("open_pinhole"),
                priority=1,
            )
        )
        self.comes_in(IPv6(src=FAR, dst=OUTSIDE) / TCP(sport=4000, dport=6343, flags="S"))
        self.goes_out(IPv6(src=HOST, dst=FAR) / TCP(sport=6343, dport=4000, flags="SA"))
        self.stays_out(IPv6(src=FAR, dst=OUTSIDE) / TCP(sport=4000, dport=6344, flags="S"), "DROP_UNSOLICITED_OPEN")
        self.stays_out(IPv6(src=FAR, dst=OUTSIDE) / UDP(sport=4000, dport=6343), "DROP_UNSOLICITED")
