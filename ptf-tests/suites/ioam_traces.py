"""Traces of in-situ OAM: where they begin, pass and end (RFC 9197, RFC 9322, RFC 9486)."""

from carriers import (
    HOP_BY_HOP,
    IN_IPV6,
    ROUTING,
    Node,
    Trace,
    hop_less,
    ipv6,
    ipv6_of,
    node_length,
    options,
    out_by_first,
    segment_header,
    start_of,
    tunnel,
)
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import ADDRESS, CPU, FAR, HOST, IP_OF, PROVIDER, ROUTER, out_first, to_router, udp

INLINE, TUNNEL, AUTOMATIC = 1, 2, 3
SOURCE, END, BOUND = "fd00:5::1", "fd00:e::1", "2001:db8:f01::1"
NAMESPACE, FOREIGN = 1, 99
ID, INTERFACES, SNAPSHOT = 1 << 23, 1 << 22, 1 << 1
OVERFLOW, LOOPBACK, ACTIVE = 8, 4, 2
DATAGRAM = bytes(udp())[40:]


class TraceTest(EdgeTest):
    """A test where the node knows a namespace on the ports of the first host and of the first provider."""

    def setUp(self) -> None:
        """Say who this node is."""
        super().setUp()
        self.entries.insert("routes", {"destination": "fd00::/16"}, "route_nexthop", nexthop=1)
        node = Node()
        said = {"node": node.id, "node_wide": node.id_wide, "data": node.data, "data_wide": node.data_wide}
        for port in (1, 4, CPU):
            keys = {"port": port, "namespace": NAMESPACE}
            self.entries.insert(
                "ioam_namespaces", keys, "set_namespace", schema=node.schema, snapshot=0, epoch=0, **said
            )

    def put(
        self, type_: int, words: int, *, namespace: int = NAMESPACE, flags: int = 0, share: tuple[int, int] = (1, 1)
    ) -> None:
        """Make trace 1."""
        shape = {"namespace": namespace, "type": type_, "node_length": node_length(type_), "words": words}
        packets, of = share
        self.entries.insert("ioam_traces", {"trace": 1}, "push_trace", flags=flags, packets=packets, of=of, **shape)

    def bind(self, mode: int) -> None:
        """Bind trace 1."""
        where = {"source": SOURCE, "destination": END}
        keys = {"destination": "2001:db8:f01::/48"}
        self.entries.insert("encapsulations", keys, "encapsulate_trace", mode=mode, trace=1, **where)


def begun(type_: int, words: int, node: Node, flags: int = 0) -> Trace:
    """A trace with the first node's data in it."""
    mine = node.words(type_)
    left = words - len(mine) // 4
    return Trace(type_, node_length(type_), left, bytes(4 * left) + mine, NAMESPACE, flags)


def in_tunnel(inner: bytes, trace: Trace) -> Packet:
    """As it leaves in the trace's tunnel."""
    return out_by_first(ipv6(HOP_BY_HOP, trace.options(IN_IPV6) + inner, SOURCE, END, start=start_of(inner)))


def put_in(packet: bytes, trace: Trace) -> bytes:
    """A packet with a trace of its own."""
    payload = trace.options(packet[6]) + packet[40:]
    return packet[:4] + len(payload).to_bytes(2) + b"\0" + packet[7:40] + payload


def carrying(trace: Trace, hop_limit: int = 64) -> bytes:
    """A host's packet with a trace."""
    return ipv6(HOP_BY_HOP, options(17, b"\1\0", trace.option()) + DATAGRAM, IP_OF[1], FAR, hop_limit)


def from_first_host(packet: bytes) -> Packet:
    """As it comes in."""
    frame: Packet = Ether(src=HOST[1], dst=ROUTER[1], type=0x86DD) / Raw(packet)
    return frame


class BeginsInTunnel(TraceTest):
    """Of several sizes, to 244 octets, with this node's data in it."""

    def runTest(self) -> None:
        self.bind(TUNNEL)
        packet = to_router(udp(to=BOUND))
        for words in (1, 2, 12, 31, 32, 61):
            self.put(ID, words)
            self.passes(1, packet, 4, in_tunnel(hop_less(ipv6_of(packet)), begun(ID, words, Node(hop_limit=64))))
            self.entries.delete(self.entries.entry("ioam_traces", {"trace": 1}, "no_trace"))


class BeginsInline(TraceTest):
    """By explicit wish into any packet; by itself into the router's own only."""

    def runTest(self) -> None:
        self.put(ID | INTERFACES, 6)
        packet = to_router(udp(to=BOUND))
        self.bind(INLINE)
        put = put_in(hop_less(ipv6_of(packet)), begun(ID | INTERFACES, 6, Node()))
        self.passes(1, packet, 4, out_by_first(put))
        where = {"source": SOURCE, "destination": END}
        keys = {"destination": "2001:db8:f01::/48"}
        automatic = self.entries.entry("encapsulations", keys, "encapsulate_trace", mode=AUTOMATIC, trace=1, **where)
        self.entries.modify(automatic)
        trace = begun(ID | INTERFACES, 6, Node(hop_limit=64))
        self.passes(1, packet, 4, in_tunnel(hop_less(ipv6_of(packet)), trace))
        own = bytes(IPv6(src=ADDRESS[1], dst=BOUND) / ICMPv6EchoRequest(data=b"mine"))
        put = put_in(hop_less(own), begun(ID | INTERFACES, 6, Node()))
        self.verify([self.out("SUBMIT", from_first_host(own), 1)], [(4, out_by_first(put))])


class SomeOfMany(TraceTest):
    """Two of five packets, in their turn."""

    def runTest(self) -> None:
        self.put(ID, 3, share=(2, 5))
        self.bind(TUNNEL)
        packet = to_router(udp(to=BOUND))
        traced = in_tunnel(hop_less(ipv6_of(packet)), begun(ID, 3, Node(hop_limit=64)))
        # Earlier tests took turns of the same trace: a whole round shows its share, whatever its beginning.
        for _ in range(5):
            self.enter(1, packet)
        found = self.collector.collect(self)
        frames = found.frames[4]
        self.assertEqual(frames.count(bytes(traced)), 2)
        self.assertEqual(frames.count(bytes(out_first(packet))), 3)


class Passes(TraceTest):
    """This node's data goes into its slot: each type, behind what others wrote, in front of what is free."""

    def runTest(self) -> None:
        for type_ in (*(1 << 23 - bit for bit in (0, 1, 5, 7, 8, 9, 10, 11)), 0xC5F000, ID | SNAPSHOT, ID | 0xFFC):
            mine = Node().words(type_)
            need = len(mine) // 4
            for free, behind in ((need, b""), (need + 2, bytes(range(4 * need)))):
                came = Trace(type_, node_length(type_), free, bytes(range(4 * free)) + behind)
                data = came.list[: 4 * (free - need)] + mine + behind
                goes = Trace(type_, came.node_length, free - need, data)
                self.passes(1, from_first_host(carrying(came)), 4, out_by_first(carrying(goes, 63)))


class IsFull(TraceTest):
    """It is marked, and nothing else; once marked, it is left alone."""

    def runTest(self) -> None:
        for came in (Trace(ID, 1, 0, bytes(8)), Trace(ID | INTERFACES, 2, 1, bytes(8))):
            marked = Trace(came.type, came.node_length, came.left, came.list, NAMESPACE, OVERFLOW)
            self.passes(1, from_first_host(carrying(came)), 4, out_by_first(carrying(marked, 63)))
        marked = Trace(ID, 1, 2, bytes(8), NAMESPACE, OVERFLOW)
        self.passes(1, from_first_host(carrying(marked)), 4, out_by_first(carrying(marked, 63)))


class IsLeftAlone(TraceTest):
    """Foreign, or contradicting itself: the packet is only routed."""

    def runTest(self) -> None:
        for trace in (
            Trace(ID, 1, 2, bytes(8), FOREIGN),
            Trace(ID, 1, 3, bytes(8)),
            Trace(ID, 2, 2, bytes(8)),
            Trace(ID | INTERFACES, 1, 2, bytes(8)),
        ):
            self.passes(1, from_first_host(carrying(trace)), 4, out_by_first(carrying(trace, 63)))


class OptionOverTheEnd(TraceTest):
    """A hop-by-hop option longer than its header."""

    def runTest(self) -> None:
        packet = ipv6(HOP_BY_HOP, b"\x11\0\5\5\0\0\0\0" + DATAGRAM, IP_OF[1], FAR)
        self.drops(1, from_first_host(packet), "DROP_OPTION_PAST_END")


class Ends(TraceTest):
    """With its tunnel: the packet goes on, the controller gets the trace; of a probe only that."""

    def runTest(self) -> None:
        self.entries.insert("sids", {"destination": f"{END}/128"}, "end_dt6", vrf=0)
        inner = ipv6(17, DATAGRAM, FAR, IP_OF[1])
        node = Node(into=4, out=CPU, hop_limit=64)
        for flags in (0, ACTIVE):
            came = ipv6(HOP_BY_HOP, Trace(ID, 1, 3, bytes(12), flags=flags).options(IN_IPV6) + inner, FAR, END)
            told = ipv6(HOP_BY_HOP, begun(ID, 3, node, flags).options(IN_IPV6) + inner, FAR, END)
            goes = [(1, Ether(src=ROUTER[1], dst=HOST[1], type=0x86DD) / Raw(hop_less(inner)))] if not flags else []
            self.verify([(4, arrives(came))], goes, [self.punt("PUNT_TRACE", 4, 100, arrives(told))])


class GoesBack(TraceTest):
    """The controller gets a copy to send back, if the type is the one that may be looped."""

    def runTest(self) -> None:
        came = carrying(Trace(ID, 1, 3, bytes(12), flags=LOOPBACK))
        goes = carrying(begun(ID, 3, Node(), LOOPBACK), 63)
        told = carrying(begun(ID, 3, Node(out=CPU, hop_limit=64), LOOPBACK))
        copied = [self.punt("PUNT_LOOPBACK", 1, 1, from_first_host(told))]
        self.verify([(1, from_first_host(came))], [(4, out_by_first(goes))], copied)
        came = carrying(Trace(INTERFACES, 1, 3, bytes(12), flags=LOOPBACK))
        goes = carrying(begun(INTERFACES, 3, Node(), LOOPBACK), 63)
        self.passes(1, from_first_host(came), 4, out_by_first(goes))


class ProbesGoRound(TraceTest):
    """A probe of the controller: as it leaves, as the peer sends it back in a tunnel, and as it comes back."""

    def runTest(self) -> None:
        link, mac, segment, back = 4095, "02:00:00:00:0f:ff", "fd00:e::2", ADDRESS[1]
        self.entries.insert("ports", {"port": CPU}, "set_port_vlan", vlan=link)
        self.entries.insert("vlan_members", {"port": CPU, "vlan": link}, "admit_to_vlan")
        self.entries.insert("interfaces", {"vlan": link}, "set_interface", mac=mac, address="100::1")
        here = Node()
        written = here.words(ID)

        def probe(trace: Trace, left: int, to: str, hop_limit: int = 64) -> bytes:
            rest = trace.options(ROUTING) + segment_header(59, (segment, back), left) + bytes(range(16))
            return ipv6(HOP_BY_HOP, rest, back, to, hop_limit)

        new = probe(Trace(ID, 1, 2, bytes(8), flags=ACTIVE), 1, segment)
        submitted = Ether(src=HOST[1], dst=mac, type=0x86DD) / Raw(new)
        leaves = probe(Trace(ID, 1, 1, bytes(4) + written, flags=ACTIVE), 1, segment, 63)
        self.verify([self.out("SUBMIT", submitted, CPU)], [(4, out_by_first(leaves))])

        self.entries.insert(
            "sr_policies", {"policy": 1}, "push_segments_1", source=SOURCE, extensions=0, hmac=0, first=END
        )
        keys = {"destination": f"{segment}/128"}
        self.entries.insert("sids", keys, "end_b6_encaps", flavours=0, mode=TUNNEL, policy=1)
        came = probe(Trace(ID, 1, 1, bytes(4) + bytes(4), flags=ACTIVE), 1, segment)
        inside = probe(Trace(ID, 1, 0, written + bytes(4), flags=ACTIVE), 0, back, 63)
        self.passes(4, arrives(came), 4, out_by_first(tunnel(inside, (END,), SOURCE)))

        for returned in (ipv6(IN_IPV6, inside, SOURCE, back), inside):
            self.punts(4, arrives(returned), "PUNT_LOCAL", 100)


def arrives(packet: bytes) -> Packet:
    """As it comes from the first provider."""
    frame: Packet = Ether(src=PROVIDER[4], dst=ROUTER[100], type=0x86DD) / Raw(packet)
    return frame
