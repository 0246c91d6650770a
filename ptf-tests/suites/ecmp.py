"""Routes spread over several next hops: all are used, and a flow stays on one."""

from collections import Counter
from collections.abc import Iterable

import finsy as fy
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment
from scapy.packet import Packet, Raw

from harness.edge_test import EdgeTest
from small_site import IP_OF, PROVIDER, routed, to_router

FLOWS = 64


def flow(source_port: int = 1000, to: int = 1, label: int = 0) -> Packet:
    """A packet of the flow with these numbers."""
    ip = IPv6(src=IP_OF[1], dst=f"2001:db8:f00::{to:x}", fl=label)
    return to_router(ip / UDP(sport=source_port, dport=2000) / Raw(b"flow"))


class EcmpTest(EdgeTest):
    """A test with a route over both providers."""

    def setUp(self) -> None:
        """Spread 7 over next hops 1 and 2."""
        super().setUp()
        members = [
            fy.P4ActionProfileMember("ecmp_members", member_id=hop, action=fy.Action("set_ecmp_nexthop", nexthop=hop))
            for hop in (1, 2)
        ]
        self.entries.add(*members, self.group(1, 2))
        self.entries.add(
            fy.P4TableEntry("ecmp_groups", match=fy.Match(ecmp_group=7), action=fy.IndirectAction(group_id=1)),
            self.entries.entry("routes", {"destination": "2001:db8:f00::/48"}, "route_ecmp", ecmp_group=7),
        )

    @staticmethod
    def group(*hops: int) -> fy.P4ActionProfileGroup:
        """The group of these next hops."""
        members = [fy.P4Member(hop, weight=1) for hop in hops]
        return fy.P4ActionProfileGroup("ecmp_members", group_id=1, max_size=4, members=members)

    def spread(self, packets: Iterable[Packet]) -> Counter[int]:
        """How many packets leave by each provider, each of them as it must."""
        packets = list(packets)
        for packet in packets:
            self.enter(1, packet)
        found = self.collector.collect(self)
        self.assertEqual(found.punted, [])
        self.assertLessEqual({port for port, frames in found.frames.items() if frames}, {4, 5})
        ways = {
            port: Counter(bytes(routed(packet, vlan, PROVIDER[port])) for packet in packets)
            for port, vlan in ((4, 100), (5, 200))
        }
        for port, frames in found.frames.items():
            self.assertLessEqual(Counter(frames), ways[port])
        return Counter({port: len(frames) for port, frames in found.frames.items()})

    def verify_both_used(self, packets: Iterable[Packet]) -> None:
        """Of many flows each next hop gets a fair part."""
        counted = self.spread(packets)
        self.assertEqual(counted.total(), FLOWS)
        self.assertGreater(min(counted[4], counted[5]), FLOWS // 4, counted)

    def verify_one_way(self, packets: Iterable[Packet]) -> None:
        """What belongs together goes together."""
        self.assertEqual(len(self.spread(packets)), 1)


class ByPorts(EcmpTest):
    """Flows between the same hosts differ by their ports."""

    def runTest(self) -> None:
        self.verify_both_used(flow(source_port=number) for number in range(FLOWS))


class ByDestination(EcmpTest):
    """Flows to many hosts differ by their addresses."""

    def runTest(self) -> None:
        self.verify_both_used(flow(to=number) for number in range(FLOWS))


class ByFlowLabel(EcmpTest):
    """Flows whose ports nobody can see differ by their labels (RFC 6438)."""

    def runTest(self) -> None:
        self.verify_both_used(flow(label=number) for number in range(FLOWS))


class BehindOptions(EcmpTest):
    """Ports count behind extension headers too."""

    def runTest(self) -> None:
        ip = IPv6(src=IP_OF[1], dst="2001:db8:f00::1") / IPv6ExtHdrDestOpt()
        self.verify_both_used(to_router(ip / TCP(sport=number, dport=80)) for number in range(FLOWS))


class FlowStays(EcmpTest):
    """All packets of a flow go one way, whatever is in them."""

    def runTest(self) -> None:
        for number in range(8):
            self.verify_one_way(flow(source_port=number) / Raw(bytes(length)) for length in range(5))


class FragmentsStayTogether(EcmpTest):
    """All fragments of a packet go one way, the first with its ports too."""

    def runTest(self) -> None:
        for label in range(8):
            ip = IPv6(src=IP_OF[1], dst="2001:db8:f00::1", fl=label)
            first = ip / IPv6ExtHdrFragment(nh=17, m=1, id=7) / UDP(sport=label, dport=9, chksum=1) / Raw(bytes(8))
            last = ip / IPv6ExtHdrFragment(nh=17, offset=2, m=0, id=7) / Raw(b"\x12\x34\x56\x78 the end")
            self.verify_one_way([to_router(first), to_router(last)])


class MemberLeaves(EcmpTest):
    """A next hop that is taken out of the group gets nothing more; one that comes back gets its part."""

    def runTest(self) -> None:
        packets = [flow(source_port=number) for number in range(FLOWS)]
        self.entries.modify(self.group(2))
        self.assertEqual(self.spread(packets), Counter({5: FLOWS}))
        self.entries.modify(self.group(1, 2))
        self.verify_both_used(packets)


class GroupIsGone(EcmpTest):
    """A route to a spread that is not there leads nowhere."""

    def runTest(self) -> None:
        self.entries.delete(fy.P4TableEntry("ecmp_groups", match=fy.Match(ecmp_group=7)))
        self.drops(1, flow(), "DROP_NO_NEXTHOP")
