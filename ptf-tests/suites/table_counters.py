"""Every table counts packets and bytes of each entry."""

import finsy as fy
from scapy.layers.inet6 import ICMPv6ND_NS, IPv6

from harness.edge_test import EdgeTest
from small_site import ADDRESS, HOST, IP_OF, ROUTER, from_host, out_first, to_router, udp

Counted = dict[str, dict[str, int | str]]

UNKNOWN = "02:00:00:00:00:77"


class CounterTest(EdgeTest):
    """A test of what entries count."""

    def verify_counted(self, tables: Counted, packets: int, bytes_: int) -> None:
        """Each of these entries counted so much."""
        for table, keys in tables.items():
            with self.subTest(table):
                counted = self.entry_counter(table, **keys)
                self.assertEqual(counted, (packets, bytes_))


class Routed(CounterTest):
    """A routed packet is counted by each table on its way."""

    def runTest(self) -> None:
        self.entries.insert("learned_macs", {"port": 1, "vlan": 1, "source": HOST[1]}, "known_mac")
        packet = to_router(udp())
        for _ in range(3):
            self.passes(1, packet, 4, out_first(packet))
        tables: Counted = {
            "vlan_members": {"port": 1, "vlan": 1},
            "interfaces": {"vlan": 1},
            "learned_macs": {"port": 1, "vlan": 1, "source": HOST[1]},
            "routes": {"destination": "2001:db8::/32"},
            "nexthops": {"nexthop": 1},
            "neighbours": {"vlan": 100, "address": "fe80::a1"},
            "source_macs": {"vlan": 100},
            "vlan_tags": {"port": 4, "vlan": 100},
        }
        self.verify_counted(tables, 3, 3 * len(packet))
        marked = self.collector.entered[1]
        self.assertEqual(self.entry_counter("ports", port=1)[0] - marked, 3)


class Bridged(CounterTest):
    """A bridged packet, and one that is flooded."""

    def runTest(self) -> None:
        known, unknown = from_host(udp(to=IP_OF[2]), HOST[2]), from_host(udp(), UNKNOWN)
        self.passes(1, known, 2)
        self.verify_counted({"fdb": {"vlan": 1, "destination": HOST[2]}}, 1, len(known))
        self.floods(1, unknown)
        self.verify_counted({"flood_groups": {"vlan": 1}}, 1, len(unknown))
        self.verify_counted({"fdb": {"vlan": 1, "destination": HOST[2]}}, 1, len(known))


class ToAPortWithAnMtu(CounterTest):
    """The entry of a port's MTU counts what is routed to it."""

    def runTest(self) -> None:
        self.entries.insert("port_mtus", {"port": 4}, "set_port_mtu", bytes=1400)
        packet = to_router(udp())
        self.passes(1, packet, 4, out_first(packet))
        self.assertEqual(self.entry_counter("port_mtus", port=4)[0] - self.collector.left[4], 1)


class ForTheRouter(CounterTest):
    """A solicitation for an address of the router."""

    def runTest(self) -> None:
        ip = IPv6(src=IP_OF[1], dst="fe80::1", hlim=255) / ICMPv6ND_NS(tgt=ADDRESS[1])
        packet = from_host(ip, ROUTER[1])
        self.punts(1, packet, "PUNT_NEIGHBOUR_SOLICITATION")
        self.verify_counted({"own_addresses": {"vlan": 1, "target": ADDRESS[1]}}, 1, len(packet))


class SetBack(CounterTest):
    """The controller may set a counter, and counting goes on from there."""

    def runTest(self) -> None:
        packet = to_router(udp())
        self.passes(1, packet, 4, out_first(packet))
        entry = fy.P4TableEntry("nexthops", match=fy.Match(nexthop=1))
        data = fy.P4CounterData(packet_count=0, byte_count=0)
        self.entries.modify(fy.P4DirectCounterEntry(table_entry=entry, data=data))
        self.verify_counted({"nexthops": {"nexthop": 1}}, 0, 0)
        self.passes(1, packet, 4, out_first(packet))
        self.verify_counted({"nexthops": {"nexthop": 1}}, 1, len(packet))


class InATableRead(CounterTest):
    """A read of table entries brings their counters where it asks for them."""

    def runTest(self) -> None:
        packet = to_router(udp())
        self.passes(1, packet, 4, out_first(packet))
        asked = fy.P4TableEntry("nexthops", counter_data=fy.P4CounterData())
        counted = {
            entry["nexthop"]: entry.counter_data.packet_count if entry.counter_data else None
            for entity in self.read(asked)
            for entry in [fy.P4TableEntry.decode(entity, self.target.schema)]
        }
        self.assertEqual(counted, {1: 1, 2: 0})
