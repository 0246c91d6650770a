"""Every drop reason, once: the packet ends, nobody is told, and exactly this reason is counted."""

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6ND_RA, ICMPv6TimeExceeded, IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from suites import linux_interfaces, simple_security

from harness.edge_test import EdgeTest
from small_site import (
    DROP,
    FAR,
    HOST,
    IP_OF,
    ROUTER,
    fragment,
    from_host,
    in_chain,
    options,
    to_router,
    udp,
)

Case = tuple[int, Packet | bytes]


def unanswered(to: str, size: int = 0, hop_limit: int = 64) -> Packet:
    """A packet about which there is no ICMPv6 error, since it is one."""
    return to_router(IPv6(src=IP_OF[1], dst=to, hlim=hop_limit) / ICMPv6TimeExceeded() / Raw(bytes(size)))


def from_trunk(vlan: int, to: str) -> Packet:
    """A packet of the third host in a VLAN."""
    return Ether(src=HOST[3], dst=to) / Dot1Q(vlan=vlan) / udp(3)


DISCOVERY_FROM_AFAR = IPv6(src="fe80::11", dst="ff02::1", hlim=254) / ICMPv6ND_RA()
TO_SECOND = {"vlan": 20, "destination": HOST[2]}

CASES: dict[str, Case] = {
    "DROP_TRUNCATED": (1, bytes(to_router(udp()))[:40]),
    "DROP_VERSION": (1, to_router(IPv6(src=IP_OF[1], dst=FAR, version=5) / UDP())),
    "DROP_PAYLOAD_LENGTH": (1, in_chain(plen=200)),
    "DROP_HOP_BY_HOP_NOT_FIRST": (1, in_chain((60, options()), (0, options()))),
    "DROP_EXTENSION_PAST_END": (1, in_chain((60, bytes([40]) + bytes(6)))),
    "DROP_TOO_MANY_EXTENSIONS": (1, in_chain(*[(60, options())] * 11)),
    "DROP_FIRST_FRAGMENT_SHORT": (1, in_chain((44, fragment(0, 1)), upper=6, payload=bytes(4))),
    "DROP_DISCOVERY_INVALID": (1, from_host(DISCOVERY_FROM_AFAR, "33:33:00:00:00:01")),
    "DROP_AUTHENTICATION_LENGTH": (1, in_chain((51, bytes([0]) + bytes(6)), upper=59, payload=bytes(16))),
    "DROP_PORT_UNKNOWN": (6, from_host(udp(), HOST[2])),
    "DROP_VLAN_INGRESS": (1, Ether(src=HOST[1], dst=HOST[2]) / Dot1Q(vlan=20) / udp()),
    "DROP_VLAN_EGRESS": (3, from_trunk(20, HOST[2])),
    "DROP_SOURCE_MAC": (1, Ether(src=ROUTER[1], dst=HOST[2]) / udp()),
    "DROP_RESERVED_GROUP": (1, Ether(src=HOST[1], dst="01:80:c2:00:00:00", type=0x88CC) / Raw(bytes(46))),
    "DROP_NO_FLOOD_GROUP": (3, from_trunk(30, "02:00:00:00:00:77")),
    "DROP_SAME_PORT": (2, from_host(udp(2), HOST[2], 1)),
    "DROP_NOT_ROUTED": (1, from_host(IP(src="192.0.2.1", dst="192.0.2.2") / UDP(), ROUTER[1])),
    "DROP_PACKET_OUT": EdgeTest.out("SEND", udp(), 512),
    "DROP_FLOOD_COPY": (3, from_trunk(20, HOST[1])),
    "DROP_SOURCE_ADDRESS": (1, to_router(IPv6(src="ff02::1", dst=FAR) / UDP())),
    "DROP_DESTINATION_ADDRESS": (1, to_router(IPv6(src=IP_OF[1], dst="ff05::2") / UDP())),
    "DROP_LINK_LOCAL": (1, to_router(udp(to="fe80::a1"))),
    "DROP_NO_ROUTE": (1, unanswered("fd00::1")),
    "DROP_PROHIBITED": (1, unanswered("2001:db8:911::1")),
    "DROP_DISCARD": (1, to_router(udp(to="2001:db8:912::1"))),
    "DROP_HOP_LIMIT": (1, unanswered(FAR, hop_limit=1)),
    "DROP_NO_NEXTHOP": (1, to_router(udp(to="2001:db8:bad::1"))),
    "DROP_PACKET_TOO_BIG": (1, unanswered(FAR, size=1500)),
    "DROP_INTERFACE_UNKNOWN": (1, to_router(udp(to="2001:db8:20::1"))),
}

# They need more than one packet: suites/punt_meters.py, suites/schedules.py, and test_duplicate_ack_hold.py and
# test_path_reports.py of p4src/tests.
ELSEWHERE = {
    "DROP_PUNT_RATE",
    "DROP_PUNT_SOURCE_RATE",
    "DROP_PUNT_PORT_RATE",
    "DROP_PUNT_TOTAL_RATE",
    "DROP_DUPLICATE_HELD",
    "DROP_REPORT_HEARD",
    "DROP_ELIMINATED",
}
# Of packet buffers, which only the embedded switch has: p4src/tests/test_packet_buffers.py.
BUFFERS = {"DROP_COPY_NEEDLESS", "DROP_HELD_FOR_ORDER", "DROP_CAME_TWICE", "DROP_QUEUED", "DROP_QUEUE_FULL"}
# Of first-hop security: suites/first_hop_security.py.
FIRST_HOP = {name for name, number in DROP.items() if 30 <= number <= 39}
# Of encapsulation, whose cases stand in p4src/tests.
ENCAPSULATION = {name for name, number in DROP.items() if 70 <= number <= 83}
# Of sessions: suites/sessions.py.
SESSIONS = {name for name, number in DROP.items() if 90 <= number <= 97}
# Of ILNP: suites/ilnp.py, and p4src/tests/test_ilnp_flows.py for a full table of flows.
ILNP = {name for name, number in DROP.items() if 100 <= number <= 105}
# Of ESP: suites/esp.py.
ESP = {"DROP_ESP_LOCATORS", "DROP_ESP_SHORT"}
# Of a site's border: suites/nptv6.py, and test_borders.py, test_nptv6_providers.py and test_nptv6_flow_slots.py
# of p4src/tests.
BORDERS = {name for name, number in DROP.items() if 110 <= number <= 114}
# It needs more flows than a test may send: p4src/tests/test_simple_security.py.
RECORDS = {"DROP_RECORDS_FULL"}
# Between the two passes of one packet an interface would have to go, or another packet to come.
NEVER_SEEN = {"DROP_ERROR_NO_SOURCE", "DROP_REPORT_NEEDLESS"}


class EachReason(EdgeTest):
    """Each reason by a packet of its own."""

    def runTest(self) -> None:
        insert = self.entries.insert
        insert("vlan_members", {"port": 3, "vlan": 30}, "admit_to_vlan")
        insert("fdb", TO_SECOND, "send_to_port", port=2)
        insert("routes", {"destination": "fe80::/10"}, "route_nexthop", nexthop=1)
        insert("routes", {"destination": "2001:db8:20::/64"}, "route_connected", vlan=20)
        insert("neighbours", {"vlan": 20, "address": "2001:db8:20::1"}, "set_neighbour", port=3, mac=HOST[3])
        for reason, (port, packet) in CASES.items():
            with self.subTest(reason):
                self.drops(port, packet, reason)


class NoReasonWithoutATest(EdgeTest):
    """The program has no reason that is tested nowhere."""

    def runTest(self) -> None:
        elsewhere = ELSEWHERE | FIRST_HOP | ENCAPSULATION | SESSIONS | ILNP | ESP | BORDERS | BUFFERS
        elsewhere |= simple_security.REASONS | linux_interfaces.REASONS | RECORDS
        self.assertEqual(set(DROP) - set(CASES), elsewhere | NEVER_SEEN)
