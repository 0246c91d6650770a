"""Floods of one port: next hops stay up, neighbours are resolved, and others are answered, at any rate."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

import pytest
from floods import NO_NEXT_HEADER, Attacker, Flood
from rig import Host, Rig
from served import Served, client_of

from wayname.composition.configuration import parse_config
from wayname.config.model import LinkAddress
from wayname.p4_constants import Punt
from wayname.wire import ipv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation
from wayname.wire.mac import solicited_node

ROUTER, LAN = "2001:db8:1::1", "2001:db8:1::"
# As many as the finding had, each kind; the clock is virtual.
A_SECOND = 20_000

SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 10
[[port]]
number = 4
vlan = 100
[[port]]
number = 5
vlan = 200
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 100
addresses = ["2001:db8:100::2/64"]
[[interface]]
vlan = 200
addresses = ["2001:db8:200::2/64"]
[[route]]
prefix = "::/0"
via = ["2001:db8:100::1"]
[[route]]
prefix = "2001:db8:f::/48"
via = ["2001:db8:200::1"]
"""


CONFIG = parse_config(SITE)
INSIDE = Attacker("02:00:00:00:00:11", "2001:db8:1::11", CONFIG.interfaces[0].mac)
OUTSIDE = Attacker("02:00:00:00:00:64", "2001:db8:666::1", CONFIG.interfaces[1].mac)


class Site:
    """A site with two providers, and a host at each of two ports."""

    def __init__(self) -> None:
        self.rig = rig = Rig(SITE)
        self.first = Host(rig, 4, 100, "02:00:00:00:00:64", "2001:db8:100::1")
        self.second = Host(rig, 5, 200, "02:00:00:00:00:c8", "2001:db8:200::1")
        self.first.forwards = self.second.forwards = True
        self.neighbour = Host(rig, 1, 10, "02:00:00:00:00:12", "2001:db8:1::12")
        self.other = Host(rig, 2, 10, "02:00:00:00:00:13", "2001:db8:1::13")
        rig.advance(1)
        rig.events.clear()

    def flood(self, port: int, floods: list[Flood], seconds: float, rate: int = A_SECOND) -> Iterator[int]:
        """Send so many a second of each kind; yield ten times a second, for what others do meanwhile."""
        rig, end = self.rig, self.rig.now + seconds
        for number in range(round(rate * seconds)):
            for flood in floods:
                rig.inject(port, flood(number))
            rig.advance(1 / rate)
            if number % (rate // 10) == 0:
                yield number
        assert rig.now == pytest.approx(end)

    def keeps(self, host: Host) -> bool:
        """Whether the edge still knows where a host is."""
        at = LinkAddress(host.vlan, host.addresses[-1])
        known = self.rig.edge.neighbours.get(at)
        return known is not None and (known.mac, known.port) == (host.mac, host.port)


def asks(host: Host) -> bool:
    """Whether a host that asks for the router's MAC gets an answer."""
    message = NeighbourSolicitation(IPv6Address(ROUTER), host.mac).message()
    packet = message.packet(host.addresses[-1], solicited_node(IPv6Address(ROUTER)), HOP_LIMIT)
    return bool(host.heard(host.multicast(packet)))


@pytest.fixture
def site() -> Site:
    return Site()


def test_advertisements_and_pings_of_a_host_take_no_next_hop_down(site: Site) -> None:
    both = [INSIDE.advertisements("2001:db8:1::11", ROUTER), INSIDE.pings(ROUTER)]
    for _ in site.flood(1, both, 3):
        continue
    assert "nexthop.down" not in site.rig.kinds()


# By a host's port, and by that of a provider.
FLOODS: dict[tuple[int, str], Flood] = {
    (1, "advertisements"): INSIDE.advertisements("2001:db8:1::11", ROUTER),
    (1, "advertisements of a next hop"): INSIDE.advertisements("2001:db8:100::1", ROUTER),
    (1, "forged advertisements"): INSIDE.forged_advertisements(LAN, ROUTER),
    (1, "solicitations"): INSIDE.solicitations(ROUTER),
    (1, "forged solicitations"): INSIDE.solicitations(ROUTER, LAN),
    (1, "router solicitations"): INSIDE.router_solicitations(),
    (1, "router advertisements"): INSIDE.router_advertisements(),
    (1, "pings"): INSIDE.pings(ROUTER),
    (1, "forged pings"): INSIDE.forged_pings(ROUTER),
    (1, "forged probes"): INSIDE.forged_probes("2001:db8:100::2"),
    (1, "scan"): INSIDE.scan(LAN),
    (1, "forged scan"): INSIDE.scan(LAN, forged=True),
    (1, "datagrams"): INSIDE.datagrams(ROUTER),
    (1, "expired"): INSIDE.expired("2001:db8:f::1"),
    (1, "dhcpv6"): INSIDE.dhcpv6(),
    (4, "pings"): OUTSIDE.forged_pings("2001:db8:100::2"),
    (4, "forged probes"): OUTSIDE.forged_probes("2001:db8:100::2"),
    (4, "advertisements of the next hop"): OUTSIDE.advertisements("2001:db8:100::1", "2001:db8:100::2"),
    (4, "scan"): OUTSIDE.scan(LAN, forged=True),
    (4, "scan from one site"): OUTSIDE.scan(LAN),
    (4, "expired"): OUTSIDE.expired("2001:db8:f::1"),
}


@pytest.mark.parametrize(("port", "kind"), FLOODS)
def test_a_flood_of_one_port_is_nothing_to_others(site: Site, port: int, kind: str) -> None:
    rig, answered, turns = site.rig, 0, 0
    assert asks(site.neighbour) and asks(site.other)
    # Long enough that neighbours are asked whether they are still there.
    for _ in site.flood(port, [FLOODS[port, kind]], 9, rate=2_000):
        turns += 1
        stranger = Host(rig, 2, 10, f"02:00:00:00:02:{turns:02x}", f"2001:db8:1::2:{turns:x}")
        answered += asks(stranger)
        assert site.other.heard(site.other.ping(ROUTER))
    assert "nexthop.down" not in rig.kinds()
    assert site.keeps(site.neighbour) and site.keeps(site.other)
    assert answered == turns


def test_a_scan_by_one_port_leaves_room_for_what_comes_by_another(site: Site) -> None:
    late = Host(site.rig, 2, 10, "02:00:00:00:00:14", "2001:db8:1::14")
    scan = OUTSIDE.scan(LAN, forged=True)
    for number, _ in enumerate(site.flood(4, [scan], 1, rate=4_000)):
        if number == 8:
            packet = ipv6.Packet(IPv6Address("2001:db8:f::1"), late.addresses[-1], NO_NEXT_HEADER, b"")
            site.second.send(packet)
    assert site.keeps(late)
    assert site.rig.edge.neighbours.resolutions.given_up.keys() == {4}


async def test_what_is_held_back_is_told_by_reason_and_port() -> None:
    served = Served(SITE)
    flood = OUTSIDE.forged_pings("2001:db8:100::2")
    for number in range(1_000):
        served.rig.inject(4, flood(number))
    served.lost[Punt.LOCAL, 4] = 7
    async with client_of(served) as client:
        (row,) = (await client.get("/v1/punts")).json()
        metrics = (await client.get("/metrics")).text
    passed = share(1_000) // 2
    assert row == {
        "punt_class": Punt.LOCAL,
        "name": "local",
        "port": 4,
        "port_name": "port4",
        "switch": 1_000 - passed,
        "controller": 7,
    }
    held_back = 'wayname_punts_rate_limited_total{class="local",name="port4",port="4",where="switch"}'
    assert f"{held_back} {1_000 - passed:.1f}" in metrics


def share(punts: int) -> int:
    """What one of the site's ports may send of so many."""
    return punts // len(CONFIG.ports)
