"""The edge's managers against the real switch in process, on a virtual clock."""

from __future__ import annotations

import random

import finsy as fy
import pytest
from rig import Host, Rig, messages

from wayname.edge.boundary import Severity, SwitchDown, UpdateKind, WriteFailed
from wayname.edge.links import Links
from wayname.wire import discovery, icmpv6, ipv6
from wayname.wire.discovery import (
    ALL_NODES,
    ALL_ROUTERS,
    HOP_LIMIT,
    UNSPECIFIED,
    NeighbourAdvertisement,
    NeighbourSolicitation,
    RouterAdvertisement,
    RouterSolicitation,
)
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import solicited_node

SITE = """
[timing]
mac_aging_time = 60
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 10
[[port]]
number = 3
tagged = [10, 20]
[[port]]
number = 4
vlan = 100
[[port]]
number = 5
vlan = 200
mtu = 1280
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1::1/64"]
advertise = true
[[interface]]
vlan = 20
name = "lab"
addresses = ["2001:db8:2::1/64"]
[[interface]]
vlan = 100
name = "p1"
addresses = ["2001:db8:100::2/64"]
[[interface]]
vlan = 200
name = "p2"
addresses = ["2001:db8:200::2/64"]
[[route]]
prefix = "::/0"
via = ["2001:db8:100::1", "fe80::200:ff:fe00:c8%p2"]
[[route]]
prefix = "2001:db8:f::/48"
via = ["2001:db8:100::1"]
[[route]]
prefix = "2001:db8:bad::/48"
via = "prohibited"
"""
FAR = "2001:db8:f::1"


def turn_late(rig: Rig, late: float, turns: int) -> None:
    """Have an edge take so many turns of its timers so late, with all that is to do in between in its time."""
    for _ in range(turns):
        due = rig.edge.next_timer()
        assert due is not None
        rig.now = due + late
        rig.edge.handle_timer(rig.now)
        rig.settle()


def requests(sent: list[tuple[int, Frame]]) -> list[int]:
    """Return the ports by which echo requests left for a next hop."""
    return [port for port, frame in sent if port in (4, 5) and frame.payload[40] == icmpv6.ECHO_REQUEST]


@pytest.fixture
def rig() -> Rig:
    return Rig(SITE)


@pytest.fixture
def host(rig: Rig) -> Host:
    return Host(rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")


@pytest.fixture
def other(rig: Rig) -> Host:
    return Host(rig, 3, 20, "02:00:00:00:00:22", "2001:db8:2::22", tagged=True)


@pytest.fixture
def first(rig: Rig) -> Host:
    provider = Host(rig, 4, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    provider.forwards = True
    return provider


@pytest.fixture
def second(rig: Rig) -> Host:
    provider = Host(rig, 5, 200, "00:00:00:00:00:c8")
    provider.forwards = True
    return provider


class TestStations:
    def test_are_learned_once(self, rig: Rig, host: Host) -> None:
        host.ping("2001:db8:1::1")
        assert rig.entries("fdb") == [{"vlan": 10, "destination": host.mac.value, "port": 1}]
        assert rig.entries("learned_macs") == [{"port": 1, "vlan": 10, "source": host.mac.value}]
        host.ping("2001:db8:1::1")
        assert rig.kinds().count("station.found") == 1

    def test_move_with_their_addresses(self, rig: Rig, host: Host, other: Host) -> None:
        other.ping("2001:db8:1::11")
        host.port = 2
        host.ping("2001:db8:1::1")
        # It is asked whether it is still where it was.
        rig.advance(1.1)
        assert {"vlan": 10, "destination": host.mac.value, "port": 2} in rig.entries("fdb")
        assert all(each["port"] != 1 for each in rig.entries("learned_macs"))
        assert "station.moved" in rig.kinds()
        assert host.heard(other.ping("2001:db8:1::11"))

    def test_that_fall_silent_are_forgotten(self, rig: Rig, host: Host) -> None:
        host.ping("2001:db8:1::1")
        host.silent = True
        rig.advance(61)
        assert rig.entries("fdb") == [] == rig.entries("learned_macs")
        assert "station.gone" in rig.kinds()

    def test_beyond_the_table_are_flooded(self) -> None:
        rig = Rig(SITE)
        rig.edge.fdb._limit = 2
        for number in range(4):
            Host(rig, 1, 10, f"02:00:00:00:01:{number:02}").ping("2001:db8:1::1")
        assert len(rig.entries("fdb")) == 2
        assert rig.kinds().count("stations.full") == 1


class TestNeighbours:
    def test_are_resolved_while_the_packet_waits(self, host: Host, other: Host, rig: Rig) -> None:
        heard = other.heard(host.ping("2001:db8:2::22"))
        request = [each for each in messages(heard) if each.type == icmpv6.ECHO_REQUEST]
        assert len(request) == 1
        assert heard[-1].hop_limit == 63
        assert len(rig.entries("neighbours")) == 1

    def test_that_do_not_answer_are_reported(self, rig: Rig, host: Host, other: Host) -> None:
        other.silent = True
        host.ping("2001:db8:2::22")
        before = len(rig.sent)
        rig.advance(2.9)
        assert not host.heard(rig.sent[before:])
        rig.advance(0.2)
        (report,) = messages(host.heard(rig.sent[before:]))
        assert (report.type, report.code) == (icmpv6.UNREACHABLE, icmpv6.UNREACHABLE_ADDRESS)
        quoted = ipv6.Packet.decode(report.body[4:])
        assert (quoted.hop_limit, str(quoted.destination)) == (64, "2001:db8:2::22")

    def test_keep_few_packets_waiting(self, rig: Rig, host: Host, other: Host) -> None:
        other.silent = True
        for number in range(40):
            host.ping("2001:db8:2::22", data=bytes([number]))
        before = len(rig.sent)
        rig.advance(4)
        reports = messages(host.heard(rig.sent[before:]))
        assert [each.body[-1] for each in reports] == list(range(8, 40))

    def test_a_scan_leaves_room_for_others(self, rig: Rig, host: Host, other: Host) -> None:
        third = Host(rig, 2, 10, "02:00:00:00:00:33", "2001:db8:1::33")
        for number in range(600):
            rig.now += 0.002
            host.ping(f"2001:db8:2::1:{number:x}")
        assert len(list(rig.edge.neighbours)) <= 512
        assert [each for each in messages(other.heard(third.ping("2001:db8:2::22"))) if each.type == 128]

    def test_are_lost_when_they_leave(self, rig: Rig, host: Host) -> None:
        asked = NeighbourSolicitation(rig.config.interfaces[0].link_local, host.mac).message()
        host.send(asked.packet(host.addresses[1], rig.config.interfaces[0].link_local, HOP_LIMIT))
        assert len(rig.entries("neighbours")) == 1
        rig.advance(100)
        assert len(rig.entries("neighbours")) == 1
        host.silent = True
        rig.advance(50)
        assert rig.entries("neighbours") == []
        assert "neighbour.lost" in rig.kinds()

    def test_are_not_taken_from_other_links(self, rig: Rig, host: Host) -> None:
        host.addresses.append(host.addresses[1] + (1 << 80))
        asked = NeighbourSolicitation(rig.config.interfaces[0].link_local, host.mac).message()
        host.send(asked.packet(host.addresses[-1], rig.config.interfaces[0].link_local, HOP_LIMIT))
        assert rig.entries("neighbours") == []

    def test_unasked_advertisements_make_none(self, rig: Rig, host: Host) -> None:
        said = NeighbourAdvertisement(host.addresses[1], host.mac, override=True).message()
        host.multicast(said.packet(host.addresses[1], ALL_NODES, HOP_LIMIT))
        assert rig.entries("neighbours") == []


class TestRouter:
    def test_answers_echo_to_any_of_its_addresses(self, rig: Rig, host: Host) -> None:
        site = rig.config.interfaces[0]
        for address in ("2001:db8:1::1", "2001:db8:2::1", "2001:db8:1::", site.link_local):
            (reply,) = [each for each in host.heard(host.ping(address)) if each.payload[0] == icmpv6.ECHO_REPLY]
            assert str(reply.source) == str(address)
            assert icmpv6.Message.decode(reply).body == b"\0\1\0\1ping"

    def test_answers_on_a_tagged_link(self, other: Host) -> None:
        assert [each.type for each in messages(other.heard(other.ping("2001:db8:2::1")))] == [icmpv6.ECHO_REPLY]

    def test_tells_that_no_port_is_open(self, host: Host) -> None:
        udp = ipv6.Packet(host.addresses[1], host.router.addresses[0].ip, ipv6.UDP, bytes(8))
        (report,) = messages(host.heard(host.send(udp)))
        assert (report.type, report.code) == (icmpv6.UNREACHABLE, icmpv6.UNREACHABLE_PORT)

    def test_answers_solicitations(self, host: Host) -> None:
        target = host.router.addresses[0].ip
        asked = NeighbourSolicitation(target, host.mac).message()
        (answer,) = host.heard(host.multicast(asked.packet(host.addresses[1], solicited_node(target), HOP_LIMIT)))
        said = discovery.decode(answer)
        assert said == NeighbourAdvertisement(target, host.router.mac, router=True, solicited=True, override=True)

    def test_defends_its_addresses(self, host: Host) -> None:
        target = host.router.addresses[0].ip
        asked = NeighbourSolicitation(target).message()
        sent = host.multicast(asked.packet(UNSPECIFIED, solicited_node(target), HOP_LIMIT))
        said = [discovery.decode(ipv6.Packet.decode(frame.payload)) for port, frame in sent if port == 1]
        assert said == [NeighbourAdvertisement(target, host.router.mac, router=True, override=True)]

    def test_says_when_another_has_its_address(self, rig: Rig, host: Host) -> None:
        said = NeighbourAdvertisement(host.router.addresses[0].ip, host.mac, override=True).message()
        for _ in range(2):
            host.multicast(said.packet(host.router.addresses[0].ip, ALL_NODES, HOP_LIMIT))
        (event,) = [event for event in rig.events if event.kind == "address.duplicate"]
        assert event.severity is Severity.ERROR

    def test_announces_itself_when_it_comes(self, rig: Rig) -> None:
        said = [discovery.decode(ipv6.Packet.decode(frame.payload)) for port, frame in rig.sent if port == 4]
        assert {str(each.target) for each in said if isinstance(each, NeighbourAdvertisement)} >= {"2001:db8:100::2"}

    def test_advertises_where_it_should(self) -> None:
        rig = Rig(SITE.partition("[[route]]")[0])
        rig.advance(3600)
        sent = [(port, discovery.decode(ipv6.Packet.decode(frame.payload))) for port, frame in rig.sent]
        ads = [(port, each) for port, each in sent if isinstance(each, RouterAdvertisement)]
        assert {port for port, _ in ads} == {1, 2, 3}
        # Three soon, then one every 200 to 600 seconds.
        assert 3 + 3600 / 600 <= sum(port == 1 for port, _ in ads) <= 3 + 3600 / 200
        (prefix,) = ads[0][1].prefixes
        assert (str(prefix.network), ads[0][1].lifetime, ads[0][1].mtu) == ("2001:db8:1::/64", 1800, 1500)

    def test_advertises_to_a_host_that_asks(self, rig: Rig, host: Host) -> None:
        rig.advance(100)
        before = len(rig.sent)
        host.multicast(RouterSolicitation(host.mac).message().packet(host.addresses[0], ALL_ROUTERS, HOP_LIMIT))
        rig.advance(0.5)
        (answer,) = [each for each in host.heard(rig.sent[before:]) if each.payload[0] == 134]
        assert answer.destination == host.addresses[0]

    def test_advertises_to_all_at_most_every_three_seconds(self, rig: Rig, host: Host) -> None:
        rig.advance(100)
        before = len(rig.sent)
        for _ in range(40):
            host.multicast(RouterSolicitation().message().packet(UNSPECIFIED, ALL_ROUTERS, HOP_LIMIT))
            rig.advance(0.25)
        ads = [port for port, frame in rig.sent[before:] if port == 2 and frame.payload[40] == 134]
        assert 3 <= len(ads) <= 4


class TestRoutes:
    def test_spread_flows(self, rig: Rig, host: Host, first: Host, second: Host) -> None:
        rig.advance(1)
        assert {port for n in range(64) for port in requests(host.ping(f"2001:db8:aaaa::{n:x}"))} == {4, 5}

    def test_refuse(self, host: Host) -> None:
        (report,) = messages(host.heard(host.ping("2001:db8:bad::1")))
        assert (report.type, report.code) == (icmpv6.UNREACHABLE, 1)

    def test_a_dead_next_hop_leaves_the_spread_and_comes_back(
        self, rig: Rig, host: Host, first: Host, second: Host
    ) -> None:
        rig.advance(1)
        assert rig.kinds().count("nexthop.up") == 2
        first.silent = True
        rig.advance(0.75)
        assert "nexthop.down" in rig.kinds()
        assert {port for n in range(32) for port in requests(host.ping(f"2001:db8:aaaa::{n:x}"))} == {5}
        # All next hops of the longer prefix are down: the shorter one serves.
        assert requests(host.ping(FAR)) == [5]
        first.silent = False
        rig.advance(1)
        assert requests(host.ping(FAR)) == [4]

    def test_without_any_next_hop_there_is_no_route(self, rig: Rig, host: Host) -> None:
        rig.advance(2)
        (report,) = messages(host.heard(host.ping(FAR)))
        assert (report.type, report.code) == (icmpv6.UNREACHABLE, 0)

    def test_a_next_hop_lives_while_it_forwards(self, rig: Rig, first: Host) -> None:
        rig.advance(1)
        # Its control plane is gone: it answers no solicitation any more.
        first.addresses.clear()
        rig.advance(10)
        assert "2001:db8:100::1" not in [each.subject for each in rig.events if each.kind == "nexthop.down"]

    def test_a_probe_comes_back_without_being_taken_apart(
        self, rig: Rig, first: Host, second: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rig.advance(1)
        monkeypatch.delattr(Links, "read")
        rig.advance(2)
        assert "nexthop.down" not in rig.kinds()

    def test_a_probe_that_is_not_as_it_left_is_no_answer(self, rig: Rig, first: Host, second: Host) -> None:
        rig.advance(1)
        first.silent = True
        probe = next(frame for port, frame in reversed(rig.sent) if port == 4 and frame.payload[40] == 128)
        # The identifier, and with it the checksum, before the mark that is as it was.
        altered = probe.payload[:45] + bytes([probe.payload[45] ^ 1]) + probe.payload[46:]
        for _ in range(8):
            rig.inject(4, Frame(probe.source, probe.destination, probe.type, altered))
            rig.advance(0.1)
        assert "nexthop.down" in rig.kinds()

    @pytest.mark.parametrize(("late", "every"), [(0.0, 0.25), (0.002, 0.25), (0.0023, 0.55), (0.003, 1.25), (0.3, 2.0)])
    def test_probes_are_put_off_where_turns_come_late(
        self, rig: Rig, first: Host, second: Host, late: float, every: float
    ) -> None:
        rig.advance(1)
        turn_late(rig, late, 4)
        before, probes, began = len(rig.sent), rig.edge.liveness.probes, rig.now
        turn_late(rig, late, 20)
        sent = requests(rig.sent[before:])
        assert rig.edge.liveness.probes - probes == len(sent)
        # Of two next hops, each at its own times.
        assert 2 * (rig.now - began) / len(sent) == pytest.approx(every + late, rel=0.2)
        assert bool(rig.edge.liveness.put_off) is (every > 0.25)
        assert "nexthop.down" not in rig.kinds()

    def test_who_is_silent_is_found_where_probes_are_put_off(self, rig: Rig, first: Host, second: Host) -> None:
        rig.advance(1)
        turn_late(rig, 0.01, 12)
        first.silent = True
        began, put_off = rig.now, rig.edge.liveness.put_off
        while "nexthop.down" not in rig.kinds():
            turn_late(rig, 0.01, 1)
            assert rig.now - began < 3
        assert put_off
        assert [each.subject for each in rig.events if each.kind == "nexthop.down"] == ["2001:db8:100::1"]

    def test_one_late_turn_puts_nothing_off(self, rig: Rig, first: Host, second: Host) -> None:
        rig.advance(1)
        turn_late(rig, 1.0, 1)
        rig.advance(1)
        assert rig.edge.liveness.put_off == 0

    def test_while_the_switch_stands_still_no_next_hop_is_missed(self, rig: Rig, first: Host, second: Host) -> None:
        rig.advance(1)
        rig.unsent = []
        rig.advance(2.1)
        rig.go_on()
        rig.advance(2)
        assert "nexthop.down" not in rig.kinds()

    def test_answers_that_nobody_has_read_yet_are_not_missed(self, rig: Rig, first: Host, second: Host) -> None:
        rig.advance(1)
        for _ in range(5):
            rig.unread = []
            rig.advance(0.6)
            rig.go_on()
        assert "nexthop.down" not in rig.kinds()

    def test_who_is_silent_is_found_when_the_switch_goes_on(self, rig: Rig, first: Host, second: Host) -> None:
        rig.advance(1)
        first.silent = True
        rig.unsent = []
        rig.advance(2.1)
        assert "nexthop.down" not in rig.kinds()
        rig.go_on()
        rig.advance(0.75)
        assert [each.subject for each in rig.events if each.kind == "nexthop.down"] == ["2001:db8:100::1"]

    def test_a_dead_next_hop_stays_where_it_was(self, rig: Rig, first: Host, second: Host) -> None:
        rig.advance(1)
        before = rig.entries("fdb")
        first.silent = True
        rig.advance(0.75)
        assert "nexthop.down" in rig.kinds()
        assert rig.entries("fdb") == before, "loopbacks are no stations"

    def test_a_dead_next_hop_in_a_tagged_vlan_is_found(self) -> None:
        rig = Rig(SITE.replace("number = 4\nvlan = 100", "number = 4\ntagged = [100]"))
        first = Host(rig, 4, 100, "02:00:00:00:00:d1", "2001:db8:100::1", tagged=True)
        rig.advance(1)
        assert "nexthop.up" in rig.kinds()
        first.silent = True
        rig.advance(0.75)
        assert "2001:db8:100::1" in [each.subject for each in rig.events if each.kind == "nexthop.down"]

    def test_mtu_of_the_port_binds(self, rig: Rig, host: Host, first: Host, second: Host) -> None:
        first.silent = True
        rig.advance(2)
        (report,) = messages(host.heard(host.ping(FAR, data=bytes(1300))))
        assert (report.type, report.body[:4]) == (icmpv6.PACKET_TOO_BIG, (1280).to_bytes(4))


class TestRestarts:
    def test_of_the_controller_change_nothing(
        self, rig: Rig, host: Host, other: Host, first: Host, second: Host
    ) -> None:
        host.ping("2001:db8:2::22")
        second.silent = True
        rig.advance(3)
        before = rig.tables()
        rig.writes.clear()
        rig.restart_controller()
        assert rig.writes == []
        assert rig.tables() == before
        rig.advance(1)
        assert rig.tables() == before

    def test_of_the_switch_bring_all_back(self, rig: Rig, host: Host, other: Host, first: Host) -> None:
        host.ping("2001:db8:2::22")
        rig.advance(3)
        before = rig.tables()
        rig.restart_switch()
        assert rig.tables() == before
        assert [each.type for each in messages(other.heard(host.ping("2001:db8:2::22")))] == [128]

    def test_what_was_written_by_another_configuration_goes(self, rig: Rig, host: Host) -> None:
        host.ping("2001:db8:1::1")
        smaller = SITE[SITE.index("[[port]]\nnumber = 4") : SITE.index("[[route]]")].replace("[[port]]", "[[port]]", 1)
        smaller = smaller.replace('[[interface]]\nvlan = 10\nname = "site"\naddresses = ["2001:db8:1::1/64"]\n', "")
        smaller = smaller.replace("advertise = true\n", "")
        smaller = smaller.replace('[[interface]]\nvlan = 20\nname = "lab"\naddresses = ["2001:db8:2::1/64"]\n', "")
        fresh = Rig(smaller)
        rig.config, rig.schema = fresh.config, fresh.schema
        rig.restart_controller()
        assert rig.tables() == fresh.tables()


def test_nothing_that_arrives_makes_it_fail(rig: Rig, host: Host) -> None:
    rng = random.Random(7)
    valid = [
        NeighbourSolicitation(host.router.addresses[0].ip, host.mac).message(),
        RouterSolicitation(host.mac).message(),
        icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(8)),
    ]
    for _ in range(300):
        packet = bytearray(rng.choice(valid).packet(host.addresses[1], host.router.addresses[0].ip, 255).encode())
        for _ in range(rng.randrange(3)):
            packet[rng.randrange(len(packet))] = rng.randrange(256)
        octets = bytes(packet[: rng.randrange(1, len(packet) + 1)])
        rig.inject(1, Frame(host.router.mac, host.mac, TYPE_IPV6, octets))
        rig.now += 0.01
    assert "write.failed" not in rig.kinds()


def test_a_failed_write_is_told(rig: Rig) -> None:
    entry = fy.P4TableEntry("ports", match=fy.Match(port=9), action=fy.Action("set_port_vlan", vlan=1))
    rig.receive(WriteFailed((UpdateKind.INSERT, entry), 3, "no"))
    assert rig.events[-1].kind == "write.failed"


def test_nobody_is_given_up_while_the_switch_is_away(rig: Rig, host: Host, other: Host, first: Host) -> None:
    host.ping("2001:db8:2::22")
    rig.advance(2)
    before = rig.tables()
    rig.receive(SwitchDown("killed"))
    assert rig.edge.next_timer() is None
    rig.now += 300
    rig.restart_switch()
    assert rig.tables() == before
