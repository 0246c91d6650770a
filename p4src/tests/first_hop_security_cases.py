"""What hosts may say of themselves and of others: the cases of source guard, RA guard, DHCPv6 guard and stations."""

from case import Case, number
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

from small_site import (
    ADDRESS,
    CPU,
    FAR,
    HOST,
    IP_OF,
    OUT,
    PROVIDER,
    ROUTER,
    Entry,
    fragment,
    from_host,
    out_first,
    to_router,
    udp,
)
from wayname.p4_constants import Guard

SOURCES, NEIGHBOURS, ROUTERS, DHCPV6, SOURCES_FULL, MACS_FULL = Guard
ALL_GUARDS = SOURCES | NEIGHBOURS | ROUTERS | DHCPV6
NEW = "2001:db8:1::77"
ALL_NODES, NODES_MAC = "ff02::1", "33:33:00:00:00:01"


def guarded(name: str, about: str, guards: int = ALL_GUARDS, bound: bool = True) -> Case:
    """Ports 1 and 2 lead to hosts, port 3 to another bridge that is trusted; each host has its address."""
    members = [Entry("vlan_members", {"port": port, "vlan": 1}, "admit_host", {"guards": guards}) for port in (1, 2)]
    case = Case(name, about, members)
    for prefix in ("fe80::/10", "2001:db8:1::/64"):
        case.add("host_prefixes", "host_prefix()", vlan=1, address=number(prefix))
    for host in (1, 2) if bound else ():
        for address in (IP_OF[host], f"fe80::1{host}"):
            bind(case, address, host, HOST[host])
    bind(case, ADDRESS[1], CPU, ROUTER[1])
    return case


def bind(case: Case, address: str, port: int, mac: str) -> None:
    case.add("source_bindings", f"bind_source(port:{port},mac:{number(mac)})", vlan=1, address=number(address))


def flooded(case: Case, packet: Packet, into: int = 1) -> None:
    case.expect(3 - into, packet)
    case.expect(3, Ether(src=packet.src, dst=packet.dst) / Dot1Q(vlan=1) / packet.payload)
    case.flood_copies()


def source_guard() -> Case:
    case = guarded("source_guard", "Source guard (RFC 6620): whose an address is, where new ones are, who hears of it.")
    case.say("Its own: routed, bridged, and again.")
    case.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
    case.passes(1, from_host(udp(to=IP_OF[2]), HOST[2]), 2)

    def refused(into: int, packet: Packet, reason: str = "DROP_SOURCE_BINDING") -> None:
        case.drops(into, packet, reason)
        case.punted(packet, "PUNT_SOURCE_ELSEWHERE", into, 1)

    case.say("Another's: by another port, by its own MAC there, by another station behind the same port.")
    refused(2, from_host(udp(), ROUTER[1], 2))
    refused(2, from_host(udp(), ROUTER[1], 1))
    refused(1, from_host(udp(), ROUTER[1], 2))
    refused(2, from_host(udp(to=IP_OF[3]), HOST[3], 2))
    case.say("The router's own.")
    refused(1, from_host(IPv6(src=ADDRESS[1], dst=IP_OF[2]) / UDP(), HOST[2]))

    case.say("A new one goes on, and the controller gets a copy.")
    new = to_router(IPv6(src=NEW, dst=FAR) / UDP() / Raw(b"new"))
    case.passes(1, new, 4, out_first(new))
    case.punted(new, "PUNT_SOURCE_UNKNOWN", 1, 1)
    local = from_host(IPv6(src="fe80::77", dst=IP_OF[2]) / UDP(), HOST[2])
    case.passes(1, local, 2)
    case.punted(local, "PUNT_SOURCE_UNKNOWN", 1, 1)

    case.say("Where the controller gets the packet for another reason, that one is told.")
    case.punts_whole(1, to_router(IPv6(src=NEW, dst=ADDRESS[1]) / UDP()), "PUNT_LOCAL", 1)

    case.say("What no host here can have.")
    for source in (FAR, "2001:db8:a::2", "::1", "ff02::1", "fd00::1"):
        case.drops(1, to_router(IPv6(src=source, dst=FAR) / UDP()), "DROP_SOURCE_PREFIX")
    case.drops(1, from_host(IPv6(src=FAR, dst=IP_OF[2]) / UDP(), HOST[2]), "DROP_SOURCE_PREFIX")

    case.say("Duplicate address detection: a new address, one that another has, and one of its own.")
    for target, reason in ((NEW, "PUNT_SOURCE_UNKNOWN"), (IP_OF[2], "PUNT_SOURCE_ELSEWHERE"), (IP_OF[1], None)):
        asked = from_host(
            IPv6(src="::", dst="ff02::1:ff00:77", hlim=255) / ICMPv6ND_NS(tgt=target), "33:33:ff:00:00:77"
        )
        case.send(1, asked)
        if reason:
            case.punted(asked, reason, 1, 1)
        flooded(case, asked)
    case.say("Of the router's address the router hears, and says so.")
    asked = from_host(IPv6(src="::", dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1]), "33:33:ff:00:00:01")
    case.punts_whole(1, asked, "PUNT_NEIGHBOUR_SOLICITATION", 1)

    case.say("Advertisements: of its own address, of another's, to a group and to a host.")
    own = from_host(IPv6(src="fe80::11", dst=ALL_NODES, hlim=255) / ICMPv6ND_NA(tgt=IP_OF[1], O=1), NODES_MAC)
    case.punts_whole(1, own, "PUNT_NEIGHBOUR_ADVERTISEMENT", 1, "CLASS_NEIGHBOUR")
    flooded(case, own)
    refused(1, from_host(IPv6(src="fe80::11", dst=ALL_NODES, hlim=255) / ICMPv6ND_NA(tgt=IP_OF[2], O=1), NODES_MAC))
    refused(1, from_host(IPv6(src=IP_OF[1], dst=IP_OF[2], hlim=255) / ICMPv6ND_NA(tgt=ADDRESS[1], S=1), HOST[2]))

    case.say("Nothing is asked of who has no address yet, nor of what is not IPv6, nor behind a trusted port.")
    asked = from_host(IPv6(src="::", dst="ff02::2", hlim=255) / ICMPv6ND_RS(), "33:33:00:00:00:02")
    case.punts_whole(1, asked, "PUNT_ROUTER_SOLICITATION", 1)
    flooded(case, asked)
    case.passes(1, from_host(IP(src="192.0.2.1", dst="192.0.2.2") / UDP(), HOST[2]), 2)
    other = Ether(src=HOST[3], dst=HOST[1]) / Dot1Q(vlan=1) / IPv6(src=FAR, dst=IP_OF[1]) / UDP()
    case.passes(3, other, 1, Ether(src=HOST[3], dst=HOST[1]) / other[IPv6])

    case.say("What the controller submits was looked at when it came.")
    submit = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (1).to_bytes(2) + bytes(2)
    again = to_router(IPv6(src=IP_OF[2], dst=FAR) / UDP() / Raw(b"again"))
    case.passes(CPU, Raw(submit + bytes(again)), 4, out_first(again))
    return case


def source_limits() -> Case:
    case = guarded("source_limits", "New sources: as many as a port's rate and its limit allow.", bound=False)
    case.meter("binding_meter", 1, 2)
    new = [to_router(IPv6(src=f"2001:db8:1::7{n}", dst=FAR) / UDP()) for n in range(4)]
    case.say("Two and no more; what is bound already passes.")
    for packet in new[:2]:
        case.passes(1, packet, 4, out_first(packet))
        case.punted(packet, "PUNT_SOURCE_UNKNOWN", 1, 1)
    for packet in new[2:]:
        case.drops(1, packet, "DROP_SOURCE_LIMIT")
    bind(case, IP_OF[1], 1, HOST[1])
    case.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
    case.say("Above the rate nobody hears of a source that is another's, and it is dropped all the same.")
    bind(case, IP_OF[2], 2, HOST[2])
    case.drops(1, from_host(udp(2), ROUTER[1], 1), "DROP_SOURCE_BINDING")
    return case


def full_ports() -> Case:
    instead = [
        Entry("vlan_members", {"port": 1, "vlan": 1}, "admit_host", {"guards": ALL_GUARDS | SOURCES_FULL}),
        Entry("vlan_members", {"port": 2, "vlan": 1}, "admit_host", {"guards": MACS_FULL}),
    ]
    case = Case("full_ports", "Ports that have as many sources or stations as they may have.", instead)
    case.add("host_prefixes", "host_prefix()", vlan=1, address=number("2001:db8:1::/64"))
    bind(case, IP_OF[1], 1, HOST[1])
    case.say("No new source; what is bound passes.")
    case.drops(1, to_router(IPv6(src=NEW, dst=FAR) / UDP()), "DROP_SOURCE_LIMIT")
    case.passes(1, to_router(udp()), 4, out_first(to_router(udp())))

    case.say("No new station; what is known passes, and nothing else is looked at there.")
    case.add("learned_macs", "known_mac()", port=2, vlan=1, source=number(HOST[2]))
    case.passes(2, from_host(IPv6(src=FAR, dst=IP_OF[1]) / UDP(), HOST[1], 2), 1)
    case.drops(2, Ether(src="02:00:00:00:00:99", dst=HOST[1]) / IP(src="192.0.2.1", dst="192.0.2.2"), "DROP_MAC_LIMIT")

    case.say("A station that lives elsewhere.")
    case.add("learned_macs", "refuse_mac()", port=1, vlan=1, source=number(HOST[2]))
    case.drops(1, from_host(udp(2, to=IP_OF[1]), HOST[3], 2), "DROP_MAC_MOVE")
    return case


def host_guards() -> Case:
    case = guarded("host_guards", "RA guard, DHCPv6 guard, and what would hide from them (RFC 6105, 7113, 7610, 6980).")

    def message(body: Packet, *, to: str = ALL_NODES, mac: str = NODES_MAC) -> Packet:
        return from_host(IPv6(src="fe80::11", dst=to, hlim=255) / body, mac)

    case.say("Advertisements of routers and redirects: plain, behind other headers, in a first fragment.")
    first = IPv6ExtHdrFragment(m=1, id=1)
    for packet in (
        message(ICMPv6ND_RA()),
        message(ICMPv6ND_RA(), to=IP_OF[2], mac=HOST[2]),
        message(ICMPv6ND_Redirect(tgt=IP_OF[1], dst=FAR), to=IP_OF[2], mac=HOST[2]),
        message(IPv6ExtHdrDestOpt() / ICMPv6ND_RA()),
        message(IPv6ExtHdrFragment(m=0) / ICMPv6ND_RA()),
        message(first / ICMPv6ND_RA()),
        message(IPv6ExtHdrDestOpt() / first / IPv6ExtHdrDestOpt() / ICMPv6ND_RA()),
        message(ICMPv6ND_RA(), to=ADDRESS[1], mac=ROUTER[1]),
    ):
        case.drops(1, packet, "DROP_RA_GUARD")
    case.say("A first fragment that ends before what it is.")
    short = IPv6(src="fe80::11", dst=ALL_NODES, hlim=255, nh=44) / Raw(
        b"\x3c" + fragment(0, 1) + b"\x3a\xff" + bytes(6)
    )
    case.drops(1, from_host(short, NODES_MAC), "DROP_FIRST_FRAGMENT_SHORT")
    case.say("Other discovery in fragments.")
    for body in (ICMPv6ND_NS(tgt=IP_OF[2]), ICMPv6ND_NA(tgt=IP_OF[1]), ICMPv6ND_RS()):
        case.drops(1, message(first / body), "DROP_DISCOVERY_FRAGMENT")

    case.say("Servers and relays of DHCPv6; their clients pass.")
    for sport, dport in ((547, 546), (1234, 546), (547, 547)):
        datagram = UDP(sport=sport, dport=dport, chksum=1) / Raw(b"\7abcdefg")
        case.drops(1, message(datagram, to="fe80::12", mac=HOST[2]), "DROP_DHCPV6_GUARD")
        case.drops(1, message(first / datagram, to="fe80::12", mac=HOST[2]), "DROP_DHCPV6_GUARD")
    client = message(UDP(sport=546, dport=547) / Raw(b"\1abc"), to="ff02::1:2", mac="33:33:00:01:00:02")
    case.punts_whole(1, client, "PUNT_DHCPV6", 1)
    flooded(case, client)

    case.say("Headers that a receiver may take off: a second tag, another kind of tag, LLC.")
    advertisement = IPv6(src="fe80::11", dst=ALL_NODES, hlim=255) / ICMPv6ND_RA()
    for packet in (
        Ether(src=HOST[1], dst=NODES_MAC) / Dot1Q(vlan=0) / Dot1Q(vlan=0) / advertisement,
        Ether(src=HOST[1], dst=NODES_MAC) / Dot1Q(vlan=0) / Dot1AD(vlan=0) / advertisement,
        Ether(src=HOST[1], dst=NODES_MAC) / Dot1AD(vlan=0) / advertisement,
        Ether(src=HOST[1], dst=NODES_MAC, type=0x9100) / Raw(bytes(2) + b"\x86\xdd" + bytes(advertisement)),
        Dot3(src=HOST[1], dst=NODES_MAC) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=0x86DD) / advertisement,
    ):
        case.drops(1, packet, "DROP_HIDDEN_HEADERS")

    case.say("Routers speak behind trusted ports.")
    packet = Ether(src=PROVIDER[4], dst=NODES_MAC) / IPv6(src="fe80::a1", dst=ALL_NODES, hlim=255) / ICMPv6ND_RA()
    case.punts_whole(4, packet, "PUNT_ROUTER_ADVERTISEMENT", 100, "CLASS_NEIGHBOUR")
    case.flood_copies()
    return case


def host_tunnels() -> Case:
    case = guarded("host_tunnels", "What comes out of a tunnel that a host began: nobody looked at its source.")
    end = "2001:db8:5ed::1"
    case.add("sids", "end_dt6(vrf:0)", destination=number(end) + "/128")
    inner = IPv6(src=IP_OF[2], dst=FAR, hlim=9) / UDP() / Raw(b"inside")
    case.say("From a host, from itself: not what is inside.")
    case.drops(1, to_router(IPv6(src=IP_OF[1], dst=end) / inner), "DROP_HOST_TUNNEL")
    case.say("From a router.")
    tunnel = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=end) / inner
    case.passes(4, tunnel, 4, out_first(Ether(src=PROVIDER[4], dst=ROUTER[100]) / inner))
    return case


ALL = (source_guard, source_limits, full_ports, host_guards, host_tunnels)
