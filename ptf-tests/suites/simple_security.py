"""Simple security at a site's border (RFC 6092): what comes in, and what does not."""

import finsy as fy
from border_site import INSIDE, INSIDE_SIDE, OUTSIDE_SIDE
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
from session_site import in_by
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
