"""What the switch does as a bridge and as a router: the cases of bridging, discovery and routing."""

from case import Case, number
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6MLReport,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_Redirect,
    ICMPv6ND_RS,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
    IPv6ExtHdrFragment,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

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


def bridging() -> Case:
    case = Case("bridging", "Bridging: known stations, floods, VLAN tags, what a bridge must not pass on.")
    case.say("A known station: IPv6, IPv4, ARP, anything.")
    case.passes(1, from_host(udp(to=IP_OF[2]), HOST[2]), 2)
    case.passes(1, from_host(IP(src="192.0.2.1", dst="192.0.2.2") / UDP() / Raw(b"four"), HOST[2]), 2)
    case.passes(2, from_host(ARP(op=2, psrc="192.0.2.2", pdst="192.0.2.1"), HOST[1], 2), 1)
    case.passes(1, Ether(src=HOST[1], dst=HOST[2], type=0x1234) / Raw(bytes(46)), 2)

    case.say("A tag goes on and off; the priority stays where there is a tag.")
    plain = udp(to=IP_OF[3])
    case.passes(1, from_host(plain, HOST[3]), 3, Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=1) / plain)
    back = IPv6(src=IP_OF[3], dst=IP_OF[1]) / UDP() / Raw(b"back")
    case.passes(3, Ether(src=HOST[3], dst=HOST[1]) / Dot1Q(vlan=1, prio=5) / back, 1, from_host(back, HOST[1], 3))
    case.passes(
        1,
        Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=0, prio=6) / plain,
        3,
        Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=1, prio=6) / plain,
    )

    case.say("An unknown station and a group: to all ports of the VLAN but the one it came from.")
    for packet in (
        Ether(src=HOST[1], dst="02:00:00:00:00:77") / IP(src="192.0.2.1", dst="192.0.2.7") / UDP(),
        Ether(src=HOST[1], dst="ff:ff:ff:ff:ff:ff") / ARP(psrc="192.0.2.1", pdst="192.0.2.2"),
        Ether(src=HOST[1], dst="33:33:00:00:00:16") / IPv6(src="fe80::11", dst="ff02::16", hlim=1) / ICMPv6MLReport(),
    ):
        case.send(1, packet)
        case.expect(2, packet)
        case.expect(3, Ether(src=HOST[1], dst=packet.dst) / Dot1Q(vlan=1) / packet.payload)
        case.flood_copies()

    case.say("Another VLAN is another bridge: nobody is there.")
    case.drops(3, Ether(src=HOST[3], dst=HOST[1]) / Dot1Q(vlan=20) / plain, "DROP_FLOOD_COPY", "egress")

    case.say("What ends at a bridge.")
    case.drops(6, from_host(plain, HOST[3]), "DROP_PORT_UNKNOWN")
    case.drops(3, Ether(src=HOST[3], dst=HOST[1]) / plain, "DROP_VLAN_INGRESS")
    case.drops(1, Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=20) / plain, "DROP_VLAN_INGRESS")
    case.drops(1, Ether(src="03:00:00:00:00:11", dst=HOST[2]) / plain, "DROP_SOURCE_MAC")
    case.drops(1, Ether(src=ROUTER[1], dst=HOST[2]) / plain, "DROP_SOURCE_MAC")
    case.drops(1, Ether(src=HOST[1], dst="01:80:c2:00:00:0e", type=0x88CC) / Raw(bytes(46)), "DROP_RESERVED_GROUP")
    case.drops(2, from_host(udp(2, to=IP_OF[2]), HOST[2], 1), "DROP_SAME_PORT")
    case.drops(1, to_router(IP(src="192.0.2.1", dst="192.0.2.2") / UDP()), "DROP_NOT_ROUTED")

    case.say("A VLAN without a flood group, and a station behind a port that is not in the VLAN.")
    case.add("vlan_members", "admit_to_vlan()", port=3, vlan=30)
    case.drops(3, Ether(src=HOST[3], dst="02:00:00:00:00:77") / Dot1Q(vlan=30) / plain, "DROP_NO_FLOOD_GROUP")
    case.add("fdb", "send_to_port(port:2)", vlan=20, destination=number(HOST[2]))
    case.drops(3, Ether(src=HOST[3], dst=HOST[2]) / Dot1Q(vlan=20) / plain, "DROP_VLAN_EGRESS", "egress")
    return case


def discovery() -> Case:
    case = Case("discovery", "Neighbour and router discovery: the router, the bridge or both.")

    def flooded(packet: Packet) -> None:
        case.expect(2, packet)
        case.expect(3, Ether(src=packet.src, dst=packet.dst) / Dot1Q(vlan=1) / packet.payload)
        case.flood_copies()

    def message(to_mac: str, to: str, body: Packet, hop_limit: int = 255, source: str = "fe80::11") -> Packet:
        return from_host(IPv6(src=source, dst=to, hlim=hop_limit) / body, to_mac)

    case.say("Who has an address of the router? The controller says. Also to a host that only makes sure.")
    case.punts_whole(
        1, message("33:33:ff:00:00:01", "ff02::1:ff00:1", ICMPv6ND_NS(tgt=ADDRESS[1])), "PUNT_NEIGHBOUR_SOLICITATION", 1
    )
    case.punts_whole(
        1,
        message(ROUTER[1], "fe80::1", ICMPv6ND_NS(tgt="fe80::1") / ICMPv6NDOptSrcLLAddr(lladdr=HOST[1])),
        "PUNT_NEIGHBOUR_SOLICITATION",
        1,
    )
    tagged = (
        Ether(src=HOST[3], dst="33:33:ff:00:00:01") / Dot1Q(vlan=1) / IPv6(src="::", dst="ff02::1:ff00:1", hlim=255)
    )
    case.punts_whole(3, tagged / ICMPv6ND_NS(tgt=ADDRESS[1]), "PUNT_NEIGHBOUR_SOLICITATION", 1)

    case.say("Who has a neighbour's? The neighbour says.")
    packet = message("33:33:ff:00:00:12", "ff02::1:ff00:12", ICMPv6ND_NS(tgt=IP_OF[2]))
    case.send(1, packet)
    flooded(packet)

    case.say("To a group: the controller gets a copy.")
    for body, group, reason, known in (
        (ICMPv6ND_RS(), "2", "PUNT_ROUTER_SOLICITATION", None),
        (ICMPv6ND_NA(tgt=IP_OF[1], O=1), "1", "PUNT_NEIGHBOUR_ADVERTISEMENT", "CLASS_NEIGHBOUR"),
        (ICMPv6ND_RA(), "1", "PUNT_ROUTER_ADVERTISEMENT", None),
    ):
        packet = message(f"33:33:00:00:00:0{group}", f"ff02::{group}", body)
        case.punts_whole(1, packet, reason, 1, known)
        flooded(packet)

    case.say("To the router: the controller has it. To another: the bridge.")
    advertisement = message(ROUTER[1], "fe80::1", ICMPv6ND_NA(tgt=IP_OF[1], S=1))
    case.punts_whole(1, advertisement, "PUNT_NEIGHBOUR_ADVERTISEMENT", 1, "CLASS_NEIGHBOUR")
    case.punts_whole(1, message(ROUTER[1], "fe80::1", ICMPv6ND_RS()), "PUNT_ROUTER_SOLICITATION", 1)
    case.passes(1, message(HOST[2], IP_OF[2], ICMPv6ND_NA(tgt=IP_OF[1], S=1)), 2)
    case.passes(1, message(HOST[2], IP_OF[2], ICMPv6ND_Redirect(tgt=IP_OF[1], dst=FAR)), 2)

    case.say("A provider's router.")
    advertisement = Ether(src=PROVIDER[4], dst="33:33:00:00:00:01") / IPv6(src="fe80::a1", dst="ff02::1", hlim=255)
    case.punts_whole(4, advertisement / ICMPv6ND_RA(), "PUNT_ROUTER_ADVERTISEMENT", 100, "CLASS_NEIGHBOUR")
    case.flood_copies()

    case.say("A client looks for DHCPv6 servers. Other groups, ports and protocols are bridged, and so are fragments.")
    servers = ("33:33:00:01:00:02", "ff02::1:2")
    solicit = message(*servers, UDP(sport=546, dport=547) / Raw(b"\1abc"), 1)
    case.punts_whole(1, solicit, "PUNT_DHCPV6", 1)
    flooded(solicit)
    case.punts_whole(1, message(ROUTER[1], servers[1], UDP(sport=546, dport=547) / Raw(b"\1abc")), "PUNT_DHCPV6", 1)
    for packet in (
        message(*servers, UDP(sport=547, dport=546) / Raw(b"\7abc")),
        message(*servers, TCP(sport=546, dport=547)),
        message("33:33:00:01:00:03", "ff02::1:3", UDP(sport=546, dport=547) / Raw(b"\1abc")),
        message(*servers, IPv6ExtHdrFragment(m=1, id=1) / UDP(sport=546, dport=547, chksum=1) / Raw(b"\1abcdefg")),
    ):
        case.send(1, packet)
        flooded(packet)

    case.say(
        "What another router of a virtual router says: the controller has it too, also where this one has its MAC now."
    )
    said = IPv6(src="fe80::2", dst="ff02::12", hlim=255, nh=112) / Raw(
        bytes.fromhex("3101640100140000" + "fe80" + "00" * 13 + "01")
    )
    for mac in ("00:00:5e:00:02:01", ROUTER[1]):
        advertisement = Ether(src=mac, dst="33:33:00:00:00:12") / said
        case.punts_whole(1, advertisement, "PUNT_VRRP", 1)
        flooded(advertisement)
    said.hlim = 254
    passed_on = Ether(src=HOST[1], dst="33:33:00:00:00:12") / said
    case.send(1, passed_on)
    flooded(passed_on)

    case.say("Not from this link, or not as RFC 4861 says.")
    for wrong in (
        ICMPv6ND_RS(),
        ICMPv6ND_RA(),
        ICMPv6ND_NS(tgt=ADDRESS[1]),
        ICMPv6ND_NA(tgt=IP_OF[1]),
        ICMPv6ND_Redirect(),
    ):
        case.drops(1, message("33:33:00:00:00:01", "ff02::1", wrong, hop_limit=254), "DROP_DISCOVERY_INVALID")
    case.drops(1, message("33:33:00:00:00:01", "ff02::1", ICMPv6ND_RA(code=1)), "DROP_DISCOVERY_INVALID")
    return case


def routing() -> Case:
    case = Case("routing", "Routing: longest prefix, next hop, neighbour, what is not routed.")
    case.say("Out by a provider, back in, and between hosts by the router.")
    case.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
    back = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[1], hlim=9) / UDP() / Raw(b"back")
    case.passes(4, back, 1, routed(back, 1, HOST[1]))
    case.passes(1, to_router(udp(to=IP_OF[2])), 2, routed(to_router(udp(to=IP_OF[2])), 1, HOST[2]))
    case.passes(1, to_router(udp(to=FAR_SMALL)), 5, routed(to_router(udp(to=FAR_SMALL)), 200, PROVIDER[5]))

    case.say("Tags: off towards the provider, on towards the trunk.")
    tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1, prio=3) / udp(3)
    case.passes(3, tagged, 4, out_first(from_host(udp(3), ROUTER[1], 3)))
    down = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[3]) / UDP() / Raw(b"down")
    case.passes(
        4, down, 3, Ether(src=ROUTER[1], dst=HOST[3]) / Dot1Q(vlan=1) / IPv6(bytes(routed(down, 1, HOST[3]))[14:])
    )

    case.say("What Ethernet pads stays padded.")
    short = to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59)) / Raw(bytes(6))
    short[IPv6].plen = 0
    case.passes(1, short, 4, out_first(short))

    case.say("The last hop limit that is enough, also for the router itself.")
    case.passes(1, to_router(udp(hlim=2)), 4, out_first(to_router(udp(hlim=2))))
    case.punts_whole(
        1, to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1], hlim=1) / ICMPv6EchoRequest(data=b"?")), "PUNT_LOCAL", 1
    )
    case.punts_whole(1, to_router(IPv6(src="fe80::11", dst="fe80::1") / ICMPv6EchoRequest()), "PUNT_LOCAL", 1)
    case.punts_whole(3, Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1) / udp(3, to=ADDRESS[100]), "PUNT_LOCAL", 1)

    case.say("A neighbour that is not known yet.")
    case.punts_whole(1, to_router(udp(to="2001:db8:1::99")), "PUNT_NEIGHBOUR_UNKNOWN", 1)

    case.say("Not to the router's MAC: not routed.")
    packet = from_host(udp(), HOST[2])
    case.passes(1, packet, 2)

    case.say("Addresses that nobody has, and that stay on their link. Nobody is told.")
    for source in ("ff02::1", "::1", "::"):
        case.drops(1, to_router(IPv6(src=source, dst=FAR) / UDP()), "DROP_SOURCE_ADDRESS")
    for destination in ("ff05::2", "::1", "::"):
        case.drops(1, to_router(IPv6(src=IP_OF[1], dst=destination) / UDP()), "DROP_DESTINATION_ADDRESS")
    case.add("routes", "route_nexthop(nexthop:1)", destination=f"{number('fe80::')}/10")
    case.drops(1, to_router(udp(to="fe80::a1")), "DROP_LINK_LOCAL")

    case.say("Routes that lead nowhere without a word.")
    case.drops(1, to_router(udp(to="2001:db8:912::1")), "DROP_DISCARD")
    case.drops(1, to_router(udp(to="2001:db8:bad::1")), "DROP_NO_NEXTHOP")
    case.add("routes", "route_ecmp(ecmp_group:7)", destination=f"{number('2001:db8:bae::')}/48")
    case.drops(1, to_router(udp(to="2001:db8:bae::1")), "DROP_NO_NEXTHOP")
    case.add("neighbours", f"set_neighbour(port:3,mac:{number(HOST[3])})", vlan=20, address=number("2001:db8:20::1"))
    case.add("routes", "route_connected(vlan:20)", destination=f"{number('2001:db8:20::')}/64")
    case.drops(1, to_router(udp(to="2001:db8:20::1")), "DROP_INTERFACE_UNKNOWN", "egress")
    return case


ALL = (bridging, discovery, routing)
