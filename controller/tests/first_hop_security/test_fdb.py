"""The FDB: a port has a share of it, and a station does not move by one frame."""

from __future__ import annotations

import pytest
from first_hop_security.lan import ATTACKER, HOST, OTHER, PROVIDER, ROUTER, Lan, lan
from rig import Host

from wayname.p4_constants import Drop
from wayname.wire import ipv6
from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, NeighbourAdvertisement
from wayname.wire.ethernet import Frame
from wayname.wire.mac import Mac

ARP = 0x0806


def frame_from(mac: Mac, to: Mac) -> Frame:
    """Return a frame that is not IPv6, which any station may send."""
    return Frame(to, mac, ARP, bytes(46))


def test_one_frame_with_anothers_mac_takes_no_traffic() -> None:
    site = Lan()
    site.rig.inject(ATTACKER, frame_from(site.victim.mac, site.other.mac))
    assert site.station(site.victim.mac) == 1
    site.rig.advance(3)
    assert site.station(site.victim.mac) == 1
    assert site.delivered(HOST) == {1}
    # What it sends in the victim's name goes nowhere any more.
    assert not site.rig.inject(ATTACKER, frame_from(site.victim.mac, site.other.mac))
    assert site.dropped(Drop.MAC_MOVE) == 1
    assert "station.refused" in site.rig.kinds()
    assert "station.moved" not in site.rig.kinds()


def test_nor_do_many() -> None:
    site = Lan()
    for _ in range(200):
        site.rig.inject(ATTACKER, frame_from(site.victim.mac, site.other.mac))
        site.rig.advance(0.05)
        assert site.station(site.victim.mac) == 1
    assert site.rig.kinds().count("station.refused") <= 3


def test_a_station_that_left_moves_in_a_second() -> None:
    site = Lan()
    site.victim.port = 2
    site.victim.ping(ROUTER)
    site.rig.advance(1.2)
    assert site.station(site.victim.mac) == 2
    assert site.delivered(HOST) == {2}
    assert all(each["port"] != 1 for each in site.rig.entries("learned_macs"))


def test_a_station_without_addresses_moves_when_it_was_silent_for_long() -> None:
    site = Lan()
    silent = Mac.parse("02:00:00:00:44:44")
    site.rig.inject(1, frame_from(silent, site.other.mac))
    site.rig.advance(10)
    site.rig.inject(2, frame_from(silent, site.other.mac))
    site.rig.advance(7)
    assert site.station(silent) == 1
    site.rig.advance(30)
    site.rig.inject(2, frame_from(silent, site.other.mac))
    site.rig.advance(1.5)
    assert site.station(silent) == 2


def test_one_that_is_refused_may_move_later() -> None:
    site = Lan()
    site.rig.inject(2, frame_from(site.victim.mac, site.other.mac))
    site.rig.advance(1.2)
    site.victim.port = 2
    site.rig.advance(5)
    site.victim.ping(ROUTER)
    site.rig.advance(1.2)
    assert site.station(site.victim.mac) == 2


def test_the_policy_can_be_switched_off() -> None:
    site = Lan(lan(ports="mac_move_guard = false"))
    site.rig.inject(ATTACKER, frame_from(site.victim.mac, site.other.mac))
    assert site.station(site.victim.mac) == ATTACKER


def test_a_port_that_is_full_takes_no_room_of_others() -> None:
    site = Lan(lan(ports="max_macs = 16"))
    for number in range(400):
        site.rig.inject(ATTACKER, frame_from(Mac(0x02_00_00_01_00_00 + number), site.other.mac))
        site.rig.now += 0.01
    assert len(site.rig.entries("fdb")) <= 16 + 3
    assert site.dropped(Drop.MAC_LIMIT) >= 380
    assert site.rig.kinds().count("stations.port_full") == 1
    newcomer = Host(site.rig, 2, 10, "02:00:00:00:00:13", "2001:db8:1::13")
    newcomer.ping(ROUTER)
    assert site.station(newcomer.mac) == 2
    # And what is known stays known: nothing of others is flooded.
    sent = site.rig.inject(1, site.victim.frame(site.other.mac, ipv6.Packet(HOST, OTHER, 59, b"")))
    assert {port for port, _ in sent} == {2}


def test_a_full_port_learns_again_when_stations_fall_silent() -> None:
    site = Lan(lan(ports="max_macs = 16"))
    for number in range(40):
        site.rig.inject(ATTACKER, frame_from(Mac(0x02_00_00_01_00_00 + number), site.other.mac))
    site.rig.advance(310)
    site.attacker.ping(ROUTER)
    assert site.station(site.attacker.mac) == ATTACKER


def test_the_shares_of_all_ports_fit_into_the_table() -> None:
    site = Lan()
    ports = site.rig.config.ports
    shares = [site.rig.edge.host_ports.max_macs(port.number) for port in ports]
    assert sum(shares) <= site.rig.schema.tables["fdb"].size
    addresses = [site.rig.edge.host_ports.max_addresses(port.number) for port in ports]
    assert sum(addresses) <= site.rig.schema.tables["source_bindings"].size


PINNED = """
[[neighbour]]
address = "2001:db8:100::1"
mac = "02:00:00:00:00:64"
port = 4
"""


@pytest.mark.parametrize("silent", [False, True])
def test_a_static_next_hop_never_moves(silent: bool) -> None:
    site = Lan(lan(more=PINNED))
    site.provider.silent = silent
    next_hop, mac = site.provider.addresses[1], site.provider.mac
    thief = Host(site.rig, 5, 100, "02:00:00:00:00:65")
    said = NeighbourAdvertisement(next_hop, thief.mac, override=True).message()
    for _ in range(10):
        site.rig.inject(5, frame_from(mac, site.victim.mac))
        thief.multicast(said.packet(thief.addresses[0], ALL_NODES, HOP_LIMIT))
        site.rig.advance(1)
    pinned = {"vlan": 100, "address": int(next_hop), "port": PROVIDER, "mac": mac.value}
    assert pinned in site.rig.entries("neighbours")
    assert site.station(mac) == PROVIDER
    assert {"station.refused", "neighbour.refused"} <= set(site.rig.kinds())
    # It is out of use while it does not answer, as any next hop.
    assert ("nexthop.down" in site.rig.kinds()) == silent
