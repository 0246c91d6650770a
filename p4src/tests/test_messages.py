"""What the pipeline tells the controller by digest, and how it spreads flows: what the .stf cases cannot say."""

from __future__ import annotations

import ipaddress
from collections import Counter
from pathlib import Path

import pytest
import wayname_switch
from finsy.proto import p4i, p4r

MAIN = Path(__file__).parent.parent / "v1model" / "main.p4"
MS = 1_000_000
HOST, ROUTER = bytes.fromhex("020000000011"), bytes.fromhex("02ed9e000001")
LAN, FIRST, SECOND = 1, 100, 200
PREFIX = ipaddress.IPv6Address("2001:db8:f00::")


class Edge:
    """A switch with hosts on ports 1 and 2, a provider on port 4 and one on port 5, and its clock."""

    def __init__(self, backend: str) -> None:
        self.switch = wayname_switch.Switch(wayname_switch.device_config(str(MAIN)), cpu_port=510, backend=backend)
        self.info = p4i.P4Info.FromString(self.switch.p4info())
        self.now = MS
        for port, vlan in ((1, LAN), (2, LAN), (4, FIRST), (5, SECOND)):
            self.add("ports", "set_port_vlan", [port], [vlan])
            self.add("vlan_members", "admit_to_vlan", [port, vlan])
            self.add("vlan_tags", "send_untagged", [port, vlan])
        for vlan in (LAN, FIRST, SECOND):
            self.add("interfaces", "set_interface", [vlan], [int.from_bytes(ROUTER), vlan])
            self.add("source_macs", "set_source_mac", [vlan], [int.from_bytes(ROUTER)])
        for number, (vlan, port) in enumerate(((FIRST, 4), (SECOND, 5)), 1):
            self.add("nexthops", "set_nexthop", [number], [vlan, 0xFE80 << 112 | number])
            self.add("neighbours", "set_neighbour", [vlan, 0xFE80 << 112 | number], [port, 0x0299 << 32 | number])

    def id_of(self, kind: str, alias: str) -> int:
        return next(int(item.preamble.id) for item in getattr(self.info, kind) if item.preamble.alias == alias)

    def write(self, kind: str, entity: object) -> None:
        update = p4r.Update(type=p4r.Update.MODIFY if kind == "meter_entry" else p4r.Update.INSERT)
        getattr(update.entity, kind).CopyFrom(entity)
        result = self.switch.write(p4r.WriteRequest(updates=[update]).SerializeToString(), self.now)
        assert [code for code, _ in result] == [0], result

    def entry(self, table: str, keys: list[int]) -> p4r.TableEntry:
        entry = p4r.TableEntry(table_id=self.id_of("tables", table))
        for number, value in enumerate(keys, 1):
            entry.match.add(field_id=number).exact.value = octets(value)
        return entry

    def add(self, table: str, action: str, keys: list[int], params: list[int] | None = None) -> None:
        entry = self.entry(table, keys)
        entry.action.action.CopyFrom(self.action(action, params or []))
        self.write("table_entry", entry)

    def action(self, name: str, params: list[int]) -> p4r.Action:
        action = p4r.Action(action_id=self.id_of("actions", name))
        for number, value in enumerate(params, 1):
            action.params.add(param_id=number, value=octets(value))
        return action

    def route_to_spread(self) -> None:
        profile = self.id_of("action_profiles", "ecmp_members")
        group = p4r.ActionProfileGroup(action_profile_id=profile, group_id=1, max_size=2)
        for number in (1, 2):
            member = p4r.ActionProfileMember(action_profile_id=profile, member_id=number)
            member.action.CopyFrom(self.action("set_ecmp_nexthop", [number]))
            self.write("action_profile_member", member)
            group.members.add(member_id=number, weight=1)
        self.write("action_profile_group", group)
        ecmp_group = self.entry("ecmp_groups", [7])
        ecmp_group.action.action_profile_group_id = 1
        self.write("table_entry", ecmp_group)
        route = p4r.TableEntry(table_id=self.id_of("tables", "routes"))
        lpm = route.match.add(field_id=1).lpm
        lpm.value, lpm.prefix_len = PREFIX.packed, 48
        route.action.action.CopyFrom(self.action("route_ecmp", [7]))
        self.write("table_entry", route)

    def ask_for_digests(self) -> None:
        entry = p4r.DigestEntry(digest_id=self.id_of("digests", "learn"))
        entry.config.max_list_size = 1
        self.write("digest_entry", entry)

    def learned(self) -> list[tuple[int, int, bytes]]:
        self.now += MS
        lists = [p4r.DigestList.FromString(text) for text in self.switch.digests(self.now)]
        seen = [[member.bitstring for member in data.struct.members] for each in lists for data in each.data]
        return [(int.from_bytes(port), int.from_bytes(vlan), source.rjust(6, b"\0")) for port, vlan, source in seen]

    def send(self, port: int, packet: bytes) -> list[int]:
        """The ports it leaves by."""
        self.now += MS
        return [output.port for output in self.switch.inject(port, packet, self.now)]


@pytest.fixture(params=["jit", "interpreter"])
def edge(request: pytest.FixtureRequest) -> Edge:
    return Edge(request.param)


def octets(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8))


def ports(source: int = 1000, destination: int = 2000) -> bytes:
    return source.to_bytes(2) + destination.to_bytes(2) + bytes(4)


def ipv6(payload: bytes, next_header: int = 17, label: int = 0, to: int = 1, source: bytes = HOST) -> bytes:
    """A packet of a host to the router's MAC."""
    header = (6 << 28 | label).to_bytes(4) + len(payload).to_bytes(2) + bytes([next_header, 64])
    addresses = ipaddress.IPv6Address("2001:db8:1::11").packed + (PREFIX + to).packed
    return ROUTER + source + b"\x86\xdd" + header + addresses + payload


def spread_of(edge: Edge, packets: list[bytes]) -> Counter[int]:
    counted: Counter[int] = Counter()
    for packet in packets:
        counted.update(edge.send(1, packet))
    return counted


@pytest.mark.parametrize(
    "packets",
    [
        pytest.param([ipv6(ports(source=n)) for n in range(128)], id="ports"),
        pytest.param([ipv6(ports(), label=n) for n in range(128)], id="flow label"),
        pytest.param([ipv6(ports(), to=n) for n in range(128)], id="destination"),
        pytest.param(
            [ipv6(b"\x11\x00" + bytes(6) + ports(source=n), next_header=60) for n in range(128)], id="behind options"
        ),
    ],
)
def test_flows_use_all_next_hops(edge: Edge, packets: list[bytes]) -> None:
    edge.route_to_spread()
    counted = spread_of(edge, packets)
    assert counted.total() == 128
    assert set(counted) == {4, 5} and min(counted.values()) > 32


def test_a_flow_stays_on_its_next_hop(edge: Edge) -> None:
    edge.route_to_spread()
    for source in range(16):
        assert len(spread_of(edge, [ipv6(ports(source) + bytes([n])) for n in range(8)])) == 1


def test_all_fragments_of_a_packet_go_one_way(edge: Edge) -> None:
    edge.route_to_spread()
    for label in range(16):
        parts = [(0, 1, ports(n)) for n in range(4)] + [(185, 1, bytes(range(8))), (370, 0, b"end")]
        headers = [(bytes([17, 0]) + (offset << 3 | more).to_bytes(2) + bytes(4)) for offset, more, _ in parts]
        packets = [ipv6(header + part[2], 44, label) for header, part in zip(headers, parts, strict=True)]
        assert len(spread_of(edge, packets)) == 1


def test_a_station_is_told_where_it_is_not_where_it_sends_to(edge: Edge) -> None:
    edge.ask_for_digests()
    edge.route_to_spread()
    assert edge.send(1, ipv6(ports())) in ([4], [5])
    assert edge.learned() == [(1, LAN, HOST)]


def test_a_known_station_is_not_told_again_until_it_moves(edge: Edge) -> None:
    edge.ask_for_digests()
    edge.add("learned_macs", "known_mac", [1, LAN, int.from_bytes(HOST)])
    edge.send(1, ipv6(ports()))
    assert edge.learned() == []
    edge.send(2, ipv6(ports()))
    assert edge.learned() == [(2, LAN, HOST)]


def test_new_stations_are_told_at_the_rate_of_their_port(edge: Edge) -> None:
    edge.ask_for_digests()
    meter = p4r.MeterEntry(meter_id=edge.id_of("meters", "learn_meter"))
    meter.index.index = 1
    meter.config.cir = meter.config.pir = 1
    meter.config.cburst = meter.config.pburst = 3
    edge.write("meter_entry", meter)
    stations = [bytes([2, 0, 0, 0, 1, n]) for n in range(10)]
    seen = []
    for port in (1, 2):
        for station in stations:
            edge.send(port, ipv6(ports(), source=station))
            seen += edge.learned()
    assert Counter(port for port, _, _ in seen) == {1: 3, 2: 10}
