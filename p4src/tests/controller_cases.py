"""What passes between switch and controller: the cases of punts, captures and packets of the controller."""

from case import Case, cell, number, packet_in
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_RS,
    ICMPv6TimeExceeded,
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
    PUNT,
    ROUTER,
    error_about,
    from_host,
    in_chain,
    options,
    out_first,
    to_router,
    udp,
)


def punts() -> Case:
    case = Case("punts", "The way to the controller: a rate for each reason.")
    case.meter("punt_class_meter", cell(PUNT["PUNT_LOCAL"], 1), 3)
    case.meter("punt_class_meter", cell(PUNT["PUNT_ROUTER_SOLICITATION"], 1), 1)
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


def punt_classes() -> Case:
    case = Case(
        "punt_classes", "What the tables know of a punt has a class of its own, and every class a rate at each port."
    )
    mark = 0x1122334455667788
    case.add("own_probes", "own_probe(nexthop:1)", vlan=100, mark=hex(mark))

    def probe(port: int, mark: int, source: str = ADDRESS[100]) -> Packet:
        echo = ICMPv6EchoRequest(id=1, data=mark.to_bytes(8))
        return (
            Ether(src=PROVIDER[port], dst=ROUTER[{4: 100, 5: 200}[port]])
            / IPv6(src=source, dst=ADDRESS[100], hlim=254)
            / echo
        )

    case.say("A probe of the router's own: by its mark, on its VLAN.")
    case.punts_whole(4, probe(4, mark), "PUNT_LOCAL", 100, "CLASS_PROBE")
    case.punts_whole(4, probe(4, mark + 1), "PUNT_LOCAL", 100)
    case.punts_whole(5, probe(5, mark), "PUNT_LOCAL", 200)
    short = (
        Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=ADDRESS[100]) / ICMPv6EchoRequest(data=b"1234567")
    )
    case.punts_whole(4, short, "PUNT_LOCAL", 100)

    case.say("So is one of a path, by the first half of its nonce.")
    back = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=ADDRESS[100], dst=ADDRESS[100], nh=59)
    case.punts_whole(4, back / Raw(mark.to_bytes(8) + b"path one"), "PUNT_LOCAL", 100, "CLASS_PROBE")
    case.punts_whole(4, back / Raw((mark + 1).to_bytes(8) + b"path one"), "PUNT_LOCAL", 100)
    case.punts_whole(4, back / Raw(mark.to_bytes(8) + b"path"), "PUNT_LOCAL", 100)

    case.say("So is what comes to the address that probes of a provider bear, and to no other.")
    drawn, beside = "2001:db8:a:ffff:1234:5678:9abc:def0", "2001:db8:a:ffff:1234:5678:9abc:def1"
    case.add("routes", "route_probe_source()", destination=f"{number(drawn)}/128")
    case.add("routes", "route_local()", destination=f"{number(beside)}/128")
    for answer in (ICMPv6EchoReply(id=7), TCP(sport=443, dport=50000, flags="SA"), UDP(sport=53, dport=50000)):
        arrives = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=drawn) / answer
        case.punts_whole(4, arrives, "PUNT_LOCAL", 100, "CLASS_PROBE")
    arrives = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=beside) / ICMPv6EchoReply(id=7)
    case.punts_whole(4, arrives, "PUNT_LOCAL", 100)

    def advertisement(target: str, host: int = 1, port: int = 1) -> Packet:
        message = ICMPv6ND_NA(tgt=target, R=0, S=1)
        return from_host(IPv6(src=target, dst=ADDRESS[1], hlim=255) / message, ROUTER[1], host)

    case.say("Discovery of a neighbour: its address, its port and its MAC as the table has them.")
    case.punts_whole(1, advertisement(IP_OF[1]), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1, "CLASS_NEIGHBOUR")
    case.punts_whole(1, advertisement(IP_OF[1], host=2), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1)
    case.punts_whole(2, advertisement(IP_OF[1]), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1)
    case.punts_whole(1, advertisement("2001:db8:1::99"), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1)
    asks = from_host(IPv6(src=IP_OF[1], dst=ADDRESS[1], hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1]), ROUTER[1])
    case.punts_whole(1, asks, "PUNT_NEIGHBOUR_SOLICITATION", 1, "CLASS_NEIGHBOUR")
    stranger = from_host(IPv6(src="2001:db8:1::99", dst=ADDRESS[1], hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1]), ROUTER[1])
    case.punts_whole(1, stranger, "PUNT_NEIGHBOUR_SOLICITATION", 1)

    case.say("What is known passes when the rate of what is not is used up, and so does what comes by another port.")
    case.meter("punt_class_meter", cell(PUNT["PUNT_NEIGHBOUR_ADVERTISEMENT"], 1), 1)
    case.punts_whole(1, advertisement("2001:db8:1::99"), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1)
    for _ in range(2):
        case.drops(1, advertisement("2001:db8:1::99"), "DROP_PUNT_RATE")
    case.punts_whole(1, advertisement(IP_OF[1]), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1, "CLASS_NEIGHBOUR")
    case.punts_whole(2, advertisement("2001:db8:1::98", host=2), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1)
    case.counts("punts_held_back", cell(PUNT["PUNT_NEIGHBOUR_ADVERTISEMENT"], 1), 2)

    case.say("One source has its share of a class, and another one its own: station and /48.")
    hour = 3_600_000_000
    case.add(
        "punt_limits", f"limit_sources(every:{hour},early:{hour},shares:1)", **{"class": PUNT["PUNT_NEIGHBOUR_UNKNOWN"]}
    )
    scan = to_router(udp(to="2001:db8:1::99"))
    for n in range(4):
        if n < 2:
            case.punts_whole(1, scan, "PUNT_NEIGHBOUR_UNKNOWN", 1)
        else:
            case.drops(1, scan, "DROP_PUNT_SOURCE_RATE")
    case.punts_whole(1, from_host(udp(1, to="2001:db8:1::99"), ROUTER[1], 2), "PUNT_NEIGHBOUR_UNKNOWN", 1)
    far = Ether(src=PROVIDER[4], dst=ROUTER[100])
    for source in ("2001:db8:f01::1", "2001:db8:f02::1"):
        arrives = far / IPv6(src=source, dst="2001:db8:1::99") / UDP()
        for _ in range(2):
            case.punts_whole(4, arrives, "PUNT_NEIGHBOUR_UNKNOWN", 100)
        case.drops(4, arrives, "DROP_PUNT_SOURCE_RATE")

    case.say("A port has its share of what is not known, and all ports together theirs.")
    case.meter("punt_port_meter", 4, 1)
    for n in range(3):
        arrives = far / IPv6(src=f"2001:db8:{n + 1}::1", dst="2001:db8:1::99") / UDP()
        if n < 1:
            case.punts_whole(4, arrives, "PUNT_NEIGHBOUR_UNKNOWN", 100)
        else:
            case.drops(4, arrives, "DROP_PUNT_PORT_RATE")
    case.punts_whole(4, probe(4, mark), "PUNT_LOCAL", 100, "CLASS_PROBE")
    case.meter("punt_total_meter", 0, 1)
    for n in range(3):
        arrives = (
            Ether(src=PROVIDER[5], dst=ROUTER[200]) / IPv6(src=f"2001:db8:{n + 1}::1", dst="2001:db8:1::99") / UDP()
        )
        if n < 1:
            case.punts_whole(5, arrives, "PUNT_NEIGHBOUR_UNKNOWN", 200)
        else:
            case.drops(5, arrives, "DROP_PUNT_TOTAL_RATE")
    case.punts_whole(1, advertisement(IP_OF[1]), "PUNT_NEIGHBOUR_ADVERTISEMENT", 1, "CLASS_NEIGHBOUR")
    return case


def captures() -> Case:
    case = Case(
        "captures", "Captures: copies of what arrives by a port and of what leaves by it; packets go on as ever."
    )

    def captured(way: str, packet: Packet | bytes, port: int, vlan: int) -> None:
        case.expect(CPU, packet_in(f"PUNT_{way}_MIRROR", port, vlan) + bytes(packet))

    case.add("ingress_mirror", "mirror_ingress()", port=1)
    case.add("egress_mirror", "mirror_egress()", port=4)

    case.say("Bridged: as it arrived. Routed: as it arrived, and as it leaves.")
    bridged = from_host(udp(to=IP_OF[2]), HOST[2])
    case.passes(1, bridged, 2)
    captured("INGRESS", bridged, 1, 1)
    case.passes(1, to_router(udp()), 4, out_first(to_router(udp())))
    captured("INGRESS", to_router(udp()), 1, 1)
    captured("EGRESS", out_first(to_router(udp())), 4, 100)
    case.passes(2, from_host(udp(2), ROUTER[1], 2), 4, out_first(from_host(udp(2), ROUTER[1], 2)))
    captured("EGRESS", out_first(from_host(udp(2), ROUTER[1], 2)), 4, 100)

    case.say(
        "What is dropped: malformed, in a foreign VLAN, without a route. The error about it is no packet that arrived."
    )
    for packet, reason in (
        (bytes(to_router(udp()))[:9], "DROP_TRUNCATED"),
        (bytes(to_router(udp()))[:40], "DROP_TRUNCATED"),
        (bytes(in_chain(*[(60, options())] * 11)), "DROP_TOO_MANY_EXTENSIONS"),
    ):
        case.drops(1, packet, reason)
        captured("INGRESS", packet, 1, 0)
    foreign = Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=20) / udp()
    case.drops(1, foreign, "DROP_VLAN_INGRESS")
    captured("INGRESS", foreign, 1, 20)
    lost = to_router(udp(to="fd00::1"))
    case.drops(1, lost, "DROP_NO_ROUTE")
    case.expect(1, error_about(lost, ICMPv6DestUnreach(code=0), 1, HOST[1]))
    captured("INGRESS", lost, 1, 1)

    case.say("An error as it leaves: checksum and end are those of the packet, not of its copy.")
    long = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[1], hlim=1) / UDP() / Raw(bytes(1300))
    error = error_about(long, ICMPv6TimeExceeded(code=0), 100, PROVIDER[4])
    case.drops(4, long, "DROP_HOP_LIMIT")
    case.expect(4, error)
    captured("EGRESS", error, 4, 100)

    case.say("What the controller gets anyway, whole or as a copy, it gets a second time.")
    ping = to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest())
    case.punts_whole(1, ping, "PUNT_LOCAL", 1)
    captured("INGRESS", ping, 1, 1)
    solicitation = from_host(IPv6(src="fe80::11", dst="ff02::2", hlim=255) / ICMPv6ND_RS(), "33:33:00:00:00:02")
    case.punts_whole(1, solicitation, "PUNT_ROUTER_SOLICITATION", 1)
    captured("INGRESS", solicitation, 1, 1)
    case.expect(2, solicitation)
    case.expect(3, Ether(src=HOST[1], dst=solicitation.dst) / Dot1Q(vlan=1) / solicitation.payload)
    case.flood_copies()

    case.say("A flood leaves each port as the port wants it.")
    case.add("egress_mirror", "mirror_egress()", port=3)
    flood = Ether(src=HOST[2], dst="ff:ff:ff:ff:ff:ff") / ARP(psrc="192.0.2.2", pdst="192.0.2.1")
    tagged = Ether(src=HOST[2], dst=flood.dst) / Dot1Q(vlan=1) / flood.payload
    case.passes(2, flood, 1)
    case.expect(3, tagged)
    captured("EGRESS", tagged, 3, 1)
    case.flood_copies()

    case.say("The controller's own: captured as it leaves; what it submits has arrived before.")
    sent = Ether(dst="01:80:c2:00:00:0e", src=ROUTER[1], type=0x88CC) / Raw(b"lldp")
    case.passes(CPU, Raw(bytes([OUT["PACKET_OUT_SEND"]]) + (4).to_bytes(2) + bytes(2) + bytes(sent)), 4, sent)
    captured("EGRESS", sent, 4, 0)
    submit = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (1).to_bytes(2) + bytes(2)
    case.passes(CPU, Raw(submit + bytes(bridged)), 2, bridged)
    case.drops(CPU, Raw(submit + bytes(lost)), "DROP_NO_ROUTE")
    case.expect(1, error_about(lost, ICMPv6DestUnreach(code=0), 1, HOST[1]))

    case.say("What egress drops has not left.")
    case.add("fdb", "send_to_port(port:4)", vlan=1, destination=number("02:00:00:00:00:44"))
    astray = from_host(udp(), "02:00:00:00:00:44")
    case.drops(1, astray, "DROP_VLAN_EGRESS", "egress")
    captured("INGRESS", astray, 1, 1)

    case.say("Two from this port and no more, one by that, and the packets go on.")
    case.add("ingress_mirror", "mirror_ingress()", port=2)
    case.add("egress_mirror", "mirror_egress()", port=1)
    case.meter("ingress_mirror_meter", 2, 2)
    case.meter("egress_mirror_meter", 1, 1)
    back = from_host(udp(2, to=IP_OF[1]), HOST[1], 2)
    for n in range(4):
        case.passes(2, back, 1)
        if n < 2:
            captured("INGRESS", back, 2, 1)
        if n < 1:
            captured("EGRESS", back, 1, 1)
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


ALL = (punts, punt_classes, captures, packet_out)
