"""Cases of Linux beside the switch: what goes to its TAP device, what comes from it, and how much it gets."""

from collections.abc import Callable

from case import Case, number, packet_in
from p4_text import numbers
from scapy.contrib.ospf import OSPFv3_Hdr
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from small_site import (
    ADDRESS,
    CPU,
    FAR,
    HOST,
    IP_OF,
    OUT,
    PROVIDER,
    ROUTER,
    from_host,
    out_first,
    to_router,
    udp,
)

# The TAP device of VLAN 1, at the port that is in no VLAN on the small site.
TAP = 6
EVERYBODY = "ff:ff:ff:ff:ff:ff"
LLDP = "01:80:c2:00:00:0e"
BGP = 179
MARK = 0x1122334455667788


def beside(name: str, about: str, ipv4: bool) -> Case:
    """The small site with Linux on VLAN 1, which answers for the router there."""
    answered = [("own_addresses", 1, address) for address in (ADDRESS[1], "fe80::1")]
    case = Case(name, about, left_out=answered, groups={1: (1, 2, 3, TAP)})
    case.add("ports", "set_port_vlan(vlan:1)", port=TAP)
    case.add("vlan_members", "admit_to_vlan()", port=TAP, vlan=1)
    case.add("vlan_tags", "send_untagged()", port=TAP, vlan=1)
    case.add("linux_interfaces", f"set_linux_interface(port:{TAP},ipv4:{int(ipv4)})", vlan=1)
    return case


def cell(linux_class: str, port: int = 1) -> int:
    """The index of a class of packets to Linux at a port."""
    return 512 * numbers()[linux_class] + port


def flooded(case: Case, packet: Packet, *ports: int) -> None:
    """To all ports of VLAN 1 but the one it came from: with a tag at port 3."""
    for port in ports:
        tagged = Ether(src=packet.src, dst=packet.dst) / Dot1Q(vlan=1, type=packet.type) / packet.payload
        case.expect(port, tagged if port == 3 else packet)
    case.flood_copies()


def linux_receives() -> Case:
    case = beside("linux_receives", "Linux beside the switch: what its TAP device gets.", ipv4=True)
    case.say(
        "To the router's addresses: pings, ssh, BGP. Also of other VLANs, by the device of the VLAN that it came by."
    )
    for packet in (
        to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest(data=b"seven+1")),
        to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / TCP(sport=5000, dport=22)),
        to_router(IPv6(src=IP_OF[1], dst=ADDRESS[100]) / TCP(sport=BGP, dport=5000)),
    ):
        case.passes(1, packet, TAP)
    case.say("With a tag: without one.")
    ping = IPv6(src=IP_OF[3], dst=ADDRESS[1]) / ICMPv6EchoRequest()
    case.passes(
        3, Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1) / ping, TAP, Ether(src=HOST[3], dst=ROUTER[1]) / ping
    )
    case.say("To any link-local address at the router's MAC, whatever the routes say.")
    case.passes(1, to_router(IPv6(src="fe80::11", dst="fe80::abcd") / UDP(sport=546, dport=547)), TAP)
    case.say("IPv4 and ARP to the router's MAC, and what is neither.")
    case.passes(1, to_router(IP(src="192.0.2.1", dst="203.0.113.9") / TCP()), TAP)
    case.passes(1, to_router(ARP(op=2, psrc="192.0.2.1", pdst="192.0.2.254")), TAP)
    case.passes(1, Ether(src=HOST[1], dst=ROUTER[1], type=0x8863) / Raw(bytes(46)), TAP)
    case.say("What no bridge passes on is for Linux alone.")
    case.passes(1, Ether(src=HOST[1], dst=LLDP, type=0x88CC) / Raw(bytes(46)), TAP)
    case.say("To groups: the bridge floods it to Linux too.")
    for packet in (
        Ether(src=HOST[1], dst=EVERYBODY) / ARP(psrc="192.0.2.1", pdst="192.0.2.254"),
        from_host(IP(src="192.0.2.1", dst="224.0.0.5", ttl=1, proto=89) / Raw(bytes(24)), "01:00:5e:00:00:05"),
        from_host(IPv6(src="fe80::11", dst="ff02::5", hlim=1) / OSPFv3_Hdr(), "33:33:00:00:00:05"),
        from_host(
            IPv6(src="fe80::11", dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1]), "33:33:ff:00:00:01"
        ),
    ):
        case.send(1, packet)
        flooded(case, packet, 2, 3, TAP)
    case.say("A station that nobody knows: not Linux, it says.")
    packet = from_host(udp(), "02:00:00:00:00:77")
    case.send(1, packet)
    flooded(case, packet, 2, 3)
    case.egress_drops["DROP_LINUX_COPY"] = 1
    case.say("A station that Linux has beside the router's, as one of VRRP.")
    case.add("fdb", f"send_to_port(port:{TAP})", vlan=1, destination=number("00:00:5e:00:02:01"))
    case.passes(1, from_host(udp(), "00:00:5e:00:02:01"), TAP)
    case.say("What is routed is none of Linux's business, nor what another VLAN's router gets.")
    case.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
    other = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=ADDRESS[100]) / ICMPv6EchoRequest()
    case.punts_whole(4, other, "PUNT_LOCAL", 100)
    return case


def linux_sends() -> Case:
    case = beside("linux_sends", "Linux beside the switch: what it sends leaves by the VLAN, as it is.", ipv4=True)

    def sent(packet: Packet, to: str) -> Packet:
        return Ether(src=ROUTER[1], dst=to) / packet

    case.say("To a station that is known, whatever its IP destination: nothing routes it again.")
    case.passes(TAP, sent(udp(), HOST[2]), 2)
    case.passes(TAP, sent(IP(src="203.0.113.9", dst="192.0.2.1") / TCP(), HOST[1]), 1)
    reply = IPv6(src=ADDRESS[1], dst=IP_OF[3]) / ICMPv6EchoReply()
    case.passes(TAP, sent(reply, HOST[3]), 3, Ether(src=ROUTER[1], dst=HOST[3]) / Dot1Q(vlan=1) / reply)
    case.say("Discovery of its own, and groups: to all ports. LLDP too.")
    for packet in (
        sent(IPv6(src="::", dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1]), "33:33:ff:00:00:01"),
        sent(IPv6(src="fe80::1", dst="ff02::1", hlim=255) / ICMPv6ND_RA(), "33:33:00:00:00:01"),
        sent(ARP(psrc="192.0.2.254", pdst="192.0.2.1"), EVERYBODY),
        sent(udp(), "02:00:00:00:00:77"),
        Ether(src=ROUTER[1], dst=LLDP, type=0x88CC) / Raw(bytes(46)),
    ):
        case.send(TAP, packet)
        flooded(case, packet, 1, 2, 3)
    case.say("A group as source is wrong here too, and so is the router as destination.")
    case.drops(TAP, Ether(src="03:00:00:00:00:11", dst=HOST[2]) / udp(), "DROP_SOURCE_MAC")
    case.drops(TAP, Ether(src="00:00:5e:00:02:01", dst=ROUTER[1]) / udp(), "DROP_NOT_ROUTED")
    case.say("Nobody else may have the router's MAC.")
    case.drops(1, Ether(src=ROUTER[1], dst=HOST[2]) / udp(), "DROP_SOURCE_MAC")
    return case


def linux_controller() -> Case:
    case = beside("linux_controller", "Linux beside the switch: what the controller has of it.", ipv4=False)
    case.say("Advertisements to the router: for Linux, and a copy.")
    said = to_router(IPv6(src="fe80::11", dst="fe80::1", hlim=255) / ICMPv6ND_NA(tgt="fe80::11"))
    case.send(1, said)
    case.expect(TAP, said)
    case.expect(CPU, packet_in("PUNT_NEIGHBOUR_ADVERTISEMENT", 1, 1) + bytes(said))
    case.punts["PUNT_NEIGHBOUR_ADVERTISEMENT"] = 1
    case.say("Addresses that the controller answers for, and Linux does not have.")
    case.add("own_addresses", "own_address()", vlan=1, target=number("2001:db8:1::5e9"))
    asked = IPv6(src="fe80::11", dst="ff02::1:ff00:5e9", hlim=255) / ICMPv6ND_NS(tgt="2001:db8:1::5e9")
    case.punts_whole(1, from_host(asked, "33:33:ff:00:05:e9"), "PUNT_NEIGHBOUR_SOLICITATION", 1)
    case.say("Its own probes that come back.")
    case.add("own_probes", "own_probe(nexthop:1)", vlan=1, mark=MARK)
    for to in (ADDRESS[1], "fe80::1"):
        probe = to_router(IPv6(src=to, dst=to) / ICMPv6EchoRequest(id=1, seq=1, data=MARK.to_bytes(8)))
        case.punts_whole(1, probe, "PUNT_LOCAL", 1, "CLASS_PROBE")
    case.say("What it floods itself Linux does not get.")
    packet = Ether(src=ROUTER[1], dst="33:33:00:00:00:01") / IPv6(src="fe80::1", dst="ff02::1", hlim=255)
    packet /= ICMPv6ND_NA(tgt="fe80::1")
    case.send(CPU, bytes([OUT["PACKET_OUT_FLOOD"]]) + (0).to_bytes(2) + (1).to_bytes(2) + bytes(packet))
    for port in (1, 2, 3):
        case.expect(
            port, Ether(src=packet.src, dst=packet.dst) / Dot1Q(vlan=1) / packet.payload if port == 3 else packet
        )
    case.egress_drops["DROP_LINUX_COPY"] = 1
    case.say("IPv4 is bridged, and ends at the router's MAC: Linux sees none of it.")
    case.drops(1, to_router(IP(src="192.0.2.1", dst="203.0.113.9") / TCP()), "DROP_NOT_ROUTED")
    case.drops(1, to_router(ARP(op=2, psrc="192.0.2.1", pdst="192.0.2.254")), "DROP_NOT_ROUTED")
    case.passes(1, from_host(IP(src="192.0.2.1", dst="192.0.2.2") / TCP(), HOST[2]), 2)
    packet = Ether(src=HOST[1], dst=EVERYBODY) / ARP(psrc="192.0.2.1", pdst="192.0.2.254")
    case.send(1, packet)
    flooded(case, packet, 2, 3)
    case.egress_drops["DROP_LINUX_COPY"] += 1
    return case


def linux_rates() -> Case:
    case = beside("linux_rates", "Linux beside the switch: a rate for each class at each port.", ipv4=True)
    alone = {
        "LINUX_UNICAST": to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / UDP()),
        "LINUX_BGP": to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / TCP(sport=5000, dport=BGP)),
        "LINUX_ARP": to_router(ARP(op=2, psrc="192.0.2.1", pdst="192.0.2.254")),
        "LINUX_OTHER": Ether(src=HOST[1], dst=LLDP, type=0x88CC) / Raw(bytes(46)),
    }
    groups = {
        "LINUX_DISCOVERY": from_host(
            IPv6(src="fe80::11", dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1]), "33:33:ff:00:00:01"
        ),
        "LINUX_LINK_GROUP": from_host(IPv6(src="fe80::11", dst="ff02::5") / OSPFv3_Hdr(), "33:33:00:00:00:05"),
        "LINUX_GROUP": from_host(IPv6(src=IP_OF[1], dst="ff05::2") / UDP(), "33:33:00:00:00:02"),
    }
    case.say("Of each class one packet; what another one used up is nobody else's.")
    for linux_class in (*alone, *groups):
        case.meter("linux_meter", cell(linux_class), 1)
    for packet in alone.values():
        case.passes(1, packet, TAP)
        case.drops(1, packet, "DROP_LINUX_RATE")
    case.say("Of a flood only Linux's copy is dropped.")
    for packet in groups.values():
        case.send(1, packet)
        flooded(case, packet, 2, 3, TAP)
        case.send(1, packet)
        flooded(case, packet, 2, 3)
    case.egress_drops["DROP_LINUX_RATE"] = len(groups)
    case.say("Another port has rates of its own.")
    other = Ether(src=HOST[2], dst=ROUTER[1]) / IPv6(src=IP_OF[2], dst=ADDRESS[1]) / UDP()
    case.passes(2, other, TAP)
    case.say("IPv4 that Linux routes has none.")
    for _ in range(3):
        case.passes(1, to_router(IP(src="192.0.2.1", dst="203.0.113.9") / TCP()), TAP)
    return case


ALL: tuple[Callable[[], Case], ...] = (linux_receives, linux_sends, linux_controller, linux_rates)
