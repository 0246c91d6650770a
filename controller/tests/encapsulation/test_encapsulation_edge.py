"""What packets carry through the real switch in process, when the edge has put its tables."""

from __future__ import annotations

import hashlib
import hmac
from ipaddress import IPv6Address, ip_network

import pytest
from encapsulating_site import CARRIED, SITE
from finsy import Action, P4TableEntry
from rig import Host, Rig

from wayname.edge.boundary import SwitchUp
from wayname.edge.desired_state import key_of
from wayname.edge.encapsulation.numbers import Numbers
from wayname.edge.encapsulation.proofs import proof_of
from wayname.wire import discovery, ipv6
from wayname.wire.discovery import NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.ethernet import Frame
from wayname.wire.mac import solicited_node


@pytest.fixture
def provider(rig: Rig) -> Host:
    provider = Host(rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    provider.ping("2001:db8:100::2")
    return provider


def carried(host: Host, provider: Host, destination: str) -> ipv6.Packet:
    """What comes to the provider of a ping."""
    [packet] = [each for each in provider.heard(host.ping(destination)) if each.next_header != 58 or each.source]
    return packet


def test_a_policy_with_its_proof(host: Host, provider: Host) -> None:
    packet = carried(host, provider, "2001:db8:5::1")
    assert packet.destination == IPv6Address("fd00::1")
    assert packet.source == IPv6Address("2001:db8:1::1")
    header = packet.payload
    assert header[:6] == bytes([41, 17, 4, 5, 5, 0])
    segments = b"".join(IPv6Address(f"fd00::{number}").packed for number in range(6, 0, -1))
    assert header[8:104] == segments
    covered = packet.source.packed + bytes([5, 0, 0, 0, 0, 0, 0, 8]) + segments
    proof = hmac.new(b"secret", covered, hashlib.sha256).digest()
    assert header[104:144] == bytes([5, 38, 0, 0, 0, 0, 0, 8]) + proof


def test_a_trace_with_the_time_of_day(rig: Rig, host: Host, provider: Host) -> None:
    rig.advance(2)
    packet = carried(host, provider, "2001:db8:6::1")
    now = rig.now
    assert packet.next_header == 0
    seconds, fraction = (int.from_bytes(packet.payload[at : at + 4]) for at in (32, 36))
    assert packet.payload[28:32] == bytes([63]) + (0xABC).to_bytes(3)
    assert seconds + fraction / 1e6 == pytest.approx(now, abs=0.003)


def test_a_source_route(host: Host, provider: Host) -> None:
    packet = carried(host, provider, "2001:db8:7::9")
    assert packet.destination == IPv6Address("2001:db8:7::1")
    # One octet of the second hop; of the destination all behind the bound prefix.
    rest = bytes([2]) + IPv6Address("2001:db8:7::9").packed[6:]
    assert packet.payload[:8] == bytes([58, 2, 3, 2, 0xF6, 0x50, 0, 0])
    assert packet.payload[8:24] == rest + bytes(5)


def test_a_locator(host: Host, provider: Host) -> None:
    packet = carried(host, provider, "2001:db8:8::9")
    assert int(packet.destination) >> 64 == 0x20010DB800050001


def test_the_shorter_prefix_is_not_for_what_is_here(rig: Rig, host: Host, provider: Host) -> None:
    packet = carried(host, provider, "2001:db8:dead::1")
    assert (packet.destination, packet.next_header) == (IPv6Address("fd00::9"), 41)
    other = Host(rig, 1, 10, "02:00:00:00:00:12", "2001:db8:1::12")
    for destination in ("2001:db8:1::1", "2001:db8:100::2", str(rig.config.interfaces[0].link_local)):
        assert [each.source for each in host.heard(host.ping(destination))] == [IPv6Address(destination)]
    sent = provider.ping("2001:db8:1::12")
    assert [each.source for each in other.heard(sent)][-1:] == [IPv6Address("2001:db8:100::1")]


def test_a_segment_answers_pings_and_its_neighbours(host: Host) -> None:
    assert [each.source for each in host.heard(host.ping("2001:db8:1::d"))] == [IPv6Address("2001:db8:1::d")]
    asked = NeighbourSolicitation(IPv6Address("2001:db8:1::d"), host.mac).message()
    [said] = host.heard(
        host.multicast(asked.packet(host.addresses[-1], solicited_node(IPv6Address("2001:db8:1::d")), 255))
    )
    answer = discovery.decode(said)
    assert isinstance(answer, NeighbourAdvertisement)
    assert (answer.target, answer.target_mac, answer.override) == (IPv6Address("2001:db8:1::d"), host.router.mac, True)


def test_a_tunnel_ends_also_where_the_neighbour_is_not_known(host: Host, provider: Host) -> None:
    inside = ipv6.Packet(IPv6Address("2001:db8:9::9"), host.addresses[-1], 17, bytes(8))
    outside = ipv6.Packet(IPv6Address("2001:db8:9::1"), IPv6Address("2001:db8:1::d"), 41, inside.encode())
    [packet] = host.heard(provider.send(outside))[-1:]
    assert (packet.source, packet.hop_limit) == (inside.source, 63)


def test_what_goes_leaves_nothing(rig: Rig, provider: Host) -> None:
    rig.advance(2)
    assert {
        "encapsulations",
        "sr_policies",
        "segment_list_extension_1",
        "hmacs",
        "sids",
        "ioam_namespaces",
        "export_rules",
    } < used(rig)
    rig.config = Rig(SITE).config
    rig.restart_controller()
    assert used(rig) - used(Rig(SITE)) <= {"neighbours", "fdb", "learned_macs"}


def used(rig: Rig) -> set[str]:
    """The tables that hold something."""
    return {key_of(entity)[0] for entity in rig.read()}


def test_a_restarted_controller_changes_nothing(rig: Rig) -> None:
    rig.advance(2)
    before = rig.tables()
    rig.writes.clear()
    rig.restart_controller()
    rig.advance(5)
    assert rig.tables() == before
    assert [key for write in rig.writes for _, key in write.updates] == []


class TestClock:
    def test_of_a_switch_that_began_earlier(self, rig: Rig) -> None:
        rig.restart_switch()
        rig.edge.receive(SwitchUp(rig.read(), epoch=1_800_000_000.0), rig.now)
        rig.advance(2)
        epochs = {entry["epoch"] for entry in rig.entries("ioam_namespaces")}
        [epoch] = epochs
        assert isinstance(epoch, int)
        assert epoch / 1e6 == pytest.approx(1_800_000_000.0, abs=0.003)
        exported = {entry["epoch"] for entry in rig.entries("export_rules") if entry["namespace"] == 1}
        assert exported == epochs

    def test_a_new_switch_has_a_new_clock(self, rig: Rig) -> None:
        rig.advance(2)
        rig.restart_switch()
        rig.edge.receive(SwitchUp(rig.read(), epoch=50.0), rig.now)
        rig.advance(2)
        assert {round(int(str(entry["epoch"])) / 1e6, 2) for entry in rig.entries("ioam_namespaces")} == {50.0}

    def test_goes_on_being_asked(self, rig: Rig) -> None:
        rig.advance(2)
        before = rig.edge.next_timer()
        assert before is not None
        asked = sum(1 for key in rig.events if key.kind == "clock.silent")
        rig.advance(130)
        assert asked == 0
        assert "clock.silent" not in rig.kinds()


def test_numbers_stay_and_are_not_passed_on() -> None:
    numbers = Numbers(3)
    first = numbers.assign(["a", "b"])
    assert set(first.values()) < {1, 2, 3}
    second = numbers.assign(["b", "c"])
    assert second["b"] == first["b"]
    assert second["c"] not in first.values()
    assert Numbers(3).assign(["a", "b"]) == first


def test_bound_prefixes_cover_what_is_shorter_only(rig: Rig) -> None:
    entries = (each for each in rig.read() if isinstance(each, P4TableEntry) and each.table_id == "encapsulations")
    nothing = [each for each in entries if each.action == Action("no_encapsulation")]
    networks = {ip_network(each["destination"]) for each in nothing}
    assert ip_network("2001:db8:1::/64") in networks
    assert ip_network("2001:db8:100:a::1/128") in networks
    assert ip_network("2001:db8:5::/48") not in networks


def test_proofs_cover_source_key_and_segments() -> None:
    policies = Rig(SITE + CARRIED).config.encapsulation.policies
    gold = policies[0]
    changed = {proof_of(gold)}
    for text in ('"secret"', "key_id = 8", '"fd00::6"'):
        replaced = (SITE + CARRIED).replace(text, {"k": "key_id = 9"}.get(text[0], '"fd00::7"'))
        changed.add(proof_of(Rig(replaced).config.encapsulation.policies[0]))
    assert len(changed) == 4


class TestWays:
    """The neighbour is asked for by where the packet goes, not by where it was for."""

    @pytest.fixture
    def answering(self, rig: Rig) -> Host:
        return Host(rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")

    @pytest.mark.parametrize(
        ("destination", "next_destination"),
        [("2001:db8:5::1", "fd00::1"), ("2001:db8:7::9", "2001:db8:7::1"), ("2001:db8:77::1", "fd00::9")],
    )
    def test_along_what_is_carried(self, host: Host, answering: Host, destination: str, next_destination: str) -> None:
        destinations = [packet.destination for packet in answering.heard(host.ping(destination))]
        assert IPv6Address(next_destination) in destinations

    def test_to_the_next_segment(self, host: Host, answering: Host) -> None:
        path = b"".join(IPv6Address(each).packed for each in ("2001:db8:1::12", "2001:db8:100:a::1"))
        header = bytes([17, 4, 4, 1, 1, 0, 0, 0]) + path
        packet = ipv6.Packet(answering.addresses[-1], IPv6Address("2001:db8:100:a::1"), 43, header + bytes(8))
        other = Host(host.rig, 1, 10, "02:00:00:00:00:12", "2001:db8:1::12")
        assert [each.next_header for each in other.heard(answering.send(packet)) if each.next_header == 17] == [17]


HOP = '[[segment]]\nsid = "2001:db8:1::e"\nbehaviour = "source-route-hop"\n'


class TestSourceRouteLoops:
    """A packet that would come back to this router is dropped (RFC 6554, section 4.2), by any two addresses of it."""

    @staticmethod
    def send(host: Host, *addresses: str) -> list[tuple[int, Frame]]:
        """Send a packet whose route has these addresses, the last of them not visited yet."""
        header = bytes([17, 2 * len(addresses), 3, 1, 0, 0, 0, 0])
        route = header + b"".join(IPv6Address(each).packed for each in addresses)
        return host.send(ipv6.Packet(host.addresses[-1], IPv6Address("2001:db8:1::e"), 43, route + bytes(8)))

    @pytest.mark.parametrize("own", ["2001:db8:1::1", "2001:db8:1::d", "2001:db8:100::2", "2001:db8:1::e"])
    def test_are_found_by_all_addresses(self, own: str) -> None:
        rig = Rig(SITE + CARRIED + HOP)
        host = Host(rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")
        provider = Host(rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
        host.ping("2001:db8:1::1")
        provider.ping("2001:db8:100::2")
        [error] = host.heard(self.send(host, own, "2001:db8:1::12", "2001:db8:100:a::1", "2001:db8:100::1"))
        assert (error.payload[:2], int.from_bytes(error.payload[4:8])) == (b"\4\0", 43)
        [passed] = provider.heard(self.send(host, own, "2001:db8:100:a::1", "2001:db8:1::12", "2001:db8:100::1"))
        assert (passed.next_header, passed.destination) == (43, provider.addresses[-1])

    def test_are_looked_for_where_there_is_a_hop(self, rig: Rig) -> None:
        assert not [table for table in used(rig) if table.startswith("own_hops")]
        assert len([table for table in used(Rig(SITE + CARRIED + HOP)) if table.startswith("own_hops")]) == 16
