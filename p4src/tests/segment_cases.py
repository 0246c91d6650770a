"""Cases of segments: packets put onto paths, and what a router on the path does (RFC 8754, RFC 8986)."""

from collections.abc import Callable, Sequence
from typing import Any

from carriers import (
    HOP_BY_HOP,
    IN_FRAME,
    IN_IPV4,
    IN_IPV6,
    ROUTING,
    hop_less,
    inline,
    ipv6,
    ipv6_of,
    octets,
    options,
    out_by_first,
    segment_header,
    tunnel,
)
from case import Case, number
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6ParamProblem, ICMPv6TimeExceeded, IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from small_site import (
    ADDRESS,
    FAR,
    HOST,
    IP_OF,
    PROVIDER,
    ROUTER,
    error_about,
    out_first,
    routed,
    to_router,
    udp,
)
from wayname.p4_constants import EncapsulationMode

SOURCE = "fd00:5::1"
INLINE, TUNNEL, AUTO, REDUCED, FRAME, FRAME_REDUCED = EncapsulationMode
# BMv2 has room for 512 octets before a packet; test_segments.py goes on to 36.
LENGTHS = (1, 2, 3, 4, 5, 8, 9, 12, 28)

# SIDs of this router.
END, END_PSP, END_USD, END_X, END_T, B6, B6_RED = (f"fd00:1::{n:x}" for n in range(1, 8))
DX6, DX4, DT6, DT4, DT46, DX2, DT6_TABLE = (f"fd00:2::{n:x}" for n in range(1, 8))
NEXT = "fd00:99::1"  # somebody else's
PATH = tuple(f"fd00:{n:x}::1" for n in range(0x100, 0x124))


def put(case: Case, policy: int, path: Sequence[str], source: str = SOURCE, hmac: bytes = b"") -> None:
    """A policy: as many segments in its own entry as make the rest a multiple of four."""
    own = (len(path) - 1) % 4 + 1
    names = ("first", "second", "third", "fourth")
    fours = (len(path) - own) // 4
    values = ",".join(f"{name}:{number(sid)}" for name, sid in zip(names, path[:own], strict=False))
    start = f"source:{number(source)},extensions:{fours},hmac:{int(bool(hmac))}"
    case.add("sr_policies", f"push_segments_{own}({start},{values})", policy=policy)
    for n in range(1, fours + 1):
        four = path[own + 4 * (n - 1) :][:4]
        values = ",".join(f"{name}:{number(sid)}" for name, sid in zip(names, four, strict=True))
        case.add(f"segment_list_extension_{n}", f"push_extension_{n}({values})", policy=policy)
    if hmac:
        case.add("hmacs", f"push_hmac(key:7,hmac:0x{hmac.hex()})", policy=policy)


def bind(case: Case, prefix: str, mode: int, policy: int, trace: int = 0) -> None:
    case.add(
        "encapsulations", f"encapsulate_segments(mode:{mode},policy:{policy},trace:{trace})", destination=number(prefix)
    )


def roads(case: Case) -> None:
    """Segments lie behind the first provider."""
    case.add("routes", "route_nexthop(nexthop:1)", destination=number("fd00::/16"))


def insertion() -> Case:
    case = Case("segment_insertion", "Packets put onto paths: all modes, one to 28 segments.")
    roads(case)
    prefixes = {}
    for n in LENGTHS:
        put(case, n, PATH[:n])
        for mode in (INLINE, TUNNEL, AUTO, REDUCED, FRAME, FRAME_REDUCED):
            prefixes[n, mode] = f"2001:db8:{0xF000 + n:x}:{mode}::"
            bind(case, prefixes[n, mode] + "/64", mode, n)

    for mode, name in (
        (INLINE, "Inline."),
        (TUNNEL, "In a tunnel."),
        (REDUCED, "In a tunnel, with the reduced header."),
        (FRAME, "The frame in a tunnel."),
        (FRAME_REDUCED, "The frame in a tunnel, with the reduced header."),
        (AUTO, "What is not the router's own is not changed inside."),
    ):
        case.say(name)
        for n in LENGTHS:
            packet = to_router(udp(to=prefixes[n, mode] + "1", tc=0x2A, fl=0x12345))
            inner, path = hop_less(ipv6_of(packet)), PATH[:n]
            if mode == INLINE:
                outer = inline(inner, path)
            elif mode in (FRAME, FRAME_REDUCED):
                frame = bytes(packet)
                outer = tunnel(
                    frame, path, SOURCE, mode == FRAME_REDUCED, IN_FRAME, start=6 << 28 | 0x2A << 20 | 0x12345
                )
            else:
                outer = tunnel(inner, path, SOURCE, mode == REDUCED)
            case.passes(1, packet, 4, out_by_first(outer))

    case.say("The router's own, which the controller submits, get the header inline.")
    own = IPv6(src=ADDRESS[1], dst=prefixes[2, AUTO] + "1") / ICMPv6EchoRequest(data=b"mine")
    submitted = Ether(src=HOST[1], dst=ROUTER[1]) / own
    case.send(510, Raw(b"\x02" + (1).to_bytes(2) + (0).to_bytes(2) + bytes(submitted)))
    case.expect(4, out_by_first(inline(hop_less(bytes(own)), PATH[:2])))

    case.say("A tagged frame keeps its tag inside; hop-by-hop options stay first, so their packet gets a tunnel.")
    tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1) / udp(3, to=prefixes[2, FRAME] + "1")
    case.passes(3, tagged, 4, out_by_first(tunnel(bytes(tagged), PATH[:2], SOURCE, False, IN_FRAME, start=6 << 28)))
    with_options = ipv6(HOP_BY_HOP, options(17, b"\x05\2\0\0") + bytes(udp())[40:], IP_OF[1], prefixes[2, INLINE] + "1")
    case.passes(1, from_first_host(with_options), 4, out_by_first(tunnel(hop_less(with_options), PATH[:2], SOURCE)))

    case.say("With a proof.")
    put(case, 40, PATH[:3], hmac=bytes(range(32)))
    bind(case, "2001:db8:f040::/48", TUNNEL, 40)
    packet = to_router(udp(to="2001:db8:f040::1"))
    proof = b"\x05\x26\0\0\0\0\0\7" + bytes(range(32))
    case.passes(1, packet, 4, out_by_first(tunnel(hop_less(ipv6_of(packet)), PATH[:3], SOURCE, tlvs=proof)))

    case.say("The MTU that is left for the packet; what just fits; never less than 1280.")
    room = 1500 - 40 - 8 - 3 * 16
    fits = to_router(IPv6(src=IP_OF[1], dst=prefixes[3, TUNNEL] + "1") / UDP() / Raw(bytes(room - 48)))
    case.passes(1, fits, 4, out_by_first(tunnel(hop_less(ipv6_of(fits)), PATH[:3], SOURCE)))
    for n, length, told in ((3, room + 1, room), (28, 1280, 1280)):
        packet = to_router(IPv6(src=IP_OF[1], dst=prefixes[n, TUNNEL] + "1") / UDP() / Raw(bytes(length - 48)))
        case.drops(1, packet, "DROP_PACKET_TOO_BIG")
        case.expect(1, error_about(packet, ICMPv6PacketTooBig(mtu=told), 1, HOST[1]))

    case.say("A policy that is not there, a list of it that is not there, and an exception for some addresses.")
    bind(case, "2001:db8:f041::/48", TUNNEL, 41)
    case.drops(1, to_router(udp(to="2001:db8:f041::1")), "DROP_POLICY_UNKNOWN")
    case.add(
        "sr_policies",
        f"push_segments_1(source:{number(SOURCE)},extensions:1,hmac:0,first:{number(PATH[0])})",
        policy=42,
    )
    bind(case, "2001:db8:f042::/48", TUNNEL, 42)
    case.drops(1, to_router(udp(to="2001:db8:f042::1")), "DROP_POLICY_UNKNOWN")
    case.add("encapsulations", "no_encapsulation()", destination=number("2001:db8:f042:1::/64"))
    plain = to_router(udp(to="2001:db8:f042:1::1"))
    case.passes(1, plain, 4, out_first(plain))

    case.say("Punted as it arrived: the first segment's neighbour is not known.")
    case.add("routes", "route_connected(vlan:1)", destination=number("fd00:7777::/64"))
    put(case, 43, ["fd00:7777::9", PATH[0]])
    bind(case, "2001:db8:f043::/48", TUNNEL, 43)
    case.punts_whole(1, to_router(udp(to="2001:db8:f043::1")), "PUNT_NEIGHBOUR_UNKNOWN", 1)
    return case


def sids(case: Case) -> None:
    """The router's segments, one of each kind."""
    roads(case)
    put(case, 1, PATH[:2])
    for sid, action in (
        (END, "end(flavours:0)"),
        (END_PSP, "end(flavours:1)"),
        (END_USD, "end(flavours:4)"),
        (END_X, "end_x(flavours:0,nexthop:2)"),
        (END_T, "end_t(flavours:0,vrf:5)"),
        (B6, "end_b6_encaps(flavours:0,mode:2,policy:1)"),
        (B6_RED, "end_b6_encaps(flavours:0,mode:4,policy:1)"),
        (DX6, "end_dx6(nexthop:2)"),
        (DX4, "end_dx4(nexthop:2)"),
        (DT6, "end_dt6(vrf:0)"),
        (DT4, "end_dt4(vrf:0)"),
        (DT46, "end_dt46(vrf:0)"),
        (DX2, "end_dx2(port:2)"),
        (DT6_TABLE, "end_dt6(vrf:5)"),
    ):
        case.add("sids", action, destination=number(sid) + "/128")
    case.add("vrf_routes", "route_nexthop(nexthop:2)", vrf=5, destination=number("::/0"))
    case.add("ipv4_vrf_routes", "ipv4_connected(vlan:1)", vrf=0, destination="0xC0000200/24")
    mapped = f"0x{(0xFFFF << 32 | 0xC0000202):032x}"
    case.add("neighbours", f"set_neighbour(port:2,mac:{number(HOST[2])})", vlan=1, address=mapped)


def from_first_host(packet: bytes) -> Packet:
    frame: Packet = Ether(src=HOST[1], dst=ROUTER[1], type=0x86DD) / Raw(packet)
    return frame


def arrives(packet: bytes) -> Packet:
    """From the first provider."""
    frame: Packet = Ether(src=PROVIDER[4], dst=ROUTER[100], type=0x86DD) / Raw(packet)
    return frame


def leaves_to(host: int, packet: bytes, type_: int = 0x86DD) -> Packet:
    frame: Packet = Ether(src=ROUTER[1], dst=HOST[host], type=type_) / Raw(packet)
    return frame


def on_path(
    path: Sequence[str],
    left: int,
    upper: int,
    payload: bytes,
    before: Callable[[int], bytes] | None = None,
    **fields: Any,
) -> bytes:
    """A packet whose next segment, the path's first of this router, is its destination."""
    header = segment_header(upper, path, left, **fields)
    destination = path[len(path) - 1 - left]
    if before is None:
        return ipv6(ROUTING, header + payload, FAR, destination)
    return ipv6(60, before(ROUTING) + header + payload, FAR, destination)


def endpoints() -> Case:
    case = Case("segment_endpoints", "Segments of this router: to the next one, by route, next hop, table or policy.")
    sids(case)
    datagram = bytes(udp())[40:]

    def advanced(packet: bytes, at: int, to: str) -> bytes:
        """One segment less, one hop less; `at` is where the routing header stands."""
        raw = bytearray(hop_less(packet))
        raw[at + 3] -= 1
        raw[24:40] = octets(to)
        return bytes(raw)

    case.say("To the next of three, with TLVs, flags and tag kept; and to the last one.")
    proof = b"\x05\x26\0\0\0\0\0\7" + bytes(range(32))
    for path, left, fields in (
        ((END, NEXT, IP_OF[1]), 2, {}),
        ((END, NEXT, IP_OF[1]), 2, {"tlvs": proof, "flags": 0x20, "tag": 0xBEEF}),
        ((END, *PATH[:30]), 30, {}),
        ((*PATH[:20], END, *PATH[20:30]), 10, {"tlvs": b"\4\6" + bytes(6)}),
    ):
        packet = on_path(path, left, 17, datagram, **fields)
        case.passes(4, arrives(packet), 4, out_by_first(advanced(packet, 40, path[len(path) - left])))
    packet = on_path((END, IP_OF[1]), 1, 17, datagram)
    case.passes(4, arrives(packet), 1, leaves_to(1, advanced(packet, 40, IP_OF[1])))

    case.say("A reduced header has no entry for the first segment.")
    packet = ipv6(ROUTING, segment_header(17, (NEXT, IP_OF[1]), 2) + datagram, FAR, END)
    case.passes(4, arrives(packet), 4, out_by_first(advanced(packet, 40, NEXT)))

    case.say("Behind other headers; the headers behind it stay.")
    packet = on_path((END, NEXT), 1, 60, b"\x11\0" + bytes(6) + datagram, lambda n: bytes([n, 1]) + bytes(14))
    case.passes(4, arrives(packet), 4, out_by_first(advanced(packet, 56, NEXT)))
    packet = ipv6(HOP_BY_HOP, options(ROUTING, b"\5\2\0\0") + segment_header(17, (END, NEXT), 1) + datagram, FAR, END)
    case.passes(4, arrives(packet), 4, out_by_first(advanced(packet, 48, NEXT)))

    case.say("By the next hop that the segment names, and by its table.")
    packet = on_path((END_X, NEXT), 1, 17, datagram)
    case.passes(4, arrives(packet), 5, routed(arrives(advanced_back(packet, NEXT)), 200, PROVIDER[5]))
    packet = on_path((END_T, NEXT), 1, 17, datagram)
    case.passes(4, arrives(packet), 5, routed(arrives(advanced_back(packet, NEXT)), 200, PROVIDER[5]))

    case.say("PSP: the header goes with the last segment but one, wherever it stands.")
    case.passes(
        4,
        arrives(on_path((END_PSP, IP_OF[1]), 1, 17, datagram)),
        1,
        leaves_to(1, ipv6(17, datagram, FAR, IP_OF[1], 63)),
    )
    case.passes(
        4,
        arrives(on_path((END_PSP, IP_OF[1]), 1, 17, datagram, lambda n: bytes([n, 0]) + bytes(6))),
        1,
        leaves_to(1, ipv6(60, b"\x11\0" + bytes(6) + datagram, FAR, IP_OF[1], 63)),
    )
    hop_by_hop = options(ROUTING, b"\5\2\0\0") + segment_header(17, (END_PSP, IP_OF[1]), 1) + datagram
    case.passes(
        4,
        arrives(ipv6(HOP_BY_HOP, hop_by_hop, FAR, END_PSP)),
        1,
        leaves_to(1, ipv6(HOP_BY_HOP, options(17, b"\5\2\0\0") + datagram, FAR, IP_OF[1], 63)),
    )
    both = options(60, b"\5\2\0\0") + b"\x2b\0" + bytes(6) + segment_header(17, (END_PSP, IP_OF[1]), 1) + datagram
    case.passes(
        4,
        arrives(ipv6(HOP_BY_HOP, both, FAR, END_PSP)),
        1,
        leaves_to(1, ipv6(HOP_BY_HOP, options(60, b"\5\2\0\0") + b"\x11\0" + bytes(6) + datagram, FAR, IP_OF[1], 63)),
    )
    packet = on_path((END_PSP, NEXT, IP_OF[1]), 2, 17, datagram)
    case.passes(4, arrives(packet), 4, out_by_first(advanced(packet, 40, NEXT)))

    case.say("By a policy, in a tunnel.")
    for sid, reduced in ((B6, False), (B6_RED, True)):
        packet = on_path((sid, NEXT), 1, 17, datagram)
        case.passes(4, arrives(packet), 4, out_by_first(tunnel(advanced(packet, 40, NEXT), PATH[:2], SOURCE, reduced)))

    case.say("Segments left, but not for us: only routed.")
    packet = on_path((NEXT, END), 1, 17, datagram)
    case.passes(4, arrives(packet), 4, out_by_first(hop_less(packet)))
    wrong = ipv6(ROUTING, segment_header(17, (NEXT, END), 9) + datagram, FAR, NEXT)
    case.passes(4, arrives(wrong), 4, out_by_first(hop_less(wrong)))

    def refused(packet: bytes, message: Packet, reason: str) -> None:
        case.drops(4, arrives(packet), reason)
        case.expect(4, error_about(arrives(packet), message, 100, PROVIDER[4]))

    case.say("Numbers that contradict each other: the sender is told where.")
    refused(
        ipv6(ROUTING, segment_header(17, (NEXT, END), 3) + datagram, FAR, END),
        ICMPv6ParamProblem(code=0, ptr=43),
        "DROP_SEGMENTS_WRONG",
    )
    refused(
        ipv6(ROUTING, segment_header(17, (NEXT, END), 1, last=2) + datagram, FAR, END),
        ICMPv6ParamProblem(code=0, ptr=43),
        "DROP_SEGMENTS_WRONG",
    )
    refused(
        ipv6(60, b"\x2b\0" + bytes(6) + segment_header(17, (NEXT, END), 3) + datagram, FAR, END),
        ICMPv6ParamProblem(code=0, ptr=51),
        "DROP_SEGMENTS_WRONG",
    )
    refused(
        ipv6(ROUTING, bytes([17, 0, 4, 1, 0, 0, 0, 0]) + datagram, FAR, END),
        ICMPv6ParamProblem(code=0, ptr=43),
        "DROP_SEGMENTS_WRONG",
    )
    packet = on_path((END, NEXT), 1, 17, datagram)
    refused(packet[:7] + b"\1" + packet[8:], ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")

    case.say("The last segment, and nothing inside that it takes; a ping is the controller's.")
    refused(on_path((NEXT, END), 0, 17, datagram), ICMPv6ParamProblem(code=4, ptr=40 + 8 + 32), "DROP_UPPER_LAYER")
    refused(on_path((NEXT, DX6), 0, 17, datagram), ICMPv6ParamProblem(code=4, ptr=40 + 8 + 32), "DROP_UPPER_LAYER")
    refused(
        on_path((NEXT, DX6), 0, IN_IPV4, bytes(IP(src="192.0.2.9", dst="192.0.2.2") / UDP())),
        ICMPv6ParamProblem(code=4, ptr=40 + 8 + 32),
        "DROP_UPPER_LAYER",
    )
    ping = bytes(IPv6(src=FAR, dst=END) / ICMPv6EchoRequest(data=b"are you"))[40:]
    case.punts_whole(4, arrives(on_path((NEXT, END), 0, 58, ping)), "PUNT_LOCAL", 100)
    return case


def advanced_back(packet: bytes, to: str) -> bytes:
    """One segment less, the hop limit as it was."""
    raw = bytearray(packet)
    raw[43] -= 1
    raw[24:40] = octets(to)
    return bytes(raw)


def decapsulation() -> Case:
    case = Case("decapsulation", "The ends of tunnels: what was inside goes on.")
    sids(case)
    inner = bytes(udp(to=IP_OF[1]))
    inner = inner[:8] + octets(FAR) + inner[24:]
    four = bytes(IP(src="198.51.100.1", dst="192.0.2.2", ttl=9, tos=2, id=77) / UDP(sport=1, dport=2) / Raw(b"four"))
    four_on = bytes(IP(src="198.51.100.1", dst="192.0.2.2", ttl=8, tos=2, id=77) / UDP(sport=1, dport=2) / Raw(b"four"))
    frame = bytes(Ether(src="02:00:00:00:07:01", dst="02:00:00:00:07:02", type=0x88B5) / Raw(b"anything at all"))

    def plain(sid: str, upper: int, payload: bytes, **fields: int) -> Packet:
        return arrives(ipv6(upper, payload, FAR, sid, **fields))

    def with_header(sid: str, upper: int, payload: bytes) -> Packet:
        return arrives(
            ipv6(ROUTING, segment_header(upper, (NEXT, sid), 0, tlvs=b"\4\6" + bytes(6)) + payload, FAR, sid)
        )

    case.say("IPv6 by the routes, by a table, by a next hop; with a routing header and without.")
    for make in (plain, with_header):
        for sid in (DT6, DT46, END_USD):
            case.passes(4, make(sid, IN_IPV6, inner), 1, leaves_to(1, hop_less(inner)))
        for sid in (DX6, DT6_TABLE):
            case.passes(4, make(sid, IN_IPV6, inner), 5, routed(arrives(inner), 200, PROVIDER[5]))

    case.say("Behind options and other headers, which are gone.")
    chain = options(60, b"\5\2\0\0", b"\x1e\4abcd") + b"\x2b\0" + bytes(6) + segment_header(60, (NEXT, DT6), 0)
    chain += bytes([IN_IPV6, 1]) + bytes(14)
    case.passes(4, arrives(ipv6(HOP_BY_HOP, chain + inner, FAR, DT6)), 1, leaves_to(1, hop_less(inner)))

    case.say("IPv4 by its routes and by a next hop; its checksum is right again.")
    for make in (plain, with_header):
        for sid in (DT4, DT46):
            case.passes(4, make(sid, IN_IPV4, four), 2, leaves_to(2, four_on, 0x0800))
        case.passes(4, make(DX4, IN_IPV4, four), 5, Ether(src=ROUTER[200], dst=PROVIDER[5], type=0x0800) / Raw(four_on))

    case.say("A frame, out of its port as it is.")
    for make in (plain, with_header):
        case.passes(4, make(DX2, IN_FRAME, frame), 2, Raw(frame))

    case.say("Congestion that the tunnel met.")
    marked, ect = 6 << 28 | 3 << 20, 6 << 28 | 2 << 20
    capable = inner[:4].replace(b"\x60\0", b"\x60\x20") + inner[4:]
    assert int.from_bytes(capable[:4]) == ect
    case.passes(
        4, plain(DT6, IN_IPV6, capable, start=marked), 1, leaves_to(1, marked.to_bytes(4) + hop_less(capable)[4:])
    )
    case.drops(4, plain(DT6, IN_IPV6, inner, start=marked), "DROP_INNER_CONGESTION")
    four_marked = bytes(
        IP(src="198.51.100.1", dst="192.0.2.2", ttl=8, tos=3, id=77) / UDP(sport=1, dport=2) / Raw(b"four")
    )
    case.passes(4, plain(DT4, IN_IPV4, four, start=marked), 2, leaves_to(2, four_marked, 0x0800))

    case.say("An error about the packet inside goes to its sender, and quotes it alone.")
    dying = inner[:7] + b"\1" + inner[8:]
    case.drops(4, with_header(DT6, IN_IPV6, dying), "DROP_HOP_LIMIT")
    case.expect(4, error_about(arrives(dying), ICMPv6TimeExceeded(code=0), 100, PROVIDER[4]))
    error = bytes(IPv6(src=FAR, dst=IP_OF[1], hlim=1) / ICMPv6TimeExceeded() / udp())
    case.drops(4, plain(DT6, IN_IPV6, error), "DROP_HOP_LIMIT")
    case.drops(4, plain(DT4, IN_IPV4, bytes(IP(dst="192.0.2.2", ttl=1) / UDP())), "DROP_HOP_LIMIT")
    case.drops(4, plain(DT4, IN_IPV4, bytes(IP(dst="203.0.113.2") / UDP())), "DROP_NO_ROUTE")

    case.say("A tunnel ends here, but its segments do not.")
    packet = arrives(ipv6(ROUTING, segment_header(IN_IPV6, (DX6, NEXT), 1) + inner, FAR, DX6))
    case.drops(4, packet, "DROP_SEGMENTS_LEFT")
    case.expect(4, error_about(packet, ICMPv6ParamProblem(code=0, ptr=43), 100, PROVIDER[4]))

    case.say("What cannot be right inside.")
    case.drops(4, plain(DT6, IN_IPV6, inner[:-1]), "DROP_INNER_LENGTH")
    case.drops(4, plain(DT6, IN_IPV6, b"\x50" + inner[1:]), "DROP_INNER_VERSION")
    case.drops(4, plain(DT4, IN_IPV4, b"\x65" + four[1:]), "DROP_INNER_VERSION")
    case.drops(4, plain(DT4, IN_IPV4, b"\x44" + four[1:]), "DROP_INNER_HEADER")
    case.drops(4, plain(DT4, IN_IPV4, four[:-1]), "DROP_INNER_LENGTH")
    case.drops(4, plain(DT6, IN_IPV6, inner[:20]), "DROP_UPPER_LAYER")
    case.expect(4, error_about(plain(DT6, IN_IPV6, inner[:20]), ICMPv6ParamProblem(code=4, ptr=40), 100, PROVIDER[4]))

    case.say("Out of one tunnel, into the next.")
    put(case, 9, PATH[:3])
    bind(case, IP_OF[2] + "/128", TUNNEL, 9)
    other = inner[:24] + octets(IP_OF[2]) + inner[40:]
    case.passes(4, with_header(DT6, IN_IPV6, other), 4, out_by_first(tunnel(hop_less(other), PATH[:3], SOURCE)))
    return case


ALL: tuple[Callable[[], Case], ...] = (insertion, endpoints, decapsulation)
