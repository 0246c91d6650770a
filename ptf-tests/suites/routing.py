"""The router: longest prefix, next hop, neighbour, hop limit."""

from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from harness.edge_test import EdgeTest
from small_site import (
    ADDRESS,
    FAR,
    FAR_SMALL,
    HOST,
    IP_OF,
    PROVIDER,
    ROUTER,
    from_host,
    out_first,
    routed,
    to_router,
    udp,
)


class NextHop(EdgeTest):
    """Out by a provider: new MACs, one hop less, nothing else."""

    def runTest(self) -> None:
        packet = to_router(udp(tc=0xB8, fl=0xABCDE))
        self.passes(1, packet, 4, out_first(packet))


class Connected(EdgeTest):
    """From a provider, or another host, to a host by its address."""

    def runTest(self) -> None:
        back = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[1], hlim=9) / UDP() / Raw(b"back")
        self.passes(4, back, 1, routed(back, 1, HOST[1]))
        across = to_router(udp(to=IP_OF[2]))
        self.passes(1, across, 2, routed(across, 1, HOST[2]))


class LongestPrefix(EdgeTest):
    """The longest prefix wins; when its route goes, the next one does."""

    def runTest(self) -> None:
        packet = to_router(udp(to="2001:db8:f00:1::5"))
        by_second = routed(packet, 200, PROVIDER[5])
        self.passes(1, packet, 4, out_first(packet))  # 2001:db8::/32
        longer = [
            self.entries.entry("routes", {"destination": prefix}, "route_nexthop", nexthop=nexthop)
            for prefix, nexthop in (("2001:db8:f00::/40", 2), ("2001:db8:f00:1::/64", 1), ("2001:db8:f00:1::5/128", 2))
        ]
        self.entries.add(*longer)
        self.passes(1, packet, 5, by_second)
        self.entries.delete(longer[2])
        self.passes(1, packet, 4, out_first(packet))
        self.entries.delete(longer[1])
        self.passes(1, packet, 5, by_second)


class DefaultRoute(EdgeTest):
    """A route for everything is taken where no other is."""

    def runTest(self) -> None:
        packet = to_router(udp(to="2a00::1"))
        self.entries.insert("routes", {}, "route_nexthop", nexthop=1)
        self.passes(1, packet, 4, out_first(packet))


class NextHopMoves(EdgeTest):
    """All routes by a next hop go where it goes."""

    def runTest(self) -> None:
        packet = to_router(udp())
        self.passes(1, packet, 4, out_first(packet))
        moved = self.entries.entry("nexthops", {"nexthop": 1}, "set_nexthop", vlan=200, address="fe80::b1")
        self.entries.modify(moved)
        self.passes(1, packet, 5, routed(packet, 200, PROVIDER[5]))


class NeighbourChanges(EdgeTest):
    """A neighbour with a new MAC behind another port."""

    def runTest(self) -> None:
        packet = to_router(udp(to=IP_OF[2]))
        neighbour = {"vlan": 1, "address": IP_OF[2]}
        self.entries.modify(self.entries.entry("neighbours", neighbour, "set_neighbour", port=3, mac=HOST[3]))
        plain = bytes(routed(packet, 1, HOST[3]))
        self.passes(1, packet, 3, plain[:12] + b"\x81\x00\x00\x01" + plain[12:])


class Tags(EdgeTest):
    """Off towards the provider, on towards the trunk."""

    def runTest(self) -> None:
        tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1, prio=3) / udp(3)
        self.passes(3, tagged, 4, out_first(from_host(udp(3), ROUTER[1], 3)))


class EthernetPadding(EdgeTest):
    """What Ethernet pads stays padded."""

    def runTest(self) -> None:
        padded = to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59, plen=0)) / Raw(bytes(6))
        self.passes(1, padded, 4, out_first(padded))


class LastHop(EdgeTest):
    """A hop limit of 2 is enough to go on, one of 1 to reach the router itself."""

    def runTest(self) -> None:
        packet = to_router(udp(hlim=2))
        self.passes(1, packet, 4, out_first(packet))
        self.punts(1, to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1], hlim=1) / ICMPv6EchoRequest()), "PUNT_LOCAL")


class OwnAddresses(EdgeTest):
    """All addresses of the router are reached from each VLAN."""

    def runTest(self) -> None:
        for address in (*ADDRESS.values(), "fe80::1"):
            self.punts(1, to_router(udp(to=address)), "PUNT_LOCAL")
        tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1) / udp(3, to=ADDRESS[100])
        self.punts(3, tagged, "PUNT_LOCAL")


class UnknownNeighbour(EdgeTest):
    """The controller resolves it, and the next packet goes."""

    def runTest(self) -> None:
        packet = to_router(udp(to="2001:db8:1::99"))
        self.punts(1, packet, "PUNT_NEIGHBOUR_UNKNOWN")
        neighbour = {"vlan": 1, "address": "2001:db8:1::99"}
        self.entries.insert("neighbours", neighbour, "set_neighbour", port=2, mac=HOST[2])
        self.passes(1, packet, 2, routed(packet, 1, HOST[2]))


class OnlyTheRoutersMac(EdgeTest):
    """What is for another MAC is bridged, whatever its address; so is all in a VLAN without a router."""

    def runTest(self) -> None:
        self.passes(1, from_host(udp(), HOST[2]), 2)
        self.entries.insert("vlan_members", {"port": 1, "vlan": 20}, "admit_to_vlan")
        tagged = Ether(src=HOST[1], dst=ROUTER[1]) / Dot1Q(vlan=20) / udp()
        self.verify([(1, tagged)], [(3, tagged)])


class WithoutAWord(EdgeTest):
    """Discarded, and routes whose next hop is not there: nobody is told."""

    def runTest(self) -> None:
        self.drops(1, to_router(udp(to="2001:db8:912::1")), "DROP_DISCARD")
        self.drops(1, to_router(udp(to="2001:db8:bad::1")), "DROP_NO_NEXTHOP")


class MtuOfThePort(EdgeTest):
    """As long as the MTU is not too long; the controller may change it."""

    def runTest(self) -> None:
        longest = to_router(IPv6(src=IP_OF[1], dst=FAR_SMALL) / UDP() / Raw(bytes(1280 - 48)))
        self.passes(1, longest, 5, routed(longest, 200, PROVIDER[5]))
        self.entries.modify(self.entries.entry("port_mtus", {"port": 5}, "set_port_mtu", bytes=9000))
        longer = to_router(IPv6(src=IP_OF[1], dst=FAR_SMALL) / UDP() / Raw(bytes(4000)))
        self.passes(1, longer, 5, routed(longer, 200, PROVIDER[5]))
