"""Cases of in-situ OAM: traces that begin here, pass, and end (RFC 9197, RFC 9322, RFC 9486). Times are tested in
test_traces.py: a case has no clock."""

from collections.abc import Callable

from carriers import (
    HOP_BY_HOP,
    IN_IPV6,
    Node,
    Trace,
    hop_less,
    ipv6,
    ipv6_of,
    node_length,
    octets,
    options,
    out_by_first,
    segment_header,
    start_of,
)
from case import Case, cell, number
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from segment_cases import (
    AUTO,
    DT6,
    INLINE,
    PATH,
    SOURCE,
    TUNNEL,
    arrives,
    bind,
    from_first_host,
    leaves_to,
    put,
    roads,
    sids,
)

from small_site import (
    ADDRESS,
    CPU,
    FAR,
    HOST,
    IP_OF,
    PUNT,
    ROUTER,
    error_about,
    out_first,
    to_router,
    udp,
)

ID, INTERFACES, DATA, QUEUE, CHECKSUM = (1 << 23 - bit for bit in (0, 1, 5, 6, 7))
ID_WIDE, INTERFACES_WIDE, DATA_WIDE, BUFFERS, SNAPSHOT = (1 << 23 - bit for bit in (8, 9, 10, 11, 22))
WITHOUT_TIMES = ID | INTERFACES | DATA | QUEUE | CHECKSUM | ID_WIDE | INTERFACES_WIDE | DATA_WIDE | BUFFERS
NOT_ASSIGNED = sum(1 << 23 - bit for bit in range(12, 22))
NODE = Node()
PLAIN, SNAPPING, NO_DATA = 1, 2, 3  # namespaces: of the node as it is, with a snapshot; the last one is foreign
FOREIGN = 99
OVERFLOW, LOOPBACK, ACTIVE = 8, 4, 2
END = "fd00:e::1"


def known(case: Case, ports: tuple[int, ...] = (1, 4, CPU)) -> None:
    for port in ports:
        for namespace, schema in ((PLAIN, 0xFFFFFF), (SNAPPING, 0x123456)):
            said = f"node:{NODE.id},node_wide:{NODE.id_wide},data:{NODE.data},data_wide:{NODE.data_wide}"
            case.add(
                "ioam_namespaces",
                f"set_namespace({said},schema:{schema},snapshot:{0xFEEDFACECAFEBEEF},epoch:0)",
                port=port,
                namespace=namespace,
            )


def push_trace(
    case: Case,
    trace: int,
    type_: int,
    words: int,
    namespace: int = PLAIN,
    flags: int = 0,
    packets: int = 1,
    of: int = 1,
) -> None:
    case.add(
        "ioam_traces",
        f"push_trace(namespace:{namespace},type:{type_},node_length:{node_length(type_)},words:{words},"
        f"flags:{flags},packets:{packets},of:{of})",
        trace=trace,
    )


def bind_trace(case: Case, prefix: str, mode: int, trace: int) -> None:
    parameters = f"mode:{mode},trace:{trace},source:{number(SOURCE)},destination:{number(END)}"
    case.add("encapsulations", f"encapsulate_trace({parameters})", destination=number(prefix))


def begun(type_: int, words: int, node: Node = NODE, **fields: int) -> Trace:
    """A trace with the first node's data in it."""
    mine = node.words(type_)
    left = words - len(mine) // 4
    return Trace(type_, node_length(type_), left, bytes(4 * left) + mine, **fields)


def in_tunnel(inner: bytes, trace: Trace) -> bytes:
    return ipv6(HOP_BY_HOP, trace.options(IN_IPV6) + inner, SOURCE, END, start=start_of(inner))


def put_in(packet: bytes, trace: Trace) -> bytes:
    """A packet with a trace of its own."""
    payload = trace.options(packet[6]) + packet[40:]
    return packet[:4] + len(payload).to_bytes(2) + b"\0" + packet[7:40] + payload


def begin() -> Case:
    case = Case("traces_begin", "Traces that begin here: any type and size, inline, in a tunnel, along a policy.")
    roads(case)
    known(case)
    outer = Node(hop_limit=64)
    case.say("In a tunnel: sizes to 244 octets.")
    for trace, words in enumerate((1, 2, 3, 8, 31, 32, 33, 60, 61), 1):
        push_trace(case, trace, ID, words)
        bind_trace(case, f"2001:db8:f001:{trace:x}::/64", TUNNEL, trace)
        packet = to_router(udp(to=f"2001:db8:f001:{trace:x}::1", tc=1, fl=7))
        case.passes(1, packet, 4, out_by_first(in_tunnel(hop_less(ipv6_of(packet)), begun(ID, words, outer))))

    case.say("Inline, by explicit wish; and by itself, for the router's own packets only.")
    push_trace(case, 20, ID | INTERFACES, 6)
    bind_trace(case, "2001:db8:f020::/48", INLINE, 20)
    bind_trace(case, "2001:db8:f021::/48", AUTO, 20)
    packet = to_router(udp(to="2001:db8:f020::1"))
    case.passes(1, packet, 4, out_by_first(put_in(hop_less(ipv6_of(packet)), begun(ID | INTERFACES, 6))))
    packet = to_router(udp(to="2001:db8:f021::1"))
    case.passes(1, packet, 4, out_by_first(in_tunnel(hop_less(ipv6_of(packet)), begun(ID | INTERFACES, 6, outer))))
    own = bytes(IPv6(src=ADDRESS[1], dst="2001:db8:f021::1") / ICMPv6EchoRequest(data=b"mine"))
    case.send(CPU, Raw(b"\x02\0\1\0\0" + bytes(from_first_host(own))))
    case.expect(4, out_by_first(put_in(hop_less(own), begun(ID | INTERFACES, 6))))

    case.say("All that needs no clock, wide and short; with a snapshot and without one; all in the order of its bits.")
    for trace, (type_, namespace, node) in enumerate(
        (
            (WITHOUT_TIMES, PLAIN, outer),
            (ID_WIDE | DATA_WIDE, PLAIN, outer),
            (ID | SNAPSHOT, PLAIN, outer),
            (WITHOUT_TIMES | SNAPSHOT, SNAPPING, Node(hop_limit=64, schema=0x123456, snapshot=0xFEEDFACECAFEBEEF)),
        ),
        30,
    ):
        push_trace(case, trace, type_, 40, namespace)
        bind_trace(case, f"2001:db8:f002:{trace:x}::/64", TUNNEL, trace)
        packet = to_router(udp(to=f"2001:db8:f002:{trace:x}::1"))
        trace_ = begun(type_, 40, node, namespace=namespace)
        case.passes(1, packet, 4, out_by_first(in_tunnel(hop_less(ipv6_of(packet)), trace_)))

    case.say("No room for the first node: full from the start. A foreign namespace: nothing to say.")
    push_trace(case, 40, WITHOUT_TIMES, 3)
    push_trace(case, 41, ID, 5, FOREIGN)
    for trace, expected in (
        (40, Trace(WITHOUT_TIMES, 12, 3, bytes(12), flags=OVERFLOW)),
        (41, Trace(ID, 1, 5, bytes(20), namespace=FOREIGN)),
    ):
        bind_trace(case, f"2001:db8:f003:{trace:x}::/64", TUNNEL, trace)
        packet = to_router(udp(to=f"2001:db8:f003:{trace:x}::1"))
        case.passes(1, packet, 4, out_by_first(in_tunnel(hop_less(ipv6_of(packet)), expected)))

    case.say("Flags that are asked for.")
    for trace, flags in ((42, LOOPBACK), (43, ACTIVE)):
        push_trace(case, trace, ID, 5, flags=flags)
        bind_trace(case, f"2001:db8:f003:{trace:x}::/64", TUNNEL, trace)
        packet = to_router(udp(to=f"2001:db8:f003:{trace:x}::1"))
        case.passes(1, packet, 4, out_by_first(in_tunnel(hop_less(ipv6_of(packet)), begun(ID, 5, outer, flags=flags))))

    case.say("Along a policy: the trace stands before the segments.")
    put(case, 1, PATH[:3])
    bind(case, "2001:db8:f050::/48", TUNNEL, 1, trace=2)
    packet = to_router(udp(to="2001:db8:f050::1"))
    inner = hop_less(ipv6_of(packet))
    carried = begun(ID, 2, outer).options(43) + segment_header(IN_IPV6, PATH[:3], 2) + inner
    case.passes(1, packet, 4, out_by_first(ipv6(HOP_BY_HOP, carried, SOURCE, PATH[0])))

    case.say("Two of five packets; the others go as they are, or without a trace along their policy.")
    push_trace(case, 60, ID, 3, packets=2, of=5)
    push_trace(case, 61, ID, 3, packets=1, of=2)
    bind_trace(case, "2001:db8:f060::/48", TUNNEL, 60)
    bind(case, "2001:db8:f061::/48", TUNNEL, 1, trace=61)
    for n in range(12):
        packet = to_router(udp(to="2001:db8:f060::1"))
        traced = out_by_first(in_tunnel(hop_less(ipv6_of(packet)), begun(ID, 3, outer)))
        case.passes(1, packet, 4, traced if n % 5 < 2 else out_first(packet))
    for n in range(4):
        packet = to_router(udp(to="2001:db8:f061::1"))
        carried = segment_header(IN_IPV6, PATH[:3], 2) + hop_less(ipv6_of(packet))
        if n % 2 == 0:
            traced_options = begun(ID, 3, outer).options(43)
            case.passes(1, packet, 4, out_by_first(ipv6(HOP_BY_HOP, traced_options + carried, SOURCE, PATH[0])))
        else:
            case.passes(1, packet, 4, out_by_first(ipv6(43, carried, SOURCE, PATH[0])))

    case.say("The MTU that is left.")
    room = 1500 - 40 - 16 - 244 - 4
    fits = to_router(IPv6(src=IP_OF[1], dst="2001:db8:f001:9::1") / UDP() / Raw(bytes(room - 48)))
    case.passes(1, fits, 4, out_by_first(in_tunnel(hop_less(ipv6_of(fits)), begun(ID, 61, outer))))
    big = to_router(IPv6(src=IP_OF[1], dst="2001:db8:f020::1") / UDP() / Raw(bytes(1500 - 40 - 48 + 1)))
    case.drops(1, big, "DROP_PACKET_TOO_BIG")
    case.expect(1, error_about(big, ICMPv6PacketTooBig(mtu=1500 - 40), 1, HOST[1]))

    case.say(
        "Options that are there already have no trace put before them; a trace of another is not joined by a second."
    )
    with_options = ipv6(HOP_BY_HOP, options(17, b"\5\2\0\0") + bytes(udp())[40:], IP_OF[1], "2001:db8:f020::1")
    case.passes(
        1,
        from_first_host(with_options),
        4,
        out_by_first(in_tunnel(hop_less(with_options), begun(ID | INTERFACES, 6, outer))),
    )
    already = put_in(ipv6(17, bytes(udp())[40:], IP_OF[1], "2001:db8:f001:1::1"), Trace(ID, 1, 2, bytes(8)))
    passed = put_in(ipv6(17, bytes(udp())[40:], IP_OF[1], "2001:db8:f001:1::1", 63), begun(ID, 2))
    case.passes(1, from_first_host(already), 4, out_by_first(passed))
    return case


def transit() -> Case:
    case = Case(
        "traces_pass", "Traces that pass: this node's data in its slot, whatever the type; what must not be touched."
    )
    known(case)
    datagram = bytes(udp())[40:]

    def carrying(*body: bytes, hop_limit: int = 64, destination: str = FAR) -> bytes:
        return ipv6(HOP_BY_HOP, options(17, *body) + datagram, IP_OF[1], destination, hop_limit)

    def filled(
        type_: int,
        free: int,
        behind: bytes = b"",
        namespace: int = PLAIN,
        node: Node = NODE,
        before: bytes = b"\1\0",
        rest: bytes = b"",
    ) -> None:
        """A trace with so many free words, of which this node takes its own."""
        mine = node.words(type_)
        left = free - len(mine) // 4
        length = node_length(type_)
        came = Trace(type_, length, free, bytes(range(4 * free)) + behind, namespace)
        goes = Trace(type_, length, left, bytes(range(4 * left)) + mine + behind, namespace)
        case.passes(
            1,
            from_first_host(carrying(before, came.option(), rest)),
            4,
            out_by_first(carrying(before, goes.option(), rest, hop_limit=63)),
        )

    case.say("Each bit alone, then all together; one slot, some slots, behind the data of others.")
    for type_ in (ID, INTERFACES, DATA, QUEUE, CHECKSUM, ID_WIDE, INTERFACES_WIDE, DATA_WIDE, BUFFERS):
        filled(type_, node_length(type_))
        filled(type_, 10, bytes(range(40)))
    filled(WITHOUT_TIMES, 12)
    filled(WITHOUT_TIMES, 36)
    filled(WITHOUT_TIMES, 24, bytes(range(100, 196)))
    filled(ID, 61)
    filled(ID, 1, bytes(range(240)))

    case.say("Bits that are not assigned: their words say that nothing is known. The reserved bit is ignored.")
    filled(ID | NOT_ASSIGNED, 11)
    filled(ID | INTERFACES | 1 << 11 | 1 << 2, 20, bytes(8))
    for bit in range(12, 22):
        filled(BUFFERS | 1 << 23 - bit, 7)
    filled(ID | 1, 4)

    case.say("Snapshots: with data, where there is room; of a node that has none.")
    snapping = Node(schema=0x123456, snapshot=0xFEEDFACECAFEBEEF)
    for free in (4, 5, 20):
        filled(ID | SNAPSHOT, free, bytes(8), SNAPPING, snapping)
    for free in (2, 3, 4, 20):
        filled(ID | SNAPSHOT, free, bytes(8))
    filled(WITHOUT_TIMES | SNAPSHOT, 15, b"", SNAPPING, snapping)

    case.say("Other options before it and behind it.")
    filled(ID, 3, before=b"\5\2\0\0\1\0", rest=b"\x1e\4abcd")
    filled(ID, 3, before=b"\0\0")
    filled(ID, 3, before=bytes(8))
    filled(ID, 3, before=b"\x31\2\0\1" + b"\x11\2\0\3" + b"\1\4" + bytes(4))

    def full(trace: Trace, **more: object) -> None:
        marked = Trace(trace.type, trace.node_length, trace.left, trace.list, trace.namespace, trace.flags | OVERFLOW)
        case.passes(
            1,
            from_first_host(carrying(b"\1\0", trace.option())),
            4,
            out_by_first(carrying(b"\1\0", marked.option(), hop_limit=63)),
        )

    def untouched(packet: bytes) -> None:
        case.passes(1, from_first_host(packet), 4, out_by_first(hop_less(packet)))

    case.say("No room: marked as full, and nothing else.")
    full(Trace(ID, 1, 0, bytes(8)))
    full(Trace(ID | INTERFACES, 2, 1, bytes(8)))
    full(Trace(ID | SNAPSHOT, 1, 1, bytes(8)))
    full(Trace(ID | SNAPSHOT, 1, 3, bytes(12), SNAPPING))
    full(Trace(ID | SNAPSHOT, 1, 2, bytes(12), SNAPPING))

    case.say(
        "What is not ours to touch: foreign, marked already, contradicting itself, of another kind, too far behind."
    )
    untouched(carrying(b"\1\0", Trace(ID, 1, 2, bytes(8), FOREIGN).option()))
    untouched(carrying(b"\1\0", Trace(ID, 1, 0, bytes(8), FOREIGN).option()))
    untouched(carrying(b"\1\0", Trace(ID, 1, 2, bytes(8), flags=OVERFLOW).option()))
    untouched(carrying(b"\1\0", Trace(ID, 1, 3, bytes(8)).option()))
    untouched(carrying(b"\1\0", Trace(ID, 1, 2, bytes(9)).option()))
    untouched(carrying(b"\1\0", Trace(ID, 2, 2, bytes(8)).option()))
    untouched(carrying(b"\1\0", Trace(ID | INTERFACES, 1, 2, bytes(8)).option()))
    untouched(carrying(b"\1\0", Trace(NOT_ASSIGNED, 3, 4, bytes(16)).option()))
    untouched(carrying(b"\1\0", Trace(ID, 31, 61, bytes(244)).option()))
    incremental = bytearray(Trace(ID, 1, 2, bytes(8)).option())
    incremental[3] = 1
    untouched(carrying(b"\1\0", bytes(incremental)))
    untouched(carrying(bytes(8), b"\0\0", Trace(ID, 1, 2, bytes(8)).option()))
    untouched(ipv6(60, options(17, b"\1\0", Trace(ID, 1, 2, bytes(8)).option()) + datagram, IP_OF[1], FAR))

    case.say("What is only bridged, and what comes in where the namespace is not known.")
    packet = Ether(src=HOST[1], dst=HOST[2], type=0x86DD) / Raw(carrying(b"\1\0", Trace(ID, 1, 2, bytes(8)).option()))
    case.passes(1, packet, 2)
    carrier = carrying(b"\1\0", Trace(ID, 1, 2, bytes(8)).option())
    case.passes(2, Ether(src=HOST[2], dst=ROUTER[1], type=0x86DD) / Raw(carrier), 4, out_by_first(hop_less(carrier)))

    case.say("An option that runs over the end.")
    case.drops(
        1, from_first_host(ipv6(HOP_BY_HOP, b"\x11\0\5\5\0\0\0\0" + datagram, IP_OF[1], FAR)), "DROP_OPTION_PAST_END"
    )
    case.drops(
        1, from_first_host(ipv6(HOP_BY_HOP, b"\x11\0\1\3\0\0\0\5" + datagram, IP_OF[1], FAR)), "DROP_OPTION_PAST_END"
    )
    long = bytearray(options(17, b"\1\0", Trace(ID, 1, 2, bytes(8)).option()))
    long[5] = 200
    case.drops(1, from_first_host(ipv6(HOP_BY_HOP, bytes(long) + datagram, IP_OF[1], FAR)), "DROP_OPTION_PAST_END")

    case.say("To go back as well: the controller gets a copy, if the type is the one that may.")
    came, goes = Trace(ID, 1, 3, bytes(12), flags=LOOPBACK), begun(ID, 3, flags=LOOPBACK)
    copied = begun(ID, 3, Node(out=CPU, hop_limit=64), flags=LOOPBACK)
    case.passes(
        1,
        from_first_host(carrying(b"\1\0", came.option())),
        4,
        out_by_first(carrying(b"\1\0", goes.option(), hop_limit=63)),
    )
    case.punted(from_first_host(carrying(b"\1\0", copied.option())), "PUNT_LOOPBACK", 1, 1)
    came, goes = Trace(INTERFACES, 1, 3, bytes(12), flags=LOOPBACK), begun(INTERFACES, 3, flags=LOOPBACK)
    case.passes(
        1,
        from_first_host(carrying(b"\1\0", came.option())),
        4,
        out_by_first(carrying(b"\1\0", goes.option(), hop_limit=63)),
    )
    case.say("A foreign trace does not go back: the copy ends in egress.")
    foreign = carrying(b"\1\0", Trace(ID, 1, 3, bytes(12), FOREIGN, LOOPBACK).option())
    case.passes(1, from_first_host(foreign), 4, out_by_first(hop_less(foreign)))
    case.egress_drops["DROP_TRACE_FOREIGN"] = 1
    case.punts["PUNT_LOOPBACK"] += 1
    return case


def end() -> Case:
    case = Case("traces_end", "Traces that end here with their tunnel: the controller gets them, the packet goes on.")
    sids(case)
    known(case)
    inner = bytes(udp(to=IP_OF[1]))
    inner = inner[:8] + octets(FAR) + inner[24:]
    node = Node(into=4, out=CPU, hop_limit=64)

    def tunnel_with(trace: Trace) -> Packet:
        return arrives(ipv6(HOP_BY_HOP, trace.options(IN_IPV6) + inner, FAR, DT6))

    case.say("With this node's data in the copy; without, where there is no room.")
    case.passes(4, tunnel_with(Trace(ID | INTERFACES, 2, 4, bytes(range(24)))), 1, leaves_to(1, hop_less(inner)))
    seen = Trace(ID | INTERFACES, 2, 2, bytes(range(8)) + node.words(ID | INTERFACES) + bytes(range(16, 24)))
    case.punted(tunnel_with(seen), "PUNT_TRACE", 4, 100)
    case.passes(4, tunnel_with(Trace(ID, 1, 0, bytes(range(8)))), 1, leaves_to(1, hop_less(inner)))
    case.punted(tunnel_with(Trace(ID, 1, 0, bytes(range(8)), flags=OVERFLOW)), "PUNT_TRACE", 4, 100)

    case.say("Behind segments.")
    carried = Trace(ID, 1, 3, bytes(12)).options(43) + segment_header(IN_IPV6, (PATH[0], DT6), 0) + inner
    case.passes(4, arrives(ipv6(HOP_BY_HOP, carried, FAR, DT6)), 1, leaves_to(1, hop_less(inner)))
    carried = begun(ID, 3, node).options(43) + segment_header(IN_IPV6, (PATH[0], DT6), 0) + inner
    case.punted(arrives(ipv6(HOP_BY_HOP, carried, FAR, DT6)), "PUNT_TRACE", 4, 100)

    case.say("A probe ends with its trace.")
    case.send(4, tunnel_with(Trace(ID, 1, 3, bytes(12), flags=ACTIVE)))
    case.punted(tunnel_with(begun(ID, 3, node, flags=ACTIVE)), "PUNT_TRACE", 4, 100)

    case.say("Above its rate the copy is left out; the packet goes on.")
    case.meter("punt_class_meter", cell(PUNT["PUNT_TRACE"], 4), 1)
    for n in range(3):
        case.passes(4, tunnel_with(Trace(ID, 1, 3, bytes(12))), 1, leaves_to(1, hop_less(inner)))
        if n < 1:
            case.punted(tunnel_with(begun(ID, 3, node)), "PUNT_TRACE", 4, 100)
    return case


def direct_export(next_header: int, flow: int, sequence: int, type_: int = ID, namespace: int = PLAIN) -> bytes:
    """RFC 9326, section 3.2, with both optional fields."""
    data = b"\0\4" + namespace.to_bytes(2) + b"\0\xc0" + type_.to_bytes(3) + b"\0"
    data += flow.to_bytes(4) + sequence.to_bytes(4)
    return options(next_header, b"\1\0", bytes([0x11, len(data)]) + data)


def direct_exports() -> Case:
    case = Case("direct_exports", "Direct export: the option put on, counted by flow; other options left alone.")
    roads(case)
    known(case)
    parameters = f"namespace:{PLAIN},type:{ID},flow:{0xF10F},packets:1,of:2"
    case.add("ioam_traces", f"push_direct_export({parameters})", trace=70)
    bind_trace(case, "2001:db8:f070::/48", TUNNEL, 70)
    case.say("Every second packet of the flow, numbered.")
    for n in range(4):
        packet = to_router(udp(to="2001:db8:f070::1"))
        inner = hop_less(ipv6_of(packet))
        asking = out_by_first(ipv6(HOP_BY_HOP, direct_export(IN_IPV6, 0xF10F, n // 2) + inner, SOURCE, END))
        case.passes(1, packet, 4, asking if n % 2 == 0 else out_first(packet))

    case.say("A packet that asks already stays as it is, also where its destination is bound.")
    for destination in (FAR, "2001:db8:f070::1"):
        already = ipv6(HOP_BY_HOP, direct_export(17, 5, 6) + bytes(udp())[40:], IP_OF[1], destination)
        case.passes(1, from_first_host(already), 4, out_by_first(hop_less(already)))
    return case


ALL: tuple[Callable[[], Case], ...] = (begin, transit, end, direct_exports)
