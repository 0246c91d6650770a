"""Neighbour and router discovery: for the router, the bridge or both."""

from scapy.layers.inet import UDP
from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_Redirect,
    ICMPv6ND_RS,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
)
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import ADDRESS, FAR, HOST, IP_OF, PROVIDER, ROUTER, from_host

ALL_NODES, ALL_ROUTERS = ("33:33:00:00:00:01", "ff02::1"), ("33:33:00:00:00:02", "ff02::2")
DHCPV6_SERVERS = ("33:33:00:01:00:02", "ff02::1:2")


def message(to: tuple[str, str], body: Packet, source: str = "fe80::11", hop_limit: int = 255) -> Packet:
    """A message of the first host to a MAC and an address."""
    return from_host(IPv6(src=source, dst=to[1], hlim=hop_limit) / body, to[0])


def solicited(address: str) -> tuple[str, str]:
    """The group in which those listen who have the address."""
    low = address.rsplit(":", 1)[1].rjust(4, "0")
    return f"33:33:ff:00:{low[:2]}:{low[2:]}", f"ff02::1:ff00:{low}"


class WhoHasTheRouters(EdgeTest):
    """A solicitation for an address of the router goes to the controller, and to nobody else."""

    def runTest(self) -> None:
        body = ICMPv6ND_NS(tgt=ADDRESS[1]) / ICMPv6NDOptSrcLLAddr(lladdr=HOST[1])
        self.punts(1, message(solicited(ADDRESS[1]), body), "PUNT_NEIGHBOUR_SOLICITATION")
        self.punts(1, message((ROUTER[1], "fe80::1"), ICMPv6ND_NS(tgt="fe80::1")), "PUNT_NEIGHBOUR_SOLICITATION")


class DuplicateAddressDetection(EdgeTest):
    """A host that wants the router's address for itself is heard, from the trunk too."""

    def runTest(self) -> None:
        mac, group = solicited(ADDRESS[1])
        ip = IPv6(src="::", dst=group, hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1])
        self.punts(3, Ether(src=HOST[3], dst=mac) / Dot1Q(vlan=1) / ip, "PUNT_NEIGHBOUR_SOLICITATION")


class WhoHasANeighbours(EdgeTest):
    """Addresses of others are none of the router's business, nor are its own of another VLAN."""

    def runTest(self) -> None:
        self.floods(1, message(solicited(IP_OF[2]), ICMPv6ND_NS(tgt=IP_OF[2])))
        self.floods(1, message(solicited(ADDRESS[100]), ICMPv6ND_NS(tgt=ADDRESS[100])))


class ToAGroup(EdgeTest):
    """Advertisements and router solicitations to a group: flooded, and a copy for the controller."""

    def runTest(self) -> None:
        for to, body, reason in (
            (ALL_ROUTERS, ICMPv6ND_RS(), "PUNT_ROUTER_SOLICITATION"),
            (ALL_NODES, ICMPv6ND_NA(tgt=IP_OF[1], O=1), "PUNT_NEIGHBOUR_ADVERTISEMENT"),
            (ALL_NODES, ICMPv6ND_RA(), "PUNT_ROUTER_ADVERTISEMENT"),
        ):
            packet = message(to, body)
            self.floods(1, packet, [self.punt(reason, 1, 1, packet)])


class ToTheRouter(EdgeTest):
    """To the router's MAC: the controller alone."""

    def runTest(self) -> None:
        to = (ROUTER[1], "fe80::1")
        self.punts(1, message(to, ICMPv6ND_NA(tgt=IP_OF[1], S=1)), "PUNT_NEIGHBOUR_ADVERTISEMENT")
        self.punts(1, message(to, ICMPv6ND_RS()), "PUNT_ROUTER_SOLICITATION")
        self.punts(1, message(to, ICMPv6ND_RA()), "PUNT_ROUTER_ADVERTISEMENT")


class ToAnotherHost(EdgeTest):
    """Between hosts: the bridge alone."""

    def runTest(self) -> None:
        for body in (
            ICMPv6ND_NA(tgt=IP_OF[1], S=1),
            ICMPv6ND_NS(tgt=IP_OF[2]),
            ICMPv6ND_Redirect(tgt=IP_OF[1], dst=FAR),
        ):
            self.passes(1, message((HOST[2], IP_OF[2]), body), 2)


class ProvidersRouter(EdgeTest):
    """A provider's advertisement: the controller learns of it."""

    def runTest(self) -> None:
        ip = IPv6(src="fe80::a1", dst="ff02::1", hlim=255) / ICMPv6ND_RA()
        packet = Ether(src=PROVIDER[4], dst="33:33:00:00:00:01") / ip
        self.verify(
            [(4, packet)],
            punted=[self.punt("PUNT_ROUTER_ADVERTISEMENT", 4, 100, packet)],
            dropped={"DROP_FLOOD_COPY": 1},
        )


class VlanWithoutRouter(EdgeTest):
    """Where there is no router, discovery is the hosts' own affair."""

    def runTest(self) -> None:
        self.entries.insert("vlan_members", {"port": 1, "vlan": 20}, "admit_to_vlan")
        for body in (ICMPv6ND_RS(), ICMPv6ND_NS(tgt=ADDRESS[1])):
            ip = IPv6(src="fe80::11", dst="ff02::2", hlim=255) / body
            tagged = Ether(src=HOST[1], dst="33:33:00:00:00:02") / Dot1Q(vlan=20) / ip
            self.verify([(1, tagged)], [(3, tagged)])


class FromAfar(EdgeTest):
    """A hop limit below 255 says that a router passed it on: no host takes it (RFC 4861), nor does the switch."""

    def runTest(self) -> None:
        bodies = (ICMPv6ND_RS(), ICMPv6ND_RA(), ICMPv6ND_NS(tgt=ADDRESS[1]), ICMPv6ND_NA(), ICMPv6ND_Redirect())
        for body in bodies:
            self.drops(1, message(ALL_NODES, body, hop_limit=254), "DROP_DISCOVERY_INVALID")
        self.drops(1, message((HOST[2], IP_OF[2]), ICMPv6ND_NA(), hop_limit=254), "DROP_DISCOVERY_INVALID")


class WrongCode(EdgeTest):
    """Discovery has code 0."""

    def runTest(self) -> None:
        self.drops(1, message(ALL_NODES, ICMPv6ND_RA(code=1)), "DROP_DISCOVERY_INVALID")


class BehindExtensionHeaders(EdgeTest):
    """Options before a message hide nothing."""

    def runTest(self) -> None:
        body = IPv6ExtHdrDestOpt() / ICMPv6ND_NS(tgt=ADDRESS[1])
        self.punts(1, message(solicited(ADDRESS[1]), body), "PUNT_NEIGHBOUR_SOLICITATION")
        self.drops(1, message(ALL_NODES, IPv6ExtHdrDestOpt() / ICMPv6ND_RA(), hop_limit=64), "DROP_DISCOVERY_INVALID")


class InFragments(EdgeTest):
    """Discovery in fragments is ignored (RFC 6980): bridged like anything else."""

    def runTest(self) -> None:
        body = IPv6ExtHdrFragment(m=1, id=1) / ICMPv6ND_NS(tgt=ADDRESS[1])
        self.floods(1, message(solicited(ADDRESS[1]), body))


class LooksForServers(EdgeTest):
    """A DHCPv6 client is heard by the router and by all servers beside it; by the router alone if it names its MAC."""

    def runTest(self) -> None:
        solicit = UDP(sport=546, dport=547) / Raw(b"\1abc")
        packet = message(DHCPV6_SERVERS, solicit, hop_limit=1)
        self.floods(1, packet, [self.punt("PUNT_DHCPV6", 1, 1, packet)])
        self.punts(1, message((ROUTER[1], "ff02::1:2"), solicit), "PUNT_DHCPV6")


class OtherwiseToServers(EdgeTest):
    """Other ports, and fragments, are bridged like anything else."""

    def runTest(self) -> None:
        self.floods(1, message(DHCPV6_SERVERS, UDP(sport=547, dport=546) / Raw(b"\7abc")))
        body = IPv6ExtHdrFragment(m=1, id=1) / UDP(sport=546, dport=547, chksum=1) / Raw(b"\1abcdefg")
        self.floods(1, message(DHCPV6_SERVERS, body))
