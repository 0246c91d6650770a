"""Cases of RPL source routes: put on with their addresses compressed, and followed hop by hop (RFC 6554)."""

from collections.abc import Callable, Sequence

from carriers import HOP_BY_HOP, ROUTING, hop_less, ipv6, ipv6_of, octets, options, out_by_first, source_route
from case import Case, number
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ParamProblem, ICMPv6TimeExceeded, IPv6
from segment_cases import arrives, from_first_host, leaves_to

from small_site import FAR, IP_OF, PROVIDER, error_about, to_router, udp
from wayname.p4_constants import HOPS_CHECKED


def put_hops(case: Case, route: int, hops: Sequence[str], left_out: int, last_left_out: int) -> None:
    """The first hop becomes the destination; the packet's own destination stands last."""
    middle = b"".join(octets(hop)[left_out:] for hop in hops[1:])
    parameters = (
        f"first:{number(hops[0])},prefix_left_out:{left_out},last_prefix_left_out:{last_left_out},"
        f"hops:{len(hops)},middle:{len(middle)},addresses:0x{middle.ljust(128, bytes(1)).hex()}"
    )
    case.add("source_route_hops", f"push_source_route({parameters})", source_route=route)
    prefix = f"2001:db8:f{route:03x}::"
    case.add(
        "encapsulations", f"encapsulate_source_route(source_route:{route},trace:0)", destination=number(prefix + "/48")
    )


def source_routes() -> Case:
    case = Case("source_routes", "Source routes of RPL: compression both ways, padding, errors.")
    datagram = bytes(udp())[40:]

    case.say("Put on: how much of the addresses is left out, and how many there are.")
    for route, (count, left_out, last_left_out) in enumerate(
        [
            (1, 0, 0),
            (2, 0, 0),
            (3, 8, 0),
            (3, 8, 8),
            (4, 15, 15),
            (5, 14, 8),
            (9, 0, 15),
            (9, 13, 6),
            (6, 5, 11),
            (4, 1, 2),
            (2, 15, 0),
        ],
        1,
    ):
        hops = [f"2001:db8:f{route:03x}::{0x700 + n:x}" for n in range(count)]
        put_hops(case, route, hops, left_out, last_left_out)
        destination = f"2001:db8:f{route:03x}::9"
        packet = to_router(udp(to=destination))
        header = source_route(17, [*hops[1:], destination], count, left_out, last_left_out)
        case.passes(1, packet, 4, out_by_first(ipv6(ROUTING, header + ipv6_of(packet)[40:], IP_OF[1], hops[0], 63)))

    case.say("Behind hop-by-hop options.")
    inside = options(17, b"\5\2\0\0")
    behind = ipv6(HOP_BY_HOP, inside + datagram, IP_OF[1], "2001:db8:f001::9")
    header = source_route(17, ["2001:db8:f001::9"], 1, 0, 0)
    expected = ipv6(HOP_BY_HOP, options(ROUTING, b"\5\2\0\0") + header + datagram, IP_OF[1], "2001:db8:f001::700", 63)
    case.passes(1, from_first_host(behind), 4, out_by_first(expected))

    case.say("Followed: the next address and the destination change places.")
    here = "2001:db8:1::5"

    def follows(addresses: list[str], left: int, left_out: int, last_left_out: int) -> None:
        came = source_route(17, addresses, left, left_out, last_left_out)
        index = len(addresses) - left
        swapped = [*addresses[:index], here, *addresses[index + 1 :]]
        goes = source_route(17, swapped, left - 1, left_out, last_left_out)
        case.passes(
            4,
            arrives(ipv6(ROUTING, came + datagram, FAR, here)),
            1,
            leaves_to(1, ipv6(ROUTING, goes + datagram, FAR, addresses[index], 63)),
        )

    case.add("sids", "source_route_hop()", destination=number(here) + "/128")
    for addresses, left, left_out, last_left_out in (
        (["2001:db8:1::11"], 1, 0, 0),
        (["2001:db8:1::11"], 1, 0, 15),
        (["2001:db8:1::11"], 1, 0, 14),
        (["2001:db8:1::7", "2001:db8:1::11"], 1, 15, 15),
        (["2001:db8:1::11", "2001:db8:1::9"], 2, 15, 0),
        (["2001:db8:1::7", "2001:db8:1::11", "2001:db8:1::9"], 2, 8, 3),
        (["2001:db8:1::11", "2001:db8:1::3", "2001:db8:1::9"], 3, 13, 12),
        (["2001:db8:1::11", "2001:db8:1::3", "2001:db8:1::9"], 3, 0, 1),
        (["2001:db8:1::11", "2001:db8:1::3", "2001:db8:1::9"], 3, 5, 2),
        (["2001:db8:1::11", "2001:db8:1::3", "2001:db8:1::9"], 3, 9, 6),
    ):
        follows(addresses, left, left_out, last_left_out)

    case.say("At its end; and what no hop takes.")
    ping = bytes(IPv6(src=FAR, dst=here) / ICMPv6EchoRequest())[40:]
    over = arrives(ipv6(ROUTING, source_route(58, ["2001:db8:1::7"], 0, 0, 0) + ping, FAR, here))
    case.punts_whole(4, over, "PUNT_LOCAL", 100)
    group = source_route(17, ["ff02::1"], 1, 0, 0)
    case.drops(4, arrives(ipv6(ROUTING, group + datagram, FAR, here)), "DROP_SOURCE_ROUTE_GROUP")
    for wrong in (
        source_route(17, ["2001:db8:1::11"], 2, 0, 0),
        source_route(17, ["2001:db8:1::11"] * 3, 9, 14, 0),
        bytes([17, 0, 3, 1, 0, 0, 0, 0]),
        bytes([17, 1, 3, 1, 0, 0, 0, 0]) + bytes(8),
    ):
        packet = arrives(ipv6(ROUTING, wrong + datagram, FAR, here))
        case.drops(4, packet, "DROP_SEGMENTS_WRONG")
        case.expect(4, error_about(packet, ICMPv6ParamProblem(code=0, ptr=43), 100, PROVIDER[4]))
    packet = arrives(ipv6(ROUTING, source_route(17, ["2001:db8:1::11"], 1, 0, 0) + datagram, FAR, here, 1))
    case.drops(4, packet, "DROP_HOP_LIMIT")
    case.expect(4, error_about(packet, ICMPv6TimeExceeded(code=0), 100, PROVIDER[4]))

    case.say("Loops: of the addresses, two that are this router's, and another's between them (section 4.2).")
    own, other, third = here, "2001:db8:1::6", "2001:db8:1::11"
    for table in range(1, HOPS_CHECKED + 1):
        case.add(f"own_hops_{table}", "own_hop()", address=number(own) + "/128")
        case.add(f"own_hops_{table}", "own_hop()", address=number(other) + "/128")
    stranger = "2001:db8:1::77"
    for addresses, left, left_out, last_left_out in (
        ([own, stranger, third, other], 2, 0, 0),
        ([own, stranger, third, other], 2, 15, 15),
        ([stranger, own, third, stranger, other], 3, 8, 8),
        ([own, third, other, stranger], 2, 13, 2),
        ([*[stranger] * 14, own, third, stranger, own][2:], 2, 15, 15),
    ):
        packet = arrives(
            ipv6(ROUTING, source_route(17, addresses, left, left_out, last_left_out) + datagram, FAR, here)
        )
        case.drops(4, packet, "DROP_SOURCE_ROUTE_LOOP")
        case.expect(4, error_about(packet, ICMPv6ParamProblem(code=0, ptr=43), 100, PROVIDER[4]))
    case.say("None: they stand beside each other, or one alone.")
    for addresses, left, left_out, last_left_out in (
        ([own, other, third], 1, 8, 8),
        ([stranger, own, other, own, third], 1, 0, 15),
        ([stranger, third, own, other], 3, 14, 15),
    ):
        follows(addresses, left, left_out, last_left_out)
    case.say("More addresses, or longer ones, than are looked at.")
    for addresses, left_out in (([third] * (HOPS_CHECKED + 1), 15), ([third] * 10, 0)):
        packet = arrives(ipv6(ROUTING, source_route(17, addresses, 1, left_out, left_out) + datagram, FAR, here))
        case.drops(4, packet, "DROP_SOURCE_ROUTE_LONG")
        case.expect(4, error_about(packet, ICMPv6ParamProblem(code=0, ptr=41), 100, PROVIDER[4]))

    case.say("Not for us: only routed.")
    foreign = ipv6(ROUTING, source_route(17, ["2001:db8:1::11"], 7, 3, 0) + datagram, IP_OF[1], FAR)
    case.passes(1, from_first_host(foreign), 4, out_by_first(hop_less(foreign)))
    return case


ALL: tuple[Callable[[], Case], ...] = (source_routes,)
