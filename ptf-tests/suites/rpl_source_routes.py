"""Source routes of RPL: put on with compression, followed, refused where they are wrong (RFC 6554)."""

from carriers import ROUTING, ipv6, ipv6_of, octets, out_by_first, source_route
from scapy.layers.inet6 import ICMPv6ParamProblem
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import FAR, HOST, IP_OF, PROVIDER, ROUTER, error_about, to_router, udp

HERE = "2001:db8:1::5"
DATAGRAM = bytes(udp())[40:]


def arrives(packet: bytes) -> Packet:
    """As it comes from the first provider."""
    frame: Packet = Ether(src=PROVIDER[4], dst=ROUTER[100], type=0x86DD) / Raw(packet)
    return frame


class PutOn(EdgeTest):
    """Whatever the addresses leave out, and however many they are."""

    def runTest(self) -> None:
        for route, (count, left_out, last_left_out) in enumerate(((1, 0, 0), (3, 8, 0), (4, 15, 15), (9, 13, 6)), 1):
            hops = [f"2001:db8:f{route:03x}::{0x700 + number:x}" for number in range(count)]
            middle = b"".join(octets(hop)[left_out:] for hop in hops[1:])
            self.entries.insert(
                "source_route_hops",
                {"source_route": route},
                "push_source_route",
                first=hops[0],
                prefix_left_out=left_out,
                last_prefix_left_out=last_left_out,
                hops=count,
                middle=len(middle),
                addresses=int.from_bytes(middle.ljust(128, b"\0")),
            )
            prefix = f"2001:db8:f{route:03x}::"
            keys = {"destination": f"{prefix}/48"}
            self.entries.insert("encapsulations", keys, "encapsulate_source_route", source_route=route, trace=0)
            packet = to_router(udp(to=f"{prefix}9"))
            header = source_route(17, [*hops[1:], f"{prefix}9"], count, left_out, last_left_out)
            expected = ipv6(ROUTING, header + ipv6_of(packet)[40:], IP_OF[1], hops[0], 63)
            self.passes(1, packet, 4, out_by_first(expected))


class Followed(EdgeTest):
    """The next address and the destination change places."""

    def runTest(self) -> None:
        self.entries.insert("sids", {"destination": f"{HERE}/128"}, "source_route_hop")
        addresses = ["2001:db8:1::7", IP_OF[1], "2001:db8:1::9"]
        swapped = [addresses[0], HERE, addresses[2]]
        for left_out, last_left_out in ((0, 0), (8, 3), (15, 15), (13, 12), (5, 2)):
            came = source_route(17, addresses, 2, left_out, last_left_out)
            goes = source_route(17, swapped, 1, left_out, last_left_out)
            sent = Ether(src=ROUTER[1], dst=HOST[1], type=0x86DD)
            sent /= Raw(ipv6(ROUTING, goes + DATAGRAM, FAR, IP_OF[1], 63))
            self.passes(4, arrives(ipv6(ROUTING, came + DATAGRAM, FAR, HERE)), 1, sent)


class Loop(EdgeTest):
    """Two addresses of this router, and another one between them (RFC 6554, section 4.2)."""

    def runTest(self) -> None:
        self.entries.insert("sids", {"destination": f"{HERE}/128"}, "source_route_hop")
        for table in range(1, 17):
            for own in (HERE, "2001:db8:1::6"):
                self.entries.insert(f"own_hops_{table}", {"address": f"{own}/128"}, "own_hop")
        for left_out, last_left_out in ((0, 0), (8, 3), (15, 15)):
            loop = source_route(17, [HERE, "2001:db8:1::77", IP_OF[1], "2001:db8:1::6"], 2, left_out, last_left_out)
            packet = arrives(ipv6(ROUTING, loop + DATAGRAM, FAR, HERE))
            error = error_about(packet, ICMPv6ParamProblem(code=0, ptr=43), 100, PROVIDER[4])
            self.refused(4, packet, "DROP_SOURCE_ROUTE_LOOP", error)
            beside = [HERE, "2001:db8:1::6", IP_OF[1]]
            came = source_route(17, beside, 1, left_out, last_left_out)
            goes = source_route(17, [*beside[:2], HERE], 0, left_out, last_left_out)
            sent = Ether(src=ROUTER[1], dst=HOST[1], type=0x86DD)
            sent /= Raw(ipv6(ROUTING, goes + DATAGRAM, FAR, IP_OF[1], 63))
            self.passes(4, arrives(ipv6(ROUTING, came + DATAGRAM, FAR, HERE)), 1, sent)


class Wrong(EdgeTest):
    """More addresses left than there are; a group among them."""

    def runTest(self) -> None:
        self.entries.insert("sids", {"destination": f"{HERE}/128"}, "source_route_hop")
        packet = arrives(ipv6(ROUTING, source_route(17, [IP_OF[1]], 2, 0, 0) + DATAGRAM, FAR, HERE))
        error = error_about(packet, ICMPv6ParamProblem(code=0, ptr=43), 100, PROVIDER[4])
        self.refused(4, packet, "DROP_SEGMENTS_WRONG", error)
        group = ipv6(ROUTING, source_route(17, ["ff02::1"], 1, 0, 0) + DATAGRAM, FAR, HERE)
        self.drops(4, arrives(group), "DROP_SOURCE_ROUTE_GROUP")
