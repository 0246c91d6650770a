"""What is said of a neighbour's MAC: the neighbour itself has the last word."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from first_hop_security.lan import HOST, PROVIDER, ROUTER, Lan, lan
from rig import Host

from wayname.p4_constants import Drop
from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation

NEXT_HOP = IPv6Address("2001:db8:100::1")
# The source guard would drop it before anybody listens; without it the neighbour is asked all the same.
OPEN = lan(site="source_guard = false\nnd_inspection = false")


def claim(host: Host, address: IPv6Address, kind: str) -> None:
    """Say that an address is the host's, as only its holder should."""
    if kind == "solicitation":
        said = NeighbourSolicitation(host.router.link_local, host.mac).message()
        host.send(said.packet(address, host.router.link_local, HOP_LIMIT))
    elif kind == "solicited":
        said = NeighbourAdvertisement(address, host.mac, solicited=True, override=True).message()
        host.send(said.packet(address, host.router.link_local, HOP_LIMIT))
    else:
        said = NeighbourAdvertisement(address, host.mac, override=True).message()
        host.multicast(said.packet(address, ALL_NODES, HOP_LIMIT))


@pytest.mark.parametrize("kind", ["unsolicited", "solicited", "solicitation"])
@pytest.mark.parametrize("config", [lan(), OPEN])
def test_a_neighbour_that_lives_keeps_its_address(config: str, kind: str) -> None:
    site = Lan(config)
    assert site.delivered(HOST) == {1}
    for _ in range(30):
        claim(site.attacker, HOST, kind)
        assert site.neighbour(HOST) == site.victim.mac
        site.rig.advance(0.2)
    assert site.delivered(HOST) == {1}
    assert {"binding.refused", "neighbour.refused"} & set(site.rig.kinds())


@pytest.mark.parametrize("config", [lan(), OPEN])
def test_one_that_is_gone_loses_it(config: str) -> None:
    site = Lan(config)
    assert site.delivered(HOST) == {1}
    site.victim.silent = True
    site.attacker.addresses.append(HOST)
    claim(site.attacker, HOST, "unsolicited")
    site.rig.advance(0.6)
    claim(site.attacker, HOST, "unsolicited")
    site.rig.advance(0.6)
    assert site.delivered(HOST) == {3}


@pytest.mark.parametrize("kind", ["unsolicited", "solicited", "solicitation"])
def test_a_next_hop_stays_where_it_answers(kind: str) -> None:
    site = Lan()
    stranger = Host(site.rig, 5, 100, "02:00:00:00:00:65")
    for _ in range(20):
        claim(stranger, NEXT_HOP, kind)
        assert site.neighbour(NEXT_HOP) == site.provider.mac
        site.rig.advance(0.2)
    assert "nexthop.down" not in site.rig.kinds()


def test_nobody_else_keeps_a_dead_next_hop_in_use() -> None:
    site = Lan()
    stranger = Host(site.rig, 5, 100, "02:00:00:00:00:65")
    site.provider.silent = True
    for _ in range(20):
        said = NeighbourAdvertisement(NEXT_HOP, solicited=True).message()
        stranger.send(said.packet(stranger.addresses[0], stranger.router.link_local, HOP_LIMIT))
        site.rig.advance(0.1)
    assert "nexthop.down" in site.rig.kinds()


def test_false_advertisements_reach_no_host() -> None:
    site = Lan()
    said = NeighbourAdvertisement(HOST, site.attacker.mac, solicited=True, override=True).message()
    packet = said.packet(site.attacker.addresses[1], site.other.addresses[1], HOP_LIMIT)
    sent = site.rig.inject(3, site.attacker.frame(site.other.mac, packet))
    assert not [port for port, _ in sent if port == 2]
    assert site.dropped(Drop.SOURCE_BINDING) == 1


def test_a_port_has_a_limited_number_of_neighbours() -> None:
    site = Lan(lan(ports="max_addresses = 8", site="source_guard = false\nnd_inspection = false"))
    for number in range(40):
        claim(site.attacker, IPv6Address(f"2001:db8:1::6:{number:x}"), "solicitation")
    assert len([each for each in site.rig.entries("neighbours") if each["port"] == 3]) == 8
    assert site.rig.kinds().count("neighbours.port_full") == 1
    newcomer = Host(site.rig, 2, 10, "02:00:00:00:00:13", "2001:db8:1::13")
    claim(newcomer, newcomer.addresses[1], "solicitation")
    assert site.neighbour(newcomer.addresses[1]) == newcomer.mac
    assert PROVIDER in {each["port"] for each in site.rig.entries("neighbours")}
    assert newcomer.ping(ROUTER)
