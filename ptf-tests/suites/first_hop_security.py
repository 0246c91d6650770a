"""First-hop security: what hosts may say of themselves and of others."""

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_Redirect,
    ICMPv6ND_RS,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
)
from scapy.layers.l2 import LLC, SNAP, Dot1AD, Dot1Q, Dot3, Ether
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import ADDRESS, CPU, FAR, HOST, IP_OF, PROVIDER, ROUTER, from_host, out_first, to_router, udp
from wayname.p4_constants import Guard

SOURCES, NEIGHBOURS, ROUTERS, DHCPV6, SOURCES_FULL, MACS_FULL = Guard
ALL = SOURCES | NEIGHBOURS | ROUTERS | DHCPV6
NEW = "2001:db8:1::77"
ALL_NODES = ("33:33:00:00:00:01", "ff02::1")
FIRST_FRAGMENT = IPv6ExtHdrFragment(m=1, id=1)


def message(to: tuple[str, str], body: Packet, source: str = "fe80::11") -> Packet:
    """A message of the first host to a MAC and an address."""
    return from_host(IPv6(src=source, dst=to[1], hlim=255) / body, to[0])


class HostPortsTest(EdgeTest):
    """Ports 1 and 2 lead to hosts, each of which has its address; port 3 is trusted."""

    guards = ALL

    def setUp(self) -> None:
        """Say what is checked of whom, and whose the addresses are."""
        super().setUp()
        for port in (1, 2):
            member = self.entries.entry("vlan_members", {"port": port, "vlan": 1}, "admit_host", guards=self.guards)
            self.entries.modify(member)
            # Nobody here listens to what would be learned.
            self.entries.insert("learned_macs", {"port": port, "vlan": 1, "source": HOST[port]}, "known_mac")
        for prefix in ("fe80::/10", "2001:db8:1::/64"):
            self.entries.insert("host_prefixes", {"vlan": 1, "address": prefix}, "host_prefix")
        self.bind("fe80::11", 1, HOST[1])
        for host in (1, 2):
            self.bind(IP_OF[host], host, HOST[host])
        self.bind(ADDRESS[1], CPU, ROUTER[1])

    def bind(self, address: str, port: int, mac: str) -> None:
        """Bind an address."""
        self.entries.insert("source_bindings", {"vlan": 1, "address": address}, "bind_source", port=port, mac=mac)

    def refused_as_anothers(self, into: int, packet: Packet) -> None:
        """A packet ends here, and the controller gets a copy."""
        told = self.punt("PUNT_SOURCE_ELSEWHERE", into, 1, packet)
        self.verify([(into, packet)], punted=[told], dropped={"DROP_SOURCE_BINDING": 1})


class OwnAddress(HostPortsTest):
    """A host sends from its own address, routed and bridged."""

    def runTest(self) -> None:
        self.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
        packet = from_host(udp(to=IP_OF[2]), HOST[2])
        self.passes(1, packet, 2)


class AnothersAddress(HostPortsTest):
    """By another port, by another station behind the same port, and the router's own."""

    def runTest(self) -> None:
        self.refused_as_anothers(2, from_host(udp(1), ROUTER[1], 2))
        self.refused_as_anothers(1, from_host(udp(2), ROUTER[1], 1))
        other = Ether(src=HOST[2], dst=HOST[3]) / IPv6(src=IP_OF[1], dst=IP_OF[3]) / UDP()
        self.refused_as_anothers(2, other)
        self.refused_as_anothers(1, from_host(IPv6(src=ADDRESS[1], dst=IP_OF[2]) / UDP(), HOST[2]))


class NewAddress(HostPortsTest):
    """It goes on, and the controller gets a copy, unless it gets the packet anyway."""

    def runTest(self) -> None:
        packet = to_router(IPv6(src=NEW, dst=FAR) / UDP())
        told = self.punt("PUNT_SOURCE_UNKNOWN", 1, 1, packet)
        self.verify([(1, packet)], [(4, out_first(packet))], [told])
        self.punts(1, to_router(IPv6(src=NEW, dst=ADDRESS[1]) / UDP()), "PUNT_LOCAL")


class ForeignAddress(HostPortsTest):
    """One that no host of the VLAN can have."""

    def runTest(self) -> None:
        for source in (FAR, ADDRESS[100], "::1", "ff02::1", "fd00::1"):
            self.drops(1, to_router(IPv6(src=source, dst=FAR) / UDP()), "DROP_SOURCE_PREFIX")


class NoAddressYet(HostPortsTest):
    """Who has none asks for routers, and whether an address is taken."""

    def runTest(self) -> None:
        asked = message(("33:33:00:00:00:02", "ff02::2"), ICMPv6ND_RS(), "::")
        self.floods(1, asked, [self.punt("PUNT_ROUTER_SOLICITATION", 1, 1, asked)])
        for target, reason in ((NEW, "PUNT_SOURCE_UNKNOWN"), (IP_OF[2], "PUNT_SOURCE_ELSEWHERE")):
            asked = message(("33:33:ff:00:00:77", "ff02::1:ff00:77"), ICMPv6ND_NS(tgt=target), "::")
            self.floods(1, asked, [self.punt(reason, 1, 1, asked)])


class Advertisements(HostPortsTest):
    """Of one's own address; not of another's or the router's."""

    def runTest(self) -> None:
        own = message(ALL_NODES, ICMPv6ND_NA(tgt=IP_OF[1], O=1))
        self.floods(1, own, [self.punt("PUNT_NEIGHBOUR_ADVERTISEMENT", 1, 1, own)])
        for target in (IP_OF[2], ADDRESS[1]):
            self.refused_as_anothers(1, message(ALL_NODES, ICMPv6ND_NA(tgt=target, O=1)))
            self.refused_as_anothers(1, message((HOST[2], IP_OF[2]), ICMPv6ND_NA(tgt=target, S=1)))


class RouterAdvertisements(HostPortsTest):
    """Of hosts they go nowhere, nor do redirects, whatever stands before them."""

    def runTest(self) -> None:
        for body in (
            ICMPv6ND_RA(),
            ICMPv6ND_Redirect(tgt=IP_OF[1], dst=FAR),
            IPv6ExtHdrDestOpt() / ICMPv6ND_RA(),
            IPv6ExtHdrFragment(m=0) / ICMPv6ND_RA(),
            IPv6ExtHdrDestOpt() / FIRST_FRAGMENT / IPv6ExtHdrDestOpt() / ICMPv6ND_RA(),
        ):
            self.drops(1, message(ALL_NODES, body), "DROP_RA_GUARD")
            self.drops(1, message((HOST[2], IP_OF[2]), body), "DROP_RA_GUARD")


class DiscoveryInFragments(HostPortsTest):
    """It is nothing that a host would take (RFC 6980)."""

    def runTest(self) -> None:
        for body in (ICMPv6ND_NS(tgt=IP_OF[2]), ICMPv6ND_NA(tgt=IP_OF[1]), ICMPv6ND_RS()):
            self.drops(1, message(ALL_NODES, FIRST_FRAGMENT / body), "DROP_DISCOVERY_FRAGMENT")


class Dhcpv6Servers(HostPortsTest):
    """Hosts are clients."""

    def runTest(self) -> None:
        for sport, dport in ((547, 546), (1234, 546), (547, 547)):
            datagram = UDP(sport=sport, dport=dport, chksum=1) / Raw(b"\7abcdefg")
            self.drops(1, message((HOST[2], "fe80::12"), datagram), "DROP_DHCPV6_GUARD")
            self.drops(1, message((HOST[2], "fe80::12"), FIRST_FRAGMENT / datagram), "DROP_DHCPV6_GUARD")


class HiddenHeaders(HostPortsTest):
    """Second tags and LLC, which receivers may take off."""

    def runTest(self) -> None:
        advertisement = IPv6(src="fe80::11", dst="ff02::1", hlim=255) / ICMPv6ND_RA()
        ether = Ether(src=HOST[1], dst=ALL_NODES[0])
        for packet in (
            ether / Dot1Q(vlan=0) / Dot1Q(vlan=0) / advertisement,
            ether / Dot1AD(vlan=0) / advertisement,
            Dot3(src=HOST[1], dst=ALL_NODES[0]) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=0x86DD) / advertisement,
        ):
            self.drops(1, packet, "DROP_HIDDEN_HEADERS")


class HostTunnels(HostPortsTest):
    """What comes out of a tunnel that a host began."""

    def runTest(self) -> None:
        end = "2001:db8:5ed::1"
        self.entries.insert("sids", {"destination": f"{end}/128"}, "end_dt6", vrf=0)
        inner = IPv6(src=IP_OF[2], dst=FAR, hlim=9) / UDP()
        self.drops(1, to_router(IPv6(src=IP_OF[1], dst=end) / inner), "DROP_HOST_TUNNEL")
        tunnel = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=end) / inner
        self.passes(4, tunnel, 4, out_first(Ether(src=PROVIDER[4], dst=ROUTER[100]) / inner))


class TrustedPorts(HostPortsTest):
    """Nothing is checked of what comes by them."""

    def runTest(self) -> None:
        packet = IPv6(src=FAR, dst=IP_OF[1]) / UDP()
        self.passes(
            3, Ether(src=HOST[3], dst=HOST[1]) / Dot1Q(vlan=1) / packet, 1, Ether(src=HOST[3], dst=HOST[1]) / packet
        )


class FullPorts(HostPortsTest):
    """What is known passes; new sources and stations do not."""

    guards = SOURCES | SOURCES_FULL | MACS_FULL

    def runTest(self) -> None:
        self.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
        self.drops(1, to_router(IPv6(src=NEW, dst=FAR) / UDP()), "DROP_SOURCE_LIMIT")
        self.drops(1, Ether(src="02:00:00:00:00:99", dst=HOST[2]) / IP(), "DROP_MAC_LIMIT")


class StationsElsewhere(HostPortsTest):
    """A station that lives behind another port."""

    def runTest(self) -> None:
        self.entries.insert("learned_macs", {"port": 1, "vlan": 1, "source": HOST[2]}, "refuse_mac")
        self.drops(1, from_host(udp(2, to=IP_OF[1]), HOST[3], 2), "DROP_MAC_MOVE")
