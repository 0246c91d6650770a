"""Source guard: a host uses its own addresses and nobody else's (FCFS SAVI, RFC 6620)."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from first_hop_security.lan import ATTACKER, FAR, HOST, OTHER, PROVIDER, ROUTER, SITE, Lan, detection, lan
from rig import Host

from wayname.p4_constants import Drop
from wayname.wire import ipv6
from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, NeighbourAdvertisement

NEW = IPv6Address("2001:db8:1::77")


def spoofed(source: IPv6Address) -> ipv6.Packet:
    """Return a packet to far away in the name of somebody."""
    return ipv6.Packet(source, FAR, 59, b"")


def left(lan: Lan, host: Host, packet: ipv6.Packet) -> bool:
    """Whether a packet of a host leaves by the provider."""
    lan.rig.advance(0.1)
    return any(port == PROVIDER and packet.source.packed in frame.encode() for port, frame in host.send(packet))


def test_nobody_sends_from_anothers_address() -> None:
    site = Lan()
    assert left(site, site.victim, spoofed(HOST))
    assert not left(site, site.attacker, spoofed(HOST))
    assert site.dropped(Drop.SOURCE_BINDING) == 1
    assert site.owner(HOST) == 1


def test_nor_with_the_others_mac() -> None:
    site = Lan()
    site.attacker.mac = site.victim.mac
    assert not left(site, site.attacker, spoofed(HOST))


def test_nor_another_station_behind_the_same_port() -> None:
    site = Lan()
    site.attacker.port = site.victim.port
    assert not left(site, site.attacker, spoofed(HOST))


def test_the_first_packet_from_a_new_address_passes() -> None:
    site = Lan()
    assert left(site, site.attacker, spoofed(NEW))
    assert site.owner(NEW) == ATTACKER
    assert left(site, site.attacker, spoofed(NEW))
    assert not left(site, site.victim, spoofed(NEW))


def test_duplicate_address_detection_binds_before_the_first_packet() -> None:
    site = Lan()
    site.victim.multicast(detection(NEW))
    assert site.owner(NEW) == 1
    assert not left(site, site.attacker, spoofed(NEW))


def test_a_host_has_many_addresses() -> None:
    site = Lan()
    addresses = [IPv6Address(f"2001:db8:1::5:{number:x}") for number in range(20)]
    assert all(left(site, site.victim, spoofed(address)) for address in addresses)
    assert {site.owner(address) for address in addresses} == {1}


@pytest.mark.parametrize(
    "source", ["2001:db8:f::1", "2001:db8:100::1", "fd00::1", "::1", "ff02::1", "::ffff:192.0.2.1"]
)
def test_a_source_that_no_host_of_the_link_can_have_is_dropped(source: str) -> None:
    site = Lan()
    assert not left(site, site.attacker, spoofed(IPv6Address(source)))
    assert site.dropped(Drop.SOURCE_PREFIX) == 1


def test_a_prefix_of_the_hosts_own_is_theirs_by_configuration() -> None:
    site = Lan(lan(site='source_prefixes = ["fd00::/64"]'))
    assert left(site, site.attacker, spoofed(IPv6Address("fd00::1")))
    assert not left(site, site.victim, spoofed(IPv6Address("fd00::1")))


def test_bridged_packets_are_looked_at_too() -> None:
    site = Lan()
    frame = site.attacker.frame(site.other.mac, ipv6.Packet(HOST, OTHER, 59, b""))
    assert not [port for port, _ in site.rig.inject(ATTACKER, frame) if port == 2]
    assert site.dropped(Drop.SOURCE_BINDING) == 1


def test_nobody_uses_the_routers_addresses() -> None:
    site = Lan()
    for address in (ROUTER, site.victim.router.link_local):
        assert not site.rig.inject(ATTACKER, site.attacker.frame(site.victim.mac, ipv6.Packet(address, HOST, 59, b"")))
    assert site.dropped(Drop.SOURCE_BINDING) == 2


def test_an_address_moves_when_its_host_is_gone() -> None:
    site = Lan()
    site.victim.silent = True
    assert not left(site, site.attacker, spoofed(HOST))
    site.rig.advance(0.6)
    assert site.owner(HOST) == ATTACKER
    assert left(site, site.attacker, spoofed(HOST))
    assert "binding.moved" in site.rig.kinds()


def test_and_stays_while_its_host_answers() -> None:
    site = Lan()
    for _ in range(40):
        assert not left(site, site.attacker, spoofed(HOST))
        site.rig.advance(0.5)
    assert site.owner(HOST) == 1
    # One in five seconds is asked about, and one event tells of many.
    asked = sum(frame.payload[40:41] == b"\x87" for frame in site.frames(1, 0))
    assert asked <= 10
    assert 1 <= site.rig.kinds().count("binding.refused") <= 8


def test_a_host_that_moves_takes_its_addresses_along() -> None:
    site = Lan()
    site.victim.port = 2
    site.victim.multicast(detection(HOST))
    site.rig.advance(1.5)
    assert left(site, site.victim, spoofed(HOST))
    assert site.owner(HOST) == 2
    assert site.delivered(HOST) == {2}


def test_a_false_answer_takes_no_address_away_from_who_asks() -> None:
    site = Lan()
    site.victim.multicast(detection(NEW))
    said = NeighbourAdvertisement(NEW, site.attacker.mac, override=True).message()
    sent = site.attacker.multicast(said.packet(NEW, ALL_NODES, HOP_LIMIT))
    assert not [port for port, _ in sent if port == 2]
    assert site.dropped(Drop.SOURCE_BINDING) == 1


def test_the_holder_hears_who_asks_for_its_address() -> None:
    site = Lan()
    sent = site.attacker.multicast(detection(HOST))
    assert 1 in {port for port, _ in sent}


def test_a_port_has_a_limited_number_of_sources() -> None:
    site = Lan(lan(ports="max_addresses = 8"))
    passed = [left(site, site.attacker, spoofed(IPv6Address(f"2001:db8:1::6:{number:x}"))) for number in range(30)]
    assert passed[:7] == [True] * 7
    assert not any(passed[9:])
    assert site.dropped(Drop.SOURCE_LIMIT) >= 20
    assert site.rig.kinds().count("bindings.full") == 1
    assert left(site, site.victim, spoofed(NEW))


def test_new_sources_come_at_a_limited_rate() -> None:
    site = Lan()
    for number in range(1000):
        site.attacker.send(spoofed(IPv6Address(f"2001:db8:1::6:{number:x}")))
    assert site.edge_count() <= 110
    assert site.dropped(Drop.SOURCE_LIMIT) >= 890
    assert left(site, site.victim, spoofed(NEW))


def test_room_comes_back_as_addresses_fall_silent() -> None:
    site = Lan(lan(ports="max_addresses = 8"))
    for number in range(30):
        left(site, site.attacker, spoofed(IPv6Address(f"2001:db8:1::6:{number:x}")))
    site.rig.advance(400)
    assert left(site, site.attacker, spoofed(NEW))
    assert site.owner(NEW) == ATTACKER


def test_an_address_that_answers_is_kept_however_long_it_is_silent() -> None:
    site = Lan()
    site.rig.advance(2000)
    assert site.owner(HOST) == 1
    site.victim.silent = True
    site.rig.advance(700)
    assert site.owner(HOST) is None


def test_restarts_of_the_controller_change_nothing() -> None:
    site = Lan()
    left(site, site.victim, spoofed(NEW))
    before = site.rig.tables()
    site.rig.writes.clear()
    site.rig.restart_controller()
    assert site.rig.writes == []
    assert site.rig.tables() == before
    assert not left(site, site.attacker, spoofed(NEW))


def test_a_restarted_switch_gets_all_bindings_before_it_lets_anybody_in() -> None:
    site = Lan()
    site.rig.writes.clear()
    site.rig.restart_switch()
    tables = [
        [entity.table_id for _, entity in write.updates if hasattr(entity, "table_id")] for write in site.rig.writes
    ]
    bound = next(number for number, names in enumerate(tables) if "source_bindings" in names)
    opened = next(number for number, names in enumerate(tables) if "vlan_members" in names)
    assert bound < opened
    assert site.owner(HOST) == 1


def test_it_can_be_switched_off_by_vlan_and_by_port() -> None:
    for config in (lan(site="source_guard = false"), lan(ports="trusted = true")):
        site = Lan(config)
        assert left(site, site.attacker, spoofed(HOST))


def test_ports_towards_next_hops_are_trusted() -> None:
    site = Lan()
    members = {(each["port"], each["vlan"]): each.get("guards") for each in site.rig.entries("vlan_members")}
    assert members == {(1, SITE): 15, (2, SITE): 15, (3, SITE): 15, (4, 100): None, (5, 100): None}


def test_a_host_behind_a_trusted_port_keeps_its_address() -> None:
    site = Lan(lan().replace("number = 2\nvlan = 10", "number = 2\nvlan = 10\ntrusted = true"))
    # Nothing says whose it is until somebody else uses it.
    assert site.owner(OTHER) is None
    left(site, site.attacker, spoofed(OTHER))
    site.rig.advance(0.1)
    assert site.owner(OTHER) == 2
    for _ in range(20):
        assert not left(site, site.attacker, spoofed(OTHER))
        site.rig.advance(0.5)
    assert left(site, site.other, spoofed(OTHER))
