#!/usr/bin/env python3
"""Writes the cases of this folder: packets in, packets out and counters, in the format of p4c's simple test framework.

    write_cases.py            writes the .stf files
    write_cases.py --check    fails if a file is not what would be written

All cases run on the edge of small_site.py.
"""

import argparse
import random
import sys
from pathlib import Path

import border_cases
import esp_cases
import hip_cases
import ilnp_cases
import locator_cases
import mapped_cases
import segment_cases
import session_cases
import source_route_cases
import trace_cases
from case import Case, number
from scapy.config import conf
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoRequest,
    ICMPv6MLReport,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_Redirect,
    ICMPv6ND_RS,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from small_site import (
    ADDRESS,
    CPU,
    FAR,
    FAR_SMALL,
    HOST,
    IP_OF,
    OUT,
    PROVIDER,
    PUNT,
    ROUTER,
    authentication,
    error_about,
    fragment,
    from_host,
    in_chain,
    options,
    out_first,
    routed,
    to_router,
    udp,
)

HERE = Path(__file__).parent


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
    case.add("stations", "send_to_port(port:2)", vlan=20, destination=number(HOST[2]))
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
    for body, group, reason in (
        (ICMPv6ND_RS(), "2", "PUNT_ROUTER_SOLICITATION"),
        (ICMPv6ND_NA(tgt=IP_OF[1], O=1), "1", "PUNT_NEIGHBOUR_ADVERTISEMENT"),
        (ICMPv6ND_RA(), "1", "PUNT_ROUTER_ADVERTISEMENT"),
    ):
        packet = message(f"33:33:00:00:00:0{group}", f"ff02::{group}", body)
        case.punts_whole(1, packet, reason, 1)
        flooded(packet)

    case.say("To the router: the controller has it. To another: the bridge.")
    case.punts_whole(
        1, message(ROUTER[1], "fe80::1", ICMPv6ND_NA(tgt=IP_OF[1], S=1)), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1
    )
    case.punts_whole(1, message(ROUTER[1], "fe80::1", ICMPv6ND_RS()), "PUNT_ROUTER_SOLICITATION", 1)
    case.passes(1, message(HOST[2], IP_OF[2], ICMPv6ND_NA(tgt=IP_OF[1], S=1)), 2)
    case.passes(1, message(HOST[2], IP_OF[2], ICMPv6ND_Redirect(tgt=IP_OF[1], dst=FAR)), 2)

    case.say("A provider's router.")
    advertisement = Ether(src=PROVIDER[4], dst="33:33:00:00:00:01") / IPv6(src="fe80::a1", dst="ff02::1", hlim=255)
    case.punts_whole(4, advertisement / ICMPv6ND_RA(), "PUNT_ROUTER_ADVERTISEMENT", 100)
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
    case.add("routes", "route_spread(spread:7)", destination=f"{number('2001:db8:bae::')}/48")
    case.drops(1, to_router(udp(to="2001:db8:bae::1")), "DROP_NO_NEXTHOP")
    case.add("neighbours", f"set_neighbour(port:3,mac:{number(HOST[3])})", vlan=20, address=number("2001:db8:20::1"))
    case.add("routes", "route_connected(vlan:20)", destination=f"{number('2001:db8:20::')}/64")
    case.drops(1, to_router(udp(to="2001:db8:20::1")), "DROP_INTERFACE_UNKNOWN", "egress")
    return case


def extensions() -> Case:
    case = Case("extensions", "IPv6 extension headers: every kind, any order, up to ten; what is malformed.")

    def passes(packet: Packet) -> None:
        case.passes(1, packet, 4, out_first(packet))

    case.say(
        "Each kind alone: hop-by-hop, routing, fragment (atomic), destination, authentication, mobility, HIP, Shim6."
    )
    for kind in (0, 43, 60, 135, 139, 140, 253, 254):
        passes(in_chain((kind, options())))
    passes(in_chain((44, fragment(0, 0))))
    passes(in_chain((51, authentication(24))))
    passes(in_chain((50, b""), upper=0, payload=bytes(32)))
    passes(to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59)))

    case.say("As scapy writes them.")
    passes(
        to_router(
            IPv6(src=IP_OF[1], dst=FAR)
            / IPv6ExtHdrHopByHop()
            / IPv6ExtHdrDestOpt()
            / IPv6ExtHdrRouting(addresses=["2001:db8:f00::2"], segleft=1)
            / IPv6ExtHdrFragment(m=0)
            / IPv6ExtHdrDestOpt()
            / TCP(sport=1, dport=2, flags="S")
        )
    )

    case.say("Any order, any number up to ten, any length.")
    dice = random.Random(8200)

    def long() -> bytes:
        return options(8 * dice.randint(1, 12))

    for count in (2, 3, 5, 8, 10):
        kinds = [dice.choice((43, 44, 51, 60, 135, 139, 140)) for _ in range(count)]
        body = {44: lambda: fragment(0, 0), 51: lambda: authentication(dice.choice((16, 24, 40)))}
        passes(in_chain(*((kind, body.get(kind, long)()) for kind in kinds)))
    passes(in_chain((0, options(64)), *[(60, options(16))] * 9))
    passes(in_chain((60, options(1024))))
    longest = from_host(in_chain((60, options(2048)), (60, options(2048)))[IPv6], HOST[2])
    case.passes(1, longest, 2)

    case.say("What is not known is skipped by its length; where that makes no sense, it is an upper layer.")
    passes(in_chain((200, options(24)), (60, options())))
    passes(in_chain((60, options()), upper=200, payload=b"\x00\xff" + bytes(30)))
    passes(in_chain(upper=150, payload=b"\x3c\x00abc"))
    passes(in_chain(upper=150, payload=b"\x3c\x00abcdef" + b"\x00\x09abcdef"))
    passes(in_chain(upper=150, payload=b"\x00\x00abcdef" + bytes(8)))
    passes(in_chain(upper=89, payload=bytes(24)))

    case.say("Fragments: the first with its headers, others with anything.")
    passes(in_chain((44, fragment(0, 1))))
    passes(in_chain((60, options()), (44, fragment(100, 1)), upper=60, payload=b"\xff" * 40))
    passes(in_chain((44, fragment(185, 0)), upper=17, payload=b"end"))

    case.say("Malformed.")
    drops = case.drops
    drops(1, in_chain((60, options()), (0, options())), "DROP_HOP_BY_HOP_NOT_FIRST")
    drops(1, in_chain((0, options()), (0, options())), "DROP_HOP_BY_HOP_NOT_FIRST")
    drops(1, in_chain(*[(60, options())] * 11), "DROP_TOO_MANY_EXTENSIONS")
    drops(1, in_chain((60, bytes([40]) + bytes(6))), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain((0, bytes([255]) + bytes(6))), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain(upper=43, payload=b"\x3b\x00\x00\x00"), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain(upper=60, payload=b""), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain(upper=51, payload=b"\x3b\x01" + bytes(6)), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain((51, bytes([0]) + bytes(6)), upper=59, payload=bytes(16)), "DROP_AUTHENTICATION_LENGTH")
    drops(1, in_chain((44, fragment(0, 1)), upper=60, payload=b"\x11\x02" + bytes(6)), "DROP_FIRST_FRAGMENT_SHORT")
    drops(1, in_chain((44, fragment(0, 1)), upper=6, payload=bytes(4)), "DROP_FIRST_FRAGMENT_SHORT")
    drops(1, in_chain((44, fragment(0, 1)), upper=58, payload=bytes(4)), "DROP_FIRST_FRAGMENT_SHORT")
    drops(1, in_chain(plen=200), "DROP_PAYLOAD_LENGTH")
    drops(1, in_chain((60, bytes([20]) + bytes(6)), plen=300), "DROP_PAYLOAD_LENGTH")
    drops(1, to_router(IPv6(src=IP_OF[1], dst=FAR, version=5) / UDP()), "DROP_VERSION")
    drops(1, bytes(to_router(udp()))[:40], "DROP_TRUNCATED")
    drops(1, bytes(to_router(udp()))[:9], "DROP_TRUNCATED")
    drops(1, bytes(Ether(src=HOST[1], dst=HOST[2]) / Dot1Q(vlan=1))[:16], "DROP_TRUNCATED")

    case.say("Also where the packet is only bridged.")
    drops(1, from_host(in_chain(*[(60, options())] * 11)[IPv6], HOST[2]), "DROP_TOO_MANY_EXTENSIONS")
    return case


def errors() -> Case:
    case = Case("errors", "ICMPv6 errors, made by the switch: which, about what, how often (RFC 4443).")

    def refused(packet: Packet, message: Packet, reason: str, **how: int) -> None:
        case.drops(1, packet, reason)
        case.expect(1, error_about(packet, message, 1, HOST[1], **how))

    case.say("Hop limit, no route, prohibited, a source that may not leave its link.")
    refused(to_router(udp(hlim=1)), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
    refused(to_router(udp(hlim=0)), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
    refused(to_router(udp(to="fd00::1")), ICMPv6DestUnreach(code=0), "DROP_NO_ROUTE")
    refused(to_router(udp(to="2001:db8:911::1")), ICMPv6DestUnreach(code=1), "DROP_PROHIBITED")
    refused(to_router(IPv6(src="fe80::11", dst=FAR) / UDP()), ICMPv6DestUnreach(code=2), "DROP_LINK_LOCAL")
    refused(
        to_router(IPv6(src=IP_OF[1], dst=FAR, hlim=1) / ICMPv6EchoRequest(data=b"odd")),
        ICMPv6TimeExceeded(code=0),
        "DROP_HOP_LIMIT",
    )

    case.say("Too big for the second provider's port, not for the first; the quote ends where the least MTU does.")
    fits = to_router(IPv6(src=IP_OF[1], dst=FAR_SMALL) / UDP() / Raw(bytes(1280 - 48)))
    case.passes(1, fits, 5, routed(fits, 200, PROVIDER[5]))
    big = IPv6(src=IP_OF[1], dst=FAR_SMALL) / UDP() / Raw(bytes(range(256)) * 5)
    refused(to_router(big), ICMPv6PacketTooBig(mtu=1280), "DROP_PACKET_TOO_BIG")
    largest = to_router(IPv6(src=IP_OF[1], dst=FAR) / UDP() / Raw(bytes(1500 - 48)))
    case.passes(1, largest, 4, out_first(largest))
    refused(
        to_router(IPv6(src=IP_OF[1], dst=FAR) / UDP() / Raw(b"\xff" * (1501 - 48))),
        ICMPv6PacketTooBig(mtu=1500),
        "DROP_PACKET_TOO_BIG",
    )

    case.say("Quotes just below, at and just above their limit, of even and odd length.")
    for length in (1231, 1232, 1233):
        packet = to_router(
            IPv6(src=IP_OF[1], dst=FAR, hlim=1) / UDP() / Raw(bytes(i % 251 for i in range(length - 48)))
        )
        refused(packet, ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")

    case.say("With extension headers, with a tag, without Ethernet's padding.")
    refused(in_chain((0, options(16)), (60, options(48)), hlim=1), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
    tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1) / udp(3, hlim=1)
    case.drops(3, tagged, "DROP_HOP_LIMIT")
    case.expect(3, error_about(tagged, ICMPv6TimeExceeded(code=0), 1, HOST[3], tag=1, at=18))
    bare = to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59, hlim=1, plen=0))
    case.drops(1, Raw(bytes(bare) + bytes(6)), "DROP_HOP_LIMIT")
    case.expect(1, error_about(bare, ICMPv6TimeExceeded(code=0), 1, HOST[1]))

    case.say("From the provider's side the error has the provider's side's address.")
    packet = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[1], hlim=1) / UDP()
    case.drops(4, packet, "DROP_HOP_LIMIT")
    case.expect(4, error_about(packet, ICMPv6TimeExceeded(code=0), 100, PROVIDER[4]))
    case.counts("errors_sent", 1, 3)
    case.counts("errors_sent", 2, 2)

    case.say("Never about an error, a redirect, or a part of a packet that may be one.")
    case.drops(1, to_router(IPv6(src=IP_OF[1], dst=FAR, hlim=1) / ICMPv6TimeExceeded() / udp()), "DROP_HOP_LIMIT")
    case.drops(1, to_router(IPv6(src=IP_OF[1], dst="fd00::1") / ICMPv6DestUnreach() / udp()), "DROP_NO_ROUTE")
    case.drops(
        1,
        to_router(IPv6(src=IP_OF[1], dst=FAR, hlim=1) / IPv6ExtHdrDestOpt() / ICMPv6PacketTooBig() / udp()),
        "DROP_HOP_LIMIT",
    )
    case.drops(1, in_chain((44, fragment(8, 0)), upper=58, payload=bytes(16), hlim=1), "DROP_HOP_LIMIT")

    case.say("Two from the second host's port and no more; the drops are counted all the same.")
    case.meter("error_meter", 2, 2)
    for n in range(4):
        packet = from_host(udp(2, hlim=1), ROUTER[1], 2)
        case.drops(2, packet, "DROP_HOP_LIMIT")
        if n < 2:
            case.expect(2, error_about(packet, ICMPv6TimeExceeded(code=0), 1, HOST[2]))
    case.counts("errors_held_back", 3, 3 + 2)
    case.counts("errors_held_back", 1, 1)
    return case


def punts() -> Case:
    case = Case("punts", "The way to the controller: a rate for each reason.")
    case.meter("punt_meter", PUNT["PUNT_LOCAL"], 3)
    case.meter("punt_meter", PUNT["PUNT_ROUTER_SOLICITATION"], 1)
    case.say("Three of five for the router; another reason has a rate of its own.")
    ping = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest())
    for n in range(5):
        if n < 3:
            case.punts_whole(1, ping, "PUNT_LOCAL", 1)
        else:
            case.drops(1, ping, "DROP_PUNT_RATE")
    case.punts_whole(1, to_router(udp(to="2001:db8:1::99")), "PUNT_NEIGHBOUR_UNKNOWN", 1)

    case.say("The bridge passes on what the controller has no room for.")
    packet = from_host(IPv6(src="fe80::11", dst="ff02::2", hlim=255) / ICMPv6ND_RS(), "33:33:00:00:00:02")
    for n in range(3):
        case.send(1, packet)
        if n < 1:
            case.punted(packet, "PUNT_ROUTER_SOLICITATION", 1, 1)
        case.expect(2, packet)
        case.expect(3, Ether(src=packet.src, dst=packet.dst) / Dot1Q(vlan=1) / packet.payload)
        case.flood_copies()
    return case


def captures() -> Case:
    case = Case(
        "captures", "Captures: copies of what arrives by a port and of what leaves by it; packets go on as ever."
    )

    def captured(way: str, packet: Packet | bytes, port: int, vlan: int) -> None:
        case.expect(CPU, bytes([PUNT[f"PUNT_CAPTURED_{way}"]]) + port.to_bytes(2) + vlan.to_bytes(2) + bytes(packet))

    case.add("captures_in", "capture_in()", port=1)
    case.add("captures_out", "capture_out()", port=4)

    case.say("Bridged: as it arrived. Routed: as it arrived, and as it leaves.")
    bridged = from_host(udp(to=IP_OF[2]), HOST[2])
    case.passes(1, bridged, 2)
    captured("IN", bridged, 1, 1)
    case.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
    captured("IN", to_router(udp()), 1, 1)
    captured("OUT", out_first(to_router(udp())), 4, 100)
    case.passes(2, from_host(udp(2), ROUTER[1], 2), 4, out_first(from_host(udp(2), ROUTER[1], 2)))
    captured("OUT", out_first(from_host(udp(2), ROUTER[1], 2)), 4, 100)

    case.say(
        "What is dropped: malformed, in a foreign VLAN, without a route. The error about it is no packet that arrived."
    )
    for packet, reason in (
        (bytes(to_router(udp()))[:9], "DROP_TRUNCATED"),
        (bytes(to_router(udp()))[:40], "DROP_TRUNCATED"),
        (bytes(in_chain(*[(60, options())] * 11)), "DROP_TOO_MANY_EXTENSIONS"),
    ):
        case.drops(1, packet, reason)
        captured("IN", packet, 1, 0)
    foreign = Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=20) / udp()
    case.drops(1, foreign, "DROP_VLAN_INGRESS")
    captured("IN", foreign, 1, 20)
    lost = to_router(udp(to="fd00::1"))
    case.drops(1, lost, "DROP_NO_ROUTE")
    case.expect(1, error_about(lost, ICMPv6DestUnreach(code=0), 1, HOST[1]))
    captured("IN", lost, 1, 1)

    case.say("An error as it leaves: checksum and end are those of the packet, not of its copy.")
    long = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[1], hlim=1) / UDP() / Raw(bytes(1300))
    error = error_about(long, ICMPv6TimeExceeded(code=0), 100, PROVIDER[4])
    case.drops(4, long, "DROP_HOP_LIMIT")
    case.expect(4, error)
    captured("OUT", error, 4, 100)

    case.say("What the controller gets anyway, whole or as a copy, it gets a second time.")
    ping = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest())
    case.punts_whole(1, ping, "PUNT_LOCAL", 1)
    captured("IN", ping, 1, 1)
    solicitation = from_host(IPv6(src="fe80::11", dst="ff02::2", hlim=255) / ICMPv6ND_RS(), "33:33:00:00:00:02")
    case.punts_whole(1, solicitation, "PUNT_ROUTER_SOLICITATION", 1)
    captured("IN", solicitation, 1, 1)
    case.expect(2, solicitation)
    case.expect(3, Ether(src=HOST[1], dst=solicitation.dst) / Dot1Q(vlan=1) / solicitation.payload)
    case.flood_copies()

    case.say("A flood leaves each port as the port wants it.")
    case.add("captures_out", "capture_out()", port=3)
    flood = Ether(src=HOST[2], dst="ff:ff:ff:ff:ff:ff") / ARP(psrc="192.0.2.2", pdst="192.0.2.1")
    tagged = Ether(src=HOST[2], dst=flood.dst) / Dot1Q(vlan=1) / flood.payload
    case.passes(2, flood, 1)
    case.expect(3, tagged)
    captured("OUT", tagged, 3, 1)
    case.flood_copies()

    case.say("The controller's own: captured as it leaves; what it submits has arrived before.")
    sent = Ether(dst="01:80:c2:00:00:0e", src=ROUTER[1], type=0x88CC) / Raw(b"lldp")
    case.passes(CPU, Raw(bytes([OUT["PACKET_OUT_SEND"]]) + (4).to_bytes(2) + bytes(2) + bytes(sent)), 4, sent)
    captured("OUT", sent, 4, 0)
    submit = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (1).to_bytes(2) + bytes(2)
    case.passes(CPU, Raw(submit + bytes(bridged)), 2, bridged)
    case.drops(CPU, Raw(submit + bytes(lost)), "DROP_NO_ROUTE")
    case.expect(1, error_about(lost, ICMPv6DestUnreach(code=0), 1, HOST[1]))

    case.say("What egress drops has not left.")
    case.add("stations", "send_to_port(port:4)", vlan=1, destination=number("02:00:00:00:00:44"))
    astray = from_host(udp(), "02:00:00:00:00:44")
    case.drops(1, astray, "DROP_VLAN_EGRESS", "egress")
    captured("IN", astray, 1, 1)

    case.say("Two from this port and no more, one by that, and the packets go on.")
    case.add("captures_in", "capture_in()", port=2)
    case.add("captures_out", "capture_out()", port=1)
    case.meter("capture_in_meter", 2, 2)
    case.meter("capture_out_meter", 1, 1)
    back = from_host(udp(2, to=IP_OF[1]), HOST[1], 2)
    for n in range(4):
        case.passes(2, back, 1)
        if n < 2:
            captured("IN", back, 2, 1)
        if n < 1:
            captured("OUT", back, 1, 1)
    return case


def packet_out() -> Case:
    case = Case("packet_out", "Packets of the controller: sent, flooded, submitted.")

    def out(kind: str, packet: Packet, port: int = 0, vlan: int = 0) -> Packet:
        return Raw(bytes([OUT[kind]]) + port.to_bytes(2) + vlan.to_bytes(2) + bytes(packet))

    case.say("Sent: as it is, whatever it is.")
    answer = (
        Ether(src=ROUTER[1], dst=HOST[1]) / IPv6(src=ADDRESS[1], dst=IP_OF[1], hlim=255) / ICMPv6ND_NA(tgt=ADDRESS[1])
    )
    case.passes(CPU, out("PACKET_OUT_SEND", answer, 1), 1, answer)
    case.passes(
        CPU,
        out("PACKET_OUT_SEND", Ether(dst="01:80:c2:00:00:0e", src=ROUTER[1], type=0x88CC) / Raw(b"lldp"), 6),
        6,
        Ether(dst="01:80:c2:00:00:0e", src=ROUTER[1], type=0x88CC) / Raw(b"lldp"),
    )
    case.passes(CPU, out("PACKET_OUT_SEND", in_chain(*[(60, options())] * 11), 4), 4, in_chain(*[(60, options())] * 11))

    case.say("Flooded: to all ports of the VLAN, tagged where they want it.")
    advertisement = IPv6(src="fe80::1", dst="ff02::1", hlim=255) / ICMPv6ND_RA()
    to_all = Ether(src=ROUTER[1], dst="33:33:00:00:00:01")
    case.send(CPU, out("PACKET_OUT_FLOOD", to_all / advertisement, vlan=1))
    case.expect(1, to_all / advertisement)
    case.expect(2, to_all / advertisement)
    case.expect(3, to_all / Dot1Q(vlan=1) / advertisement)

    case.say("Submitted: as if it had arrived by the port.")
    case.passes(CPU, out("PACKET_OUT_SUBMIT", to_router(udp()), 1), 4, out_first(to_router(udp())))
    case.passes(CPU, out("PACKET_OUT_SUBMIT", from_host(udp(), HOST[2]), 1), 2, from_host(udp(), HOST[2]))
    ping = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest())
    case.send(CPU, out("PACKET_OUT_SUBMIT", ping, 1))
    case.punted(ping, "PUNT_LOCAL", 1, 1)
    solicitation = from_host(IPv6(src="fe80::11", dst="ff02::2", hlim=255) / ICMPv6ND_RS(), "33:33:00:00:00:02")
    case.send(CPU, out("PACKET_OUT_SUBMIT", solicitation, 1))
    case.punted(solicitation, "PUNT_ROUTER_SOLICITATION", 1, 1)
    case.expect(2, solicitation)
    case.expect(3, Ether(src=HOST[1], dst=solicitation.dst) / Dot1Q(vlan=1) / solicitation.payload)
    case.flood_copies()
    case.drops(CPU, out("PACKET_OUT_SUBMIT", to_router(udp(hlim=1)), 1), "DROP_HOP_LIMIT")
    case.expect(1, error_about(to_router(udp(hlim=1)), ICMPv6TimeExceeded(code=0), 1, HOST[1]))
    short = to_router(udp())
    short[IPv6].plen = 60
    case.drops(CPU, out("PACKET_OUT_SUBMIT", short, 1), "DROP_PAYLOAD_LENGTH")

    case.say("What makes no sense.")
    case.drops(CPU, Raw(b"\x09" + bytes(4) + bytes(answer)), "DROP_PACKET_OUT")
    case.drops(CPU, out("PACKET_OUT_SEND", answer, 512), "DROP_PACKET_OUT")
    case.drops(CPU, out("PACKET_OUT_FLOOD", answer, vlan=4096), "DROP_PACKET_OUT")
    case.drops(CPU, out("PACKET_OUT_FLOOD", answer, vlan=77), "DROP_NO_FLOOD_GROUP")
    case.drops(CPU, out("PACKET_OUT_SUBMIT", answer, 6), "DROP_PORT_UNKNOWN")
    return case


def main() -> int:
    arguments = argparse.ArgumentParser(description="Write the cases of the pipeline")
    arguments.add_argument("--check", action="store_true", help="only compare them with the files")
    check = arguments.parse_args().check
    conf.verb = 0
    stale = []
    builders = (
        bridging,
        discovery,
        routing,
        extensions,
        errors,
        punts,
        captures,
        packet_out,
        *segment_cases.ALL,
        *trace_cases.ALL,
        *source_route_cases.ALL,
        *locator_cases.ALL,
        *session_cases.ALL,
        *esp_cases.ALL,
        *hip_cases.ALL,
        *mapped_cases.ALL,
        *border_cases.ALL,
        *ilnp_cases.ALL,
    )
    for build in builders:
        case = build()
        path = HERE / f"{case.name}.stf"
        text = case.text()
        if check and (not path.exists() or path.read_text() != text):
            stale.append(path.name)
        elif not check:
            path.write_text(text)
    if stale:
        print(f"{', '.join(stale)}: not what write_cases.py writes; run it", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
