"""Segments: packets put onto paths, led along them, and taken out of their tunnels (RFC 8754, RFC 8986)."""

from carriers import (
    IN_FRAME,
    IN_IPV4,
    IN_IPV6,
    ROUTING,
    hop_less,
    inline,
    ipv6,
    ipv6_of,
    octets,
    out_by_first,
    segment_header,
    start_of,
    tunnel,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoRequest,
    ICMPv6PacketTooBig,
    ICMPv6ParamProblem,
    IPv6,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import FAR, HOST, IP_OF, PROVIDER, ROUTER, error_about, out_first, to_router, udp

INLINE, TUNNEL, AUTOMATIC, REDUCED, FRAME, FRAME_REDUCED = range(1, 7)
SOURCE = "fd00:5::1"
HERE = "fd00:1::1"
NEXT = "fd00:99::1"
PATH = tuple(f"fd00:{number:x}::1" for number in range(0x100, 0x124))
BOUND = "2001:db8:f01::1"
DATAGRAM = bytes(udp())[40:]


class SegmentsTest(EdgeTest):
    """A test where segments lie behind the first provider."""

    def setUp(self) -> None:
        """Give them a route."""
        super().setUp()
        self.entries.insert("routes", {"destination": "fd00::/16"}, "route_nexthop", nexthop=1)

    def put(self, policy: int, path: tuple[str, ...]) -> None:
        """Make a policy; its own entry holds as many segments as leave a multiple of four."""
        names = ("first", "second", "third", "fourth")
        own = (len(path) - 1) % 4 + 1
        lists = [path[at : at + 4] for at in range(own, len(path), 4)]
        segments: dict[str, object] = dict(zip(names, path[:own], strict=False))
        keys = {"policy": policy}
        self.entries.insert(
            "sr_policies", keys, f"push_segments_{own}", source=SOURCE, extensions=len(lists), hmac=0, **segments
        )
        for number, four in enumerate(lists, 1):
            segments = dict(zip(names, four, strict=True))
            self.entries.insert(f"segment_list_extension_{number}", keys, f"push_extension_{number}", **segments)

    def bind(self, mode: int, policy: int, prefix: str = "2001:db8:f01::/48") -> None:
        """Put packets to a prefix onto a policy's path."""
        keys = {"destination": prefix}
        self.entries.insert("encapsulations", keys, "encapsulate_segments", mode=mode, policy=policy, trace=0)

    def sid(self, action: str, **parameters: object) -> None:
        """Make HERE a segment."""
        self.entries.insert("sids", {"destination": f"{HERE}/128"}, action, **parameters)


def arrives(packet: bytes) -> Packet:
    """As it comes from the first provider."""
    frame: Packet = Ether(src=PROVIDER[4], dst=ROUTER[100], type=0x86DD) / Raw(packet)
    return frame


def leaves(packet: bytes, type_: int = 0x86DD) -> Packet:
    """As it goes to the first host."""
    frame: Packet = Ether(src=ROUTER[1], dst=HOST[1], type=type_) / Raw(packet)
    return frame


def advanced(packet: bytes, to: str) -> bytes:
    """One segment and one hop less; the routing header stands first."""
    packet = hop_less(packet)
    return packet[:24] + octets(to) + packet[40:43] + bytes([packet[43] - 1]) + packet[44:]


class Modes(SegmentsTest):
    """Inline, in a tunnel, with the reduced header, with the frame inside."""

    def runTest(self) -> None:
        packet = to_router(udp(to=BOUND, tc=8, fl=0x12345))
        inner = hop_less(ipv6_of(packet))
        self.put(1, PATH[:3])
        frame = bytes(packet)
        expected = {
            INLINE: inline(inner, PATH[:3]),
            TUNNEL: tunnel(inner, PATH[:3], SOURCE),
            AUTOMATIC: tunnel(inner, PATH[:3], SOURCE),
            REDUCED: tunnel(inner, PATH[:3], SOURCE, reduced=True),
            FRAME: tunnel(frame, PATH[:3], SOURCE, False, IN_FRAME, start=start_of(inner)),
            FRAME_REDUCED: tunnel(frame, PATH[:3], SOURCE, True, IN_FRAME, start=start_of(inner)),
        }
        for mode, outer in expected.items():
            prefix = f"2001:db8:f01::/{48 + mode}"
            self.bind(mode, 1, prefix)
            self.passes(1, packet, 4, out_by_first(outer))


class Lengths(SegmentsTest):
    """One to 28 segments: BMv2 has room for 512 octets before a packet."""

    def runTest(self) -> None:
        for count in (1, 2, 4, 5, 8, 13, 16, 21, 28):
            self.put(count, PATH[:count])
            prefix = f"2001:db8:f01:{count:x}::"
            self.bind(TUNNEL, count, f"{prefix}/64")
            packet = to_router(udp(to=f"{prefix}1"))
            self.passes(1, packet, 4, out_by_first(tunnel(hop_less(ipv6_of(packet)), PATH[:count], SOURCE)))


class LiveChange(SegmentsTest):
    """A policy changes, is bound elsewhere, is unbound: each packet meets one state or the other."""

    def runTest(self) -> None:
        packet = to_router(udp(to=BOUND))
        inner = hop_less(ipv6_of(packet))
        self.passes(1, packet, 4, out_first(packet))
        self.put(1, PATH[:1])
        self.put(2, PATH[1:3])
        self.bind(TUNNEL, 1)
        self.passes(1, packet, 4, out_by_first(tunnel(inner, PATH[:1], SOURCE)))
        policy = self.entries.entry(
            "sr_policies", {"policy": 1}, "push_segments_1", source=SOURCE, extensions=0, hmac=0, first=NEXT
        )
        self.entries.modify(policy)
        self.passes(1, packet, 4, out_by_first(tunnel(inner, (NEXT,), SOURCE)))
        keys = {"destination": "2001:db8:f01::/48"}
        other = self.entries.entry("encapsulations", keys, "encapsulate_segments", mode=TUNNEL, policy=2, trace=0)
        self.entries.modify(other)
        self.passes(1, packet, 4, out_by_first(tunnel(inner, PATH[1:3], SOURCE)))
        self.entries.delete(other)
        self.passes(1, packet, 4, out_first(packet))


class LongestPrefix(SegmentsTest):
    """The longest prefix decides, and may say that nothing is put on."""

    def runTest(self) -> None:
        self.put(1, PATH[:1])
        self.put(2, PATH[:2])
        self.bind(TUNNEL, 1, "2001:db8::/32")
        self.bind(TUNNEL, 2, "2001:db8:f01::/48")
        self.entries.insert("encapsulations", {"destination": "2001:db8:f01:1::/64"}, "no_encapsulation")
        for destination, count in ((FAR, 1), (BOUND, 2), ("2001:db8:f01:1::1", 0)):
            packet = to_router(udp(to=destination))
            inner = hop_less(ipv6_of(packet))
            carried = out_by_first(tunnel(inner, PATH[:count], SOURCE)) if count else out_first(packet)
            self.passes(1, packet, 4, carried)


class RoomThatIsLeft(SegmentsTest):
    """A sender is told the MTU that is left for its packet."""

    def runTest(self) -> None:
        self.put(1, PATH[:3])
        self.bind(TUNNEL, 1)
        room = 1500 - 40 - 8 - 3 * 16
        fits = to_router(IPv6(src=IP_OF[1], dst=BOUND) / UDP() / Raw(bytes(room - 48)))
        self.passes(1, fits, 4, out_by_first(tunnel(hop_less(ipv6_of(fits)), PATH[:3], SOURCE)))
        big = to_router(IPv6(src=IP_OF[1], dst=BOUND) / UDP() / Raw(bytes(room - 47)))
        error = error_about(big, ICMPv6PacketTooBig(mtu=room), 1, HOST[1])
        self.refused(1, big, "DROP_PACKET_TOO_BIG", error)


class PolicyThatIsNotThere(SegmentsTest):
    """A packet bound to it ends here."""

    def runTest(self) -> None:
        self.bind(TUNNEL, 7)
        self.drops(1, to_router(udp(to=BOUND)), "DROP_POLICY_UNKNOWN")


class FirstSegmentWithoutRoute(SegmentsTest):
    """The sender is told, about the packet that it sent."""

    def runTest(self) -> None:
        self.put(1, ("fc00::1",))
        self.bind(TUNNEL, 1)
        packet = to_router(udp(to=BOUND))
        self.refused(1, packet, "DROP_NO_ROUTE", error_about(packet, ICMPv6DestUnreach(code=0), 1, HOST[1]))


class ToTheNextSegment(SegmentsTest):
    """End: TLVs, flags and tag stay."""

    def runTest(self) -> None:
        self.sid("end", flavours=0)
        for count in (2, 31):
            path = (HERE, NEXT, *PATH[: count - 2])
            header = segment_header(17, path, count - 1, tlvs=b"\5\x26" + bytes(38), flags=1, tag=7)
            packet = ipv6(ROUTING, header + DATAGRAM, FAR, HERE)
            self.passes(4, arrives(packet), 4, out_by_first(advanced(packet, NEXT)))


class PenultimateSegmentPops(SegmentsTest):
    """PSP: the header is gone with the last segment but one, and only there."""

    def runTest(self) -> None:
        self.sid("end", flavours=1)
        packet = ipv6(ROUTING, segment_header(17, (HERE, IP_OF[1]), 1) + DATAGRAM, FAR, HERE)
        self.passes(4, arrives(packet), 1, leaves(ipv6(17, DATAGRAM, FAR, IP_OF[1], 63)))
        packet = ipv6(ROUTING, segment_header(17, (HERE, NEXT, IP_OF[1]), 2) + DATAGRAM, FAR, HERE)
        self.passes(4, arrives(packet), 4, out_by_first(advanced(packet, NEXT)))


class ByNextHopAndByTable(SegmentsTest):
    """End.X and End.T."""

    def runTest(self) -> None:
        self.entries.insert("vrf_routes", {"vrf": 5, "destination": "fd00::/16"}, "route_nexthop", nexthop=2)
        other = "fd00:1::2"
        self.sid("end_x", flavours=0, nexthop=2)
        self.entries.insert("sids", {"destination": f"{other}/128"}, "end_t", flavours=0, vrf=5)
        for here in (HERE, other):
            packet = ipv6(ROUTING, segment_header(17, (here, NEXT), 1) + DATAGRAM, FAR, here)
            sent = Ether(src=ROUTER[200], dst=PROVIDER[5], type=0x86DD) / Raw(advanced(packet, NEXT))
            self.passes(4, arrives(packet), 5, sent)


class ByPolicy(SegmentsTest):
    """End.B6.Encaps and its reduced form."""

    def runTest(self) -> None:
        self.put(1, PATH[:2])
        self.sid("end_b6_encaps", flavours=0, mode=TUNNEL, policy=1)
        other = "fd00:1::2"
        reduced = {"flavours": 0, "mode": REDUCED, "policy": 1}
        self.entries.insert("sids", {"destination": f"{other}/128"}, "end_b6_encaps", **reduced)
        for here in (HERE, other):
            packet = ipv6(ROUTING, segment_header(17, (here, NEXT), 1) + DATAGRAM, FAR, here)
            outer = tunnel(advanced(packet, NEXT), PATH[:2], SOURCE, here == other)
            self.passes(4, arrives(packet), 4, out_by_first(outer))


class TunnelsEnd(SegmentsTest):
    """End.DT6, with a routing header and without; End.DX2."""

    def runTest(self) -> None:
        self.sid("end_dt6", vrf=0)
        inner = ipv6(17, DATAGRAM, FAR, IP_OF[1])
        self.passes(4, arrives(ipv6(IN_IPV6, inner, FAR, HERE)), 1, leaves(hop_less(inner)))
        header = segment_header(IN_IPV6, (NEXT, HERE), 0)
        self.passes(4, arrives(ipv6(ROUTING, header + inner, FAR, HERE)), 1, leaves(hop_less(inner)))
        other = "fd00:1::2"
        self.entries.insert("sids", {"destination": f"{other}/128"}, "end_dx2", port=2)
        frame = Ether(src="02:00:00:00:07:01", dst="02:00:00:00:07:02", type=0x88B5) / Raw(b"anything at all")
        self.passes(4, arrives(ipv6(IN_FRAME, bytes(frame), FAR, other)), 2, frame)


class TunnelsOfIpv4End(SegmentsTest):
    """End.DT4: by the routes of IPv4, with the checksum right again."""

    def runTest(self) -> None:
        self.sid("end_dt4", vrf=0)
        route = {"vrf": 0, "destination": "192.0.2.0/24"}
        self.entries.insert("ipv4_vrf_routes", route, "ipv4_connected", vlan=1)
        mapped = {"vlan": 1, "address": "::ffff:192.0.2.2"}
        self.entries.insert("neighbours", mapped, "set_neighbour", port=1, mac=HOST[1])
        came = IP(src="198.51.100.1", dst="192.0.2.2", ttl=9) / UDP() / Raw(b"four")
        goes = IP(src="198.51.100.1", dst="192.0.2.2", ttl=8) / UDP() / Raw(b"four")
        self.passes(4, arrives(ipv6(IN_IPV4, bytes(came), FAR, HERE)), 1, leaves(bytes(goes), 0x0800))


class NotForUs(SegmentsTest):
    """Segments left, but the destination is somebody else's: only routed, whatever the header says."""

    def runTest(self) -> None:
        self.sid("end", flavours=0)
        for left in (1, 9):
            packet = ipv6(ROUTING, segment_header(17, (NEXT, HERE), left) + DATAGRAM, FAR, NEXT)
            self.passes(4, arrives(packet), 4, out_by_first(hop_less(packet)))


class WrongHeaders(SegmentsTest):
    """The sender is told where the problem is."""

    def runTest(self) -> None:
        self.sid("end", flavours=0)
        for header in (segment_header(17, (NEXT, HERE), 3), segment_header(17, (NEXT, HERE), 1, last=2)):
            packet = arrives(ipv6(ROUTING, header + DATAGRAM, FAR, HERE))
            error = error_about(packet, ICMPv6ParamProblem(code=0, ptr=43), 100, PROVIDER[4])
            self.refused(4, packet, "DROP_SEGMENTS_WRONG", error)
        packet = arrives(ipv6(ROUTING, segment_header(17, (NEXT, HERE), 0) + DATAGRAM, FAR, HERE))
        error = error_about(packet, ICMPv6ParamProblem(code=4, ptr=80), 100, PROVIDER[4])
        self.refused(4, packet, "DROP_UPPER_LAYER", error)


class PingOfSegment(SegmentsTest):
    """The controller answers it."""

    def runTest(self) -> None:
        self.sid("end", flavours=0)
        ping = bytes(IPv6(src=FAR, dst=HERE) / ICMPv6EchoRequest(data=b"there?"))[40:]
        packet = arrives(ipv6(ROUTING, segment_header(58, (NEXT, HERE), 0) + ping, FAR, HERE))
        self.punts(4, packet, "PUNT_LOCAL", 100)
