"""ICMPv6 errors that the switch makes itself (RFC 4443): which, about what, byte for byte."""

from scapy.layers.inet import UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoRequest,
    ICMPv6ND_Redirect,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrDestOpt,
)
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import (
    ADDRESS,
    FAR,
    FAR_SMALL,
    HOST,
    IP_OF,
    PROVIDER,
    ROUTER,
    error_about,
    fragment,
    in_chain,
    options,
    to_router,
    udp,
)


class ErrorTest(EdgeTest):
    """A test of what a sender is told."""

    def told(self, packet: Packet, message: Packet, reason: str) -> None:
        """The first host's packet is dropped, and it is told."""
        self.refused(1, packet, reason, error_about(packet, message, 1, HOST[1]))


class TimeExceeded(ErrorTest):
    """The hop limit ends here."""

    def runTest(self) -> None:
        for hop_limit in (0, 1):
            self.told(to_router(udp(hlim=hop_limit)), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
        ping = IPv6(src=IP_OF[1], dst=FAR, hlim=1) / ICMPv6EchoRequest(data=b"odd")
        self.told(to_router(ping), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")


class Unreachable(ErrorTest):
    """No route, prohibited, and a source that may not leave its link."""

    def runTest(self) -> None:
        self.told(to_router(udp(to="fd00::1")), ICMPv6DestUnreach(code=0), "DROP_NO_ROUTE")
        self.told(to_router(udp(to="2001:db8:911::1")), ICMPv6DestUnreach(code=1), "DROP_PROHIBITED")
        link_local = to_router(IPv6(src="fe80::11", dst=FAR) / UDP())
        self.told(link_local, ICMPv6DestUnreach(code=2), "DROP_LINK_LOCAL")


class PacketTooBig(ErrorTest):
    """One byte more than the port takes, with the MTU to keep to; the quote ends where the least MTU does."""

    def runTest(self) -> None:
        for to, mtu in ((FAR_SMALL, 1280), (FAR, 1500)):
            packet = to_router(IPv6(src=IP_OF[1], dst=to) / UDP() / Raw(b"\xff" * (mtu + 1 - 48)))
            self.told(packet, ICMPv6PacketTooBig(mtu=mtu), "DROP_PACKET_TOO_BIG")


class QuoteLengths(ErrorTest):
    """Quotes below, at and above their limit, of even and odd length: checksum and end are right in each."""

    def runTest(self) -> None:
        for length in (48, 49, 1231, 1232, 1233, 1500):
            filling = bytes(index % 251 for index in range(length - 48))
            packet = to_router(IPv6(src=IP_OF[1], dst=FAR, hlim=1) / UDP() / Raw(filling))
            self.told(packet, ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")


class QuoteIsAsItArrived(ErrorTest):
    """With its extension headers, without what Ethernet padded it with."""

    def runTest(self) -> None:
        chain = in_chain((0, options(16)), (60, options(48)), hlim=1)
        self.told(chain, ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
        bare = to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59, hlim=1, plen=0))
        error = error_about(bare, ICMPv6TimeExceeded(code=0), 1, HOST[1])
        self.refused(1, bytes(bare) + bytes(6), "DROP_HOP_LIMIT", error)


class TaggedSender(EdgeTest):
    """The error goes back the way the packet came, tag included."""

    def runTest(self) -> None:
        tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1) / udp(3, hlim=1)
        error = error_about(tagged, ICMPv6TimeExceeded(code=0), 1, HOST[3], tag=1, at=18)
        self.refused(3, tagged, "DROP_HOP_LIMIT", error)


class SideOfTheProvider(EdgeTest):
    """The error comes from the address of the VLAN that the packet came by."""

    def runTest(self) -> None:
        packet = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[1], hlim=1) / UDP()
        error = error_about(packet, ICMPv6TimeExceeded(code=0), 100, PROVIDER[4])
        self.refused(4, packet, "DROP_HOP_LIMIT", error)


class NeverAboutErrors(EdgeTest):
    """Never about an error, a redirect, or a part of a packet that may be one (section 2.4 e)."""

    def runTest(self) -> None:
        ip = IPv6(src=IP_OF[1], dst=FAR, hlim=1)
        for packet in (
            to_router(ip / ICMPv6TimeExceeded() / udp()),
            to_router(ip / IPv6ExtHdrDestOpt() / ICMPv6PacketTooBig() / udp()),
            in_chain((44, fragment(8, 0)), upper=58, payload=bytes(16), hlim=1),
        ):
            self.drops(1, packet, "DROP_HOP_LIMIT")
        self.drops(1, to_router(IPv6(src=IP_OF[1], dst="fd00::1") / ICMPv6DestUnreach() / udp()), "DROP_NO_ROUTE")
        redirect = IPv6(src=IP_OF[1], dst="fd00::1", hlim=255) / ICMPv6ND_Redirect(tgt=IP_OF[1], dst=FAR)
        self.drops(1, to_router(redirect), "DROP_NO_ROUTE")


class NeverToNobody(EdgeTest):
    """Not to a source that is nobody's, nor about a destination that is."""

    def runTest(self) -> None:
        for source in ("::", "::1", "ff02::1"):
            self.drops(1, to_router(IPv6(src=source, dst=FAR, hlim=1) / UDP()), "DROP_SOURCE_ADDRESS")
        for destination in ("::", "::1", "ff05::2"):
            self.drops(1, to_router(IPv6(src=IP_OF[1], dst=destination, hlim=1) / UDP()), "DROP_DESTINATION_ADDRESS")


class Counted(ErrorTest):
    """By type, those that were sent and those that were held back."""

    def runTest(self) -> None:
        sent, held = self.counter("errors_sent"), self.counter("errors_held_back")
        self.told(to_router(udp(hlim=1)), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
        self.told(to_router(udp(to="fd00::1")), ICMPv6DestUnreach(code=0), "DROP_NO_ROUTE")
        error = IPv6(src=IP_OF[1], dst=FAR, hlim=1) / ICMPv6TimeExceeded() / udp()
        self.drops(1, to_router(error), "DROP_HOP_LIMIT")
        self.assertEqual(difference(self.counter("errors_sent"), sent), [0, 1, 0, 1])
        self.assertEqual(difference(self.counter("errors_held_back"), held), [0, 0, 0, 1])


def difference(now: list[int], then: list[int]) -> list[int]:
    """What was counted, by the types of these errors."""
    return [after - before for after, before in zip(now[:4], then[:4], strict=True)]


class AnswersTheRoutersOwn(EdgeTest):
    """To an address of the router no error is needed, whatever the hop limit."""

    def runTest(self) -> None:
        self.punts(1, to_router(udp(to=ADDRESS[1], hlim=0)), "PUNT_LOCAL")
