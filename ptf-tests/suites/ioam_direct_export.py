"""Direct export: packets ask, and nodes tell by digest (RFC 9326)."""

import finsy as fy
from carriers import HOP_BY_HOP, IN_IPV6, hop_less, ipv6, ipv6_of, options, out_by_first
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import FAR, HOST, IP_OF, ROUTER, out_first, to_router, udp

SOURCE, END = "fd00:5::1", "fd00:e::1"
ID = 1 << 23


def asking(next_header: int, flow: int, sequence: int) -> bytes:
    """Hop-by-hop options with both optional fields."""
    data = b"\0\4\0\1\0\xc0" + ID.to_bytes(3) + b"\0" + flow.to_bytes(4) + sequence.to_bytes(4)
    return options(next_header, b"\1\0", bytes([0x11, len(data)]) + data)


class PutOn(EdgeTest):
    """Each packet that asks has the flow's next number."""

    def runTest(self) -> None:
        self.entries.insert("routes", {"destination": "fd00::/16"}, "route_nexthop", nexthop=1)
        keys = {"destination": "2001:db8:f01::/48"}
        where = {"source": SOURCE, "destination": END}
        self.entries.insert("encapsulations", keys, "encapsulate_trace", mode=2, trace=2, **where)
        packet = to_router(udp(to="2001:db8:f01::1"))
        self.passes(1, packet, 4, out_first(packet))
        shape = {"namespace": 1, "type": ID, "flow": 0xF10F, "packets": 1, "of": 1}
        self.entries.insert("ioam_traces", {"trace": 2}, "push_direct_export", **shape)
        self.enter(1, packet)
        self.enter(1, packet)
        first, second = self.collector.collect(self).frames[4]
        number = int.from_bytes(first[14 + 40 + 20 :][:4])  # a register lives on from test to test
        for frame, sequence in ((first, number), (second, number + 1)):
            outer = ipv6(HOP_BY_HOP, asking(IN_IPV6, 0xF10F, sequence) + hop_less(ipv6_of(packet)), SOURCE, END)
            self.assertEqual(frame.hex(), bytes(out_by_first(outer)).hex())


class Told(EdgeTest):
    """The packet stays as it is; the digest has what it asked for."""

    def runTest(self) -> None:
        self.needs_own_time()
        self.entries.add(fy.P4DigestEntry("direct_export", max_list_size=1, ack_timeout_ns=0))
        known = {"port": 1, "namespace": 1}
        self.entries.insert("export_rules", known, "export_directly", node=0xABC, data=7, epoch=0)
        packet = ipv6(HOP_BY_HOP, asking(17, 9, 5) + bytes(udp())[40:], IP_OF[1], FAR)
        frame: Packet = Ether(src=HOST[1], dst=ROUTER[1], type=0x86DD) / Raw(packet)
        self.passes(1, frame, 4, out_by_first(hop_less(packet)))
        message = self.target.next("digest")
        self.assertIsNotNone(message)
        assert message is not None
        (data,) = message.digest.data
        fields = [int.from_bytes(member.bitstring) for member in data.struct.members]
        self.assertEqual(fields[:8] + fields[9:], [1, ID, 9, 5, 0xABC, 63, 1, 4, 7])
