"""Floods of one port: next hops stay up, neighbours are resolved, and others are answered, at any rate."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

import finsy as fy
import pytest
from floods import NO_NEXT_HEADER, Attacker, Flood
from rig import Host, Rig

from wayname.config.model import LinkAddress
from wayname.pipeline.punts import cell
from wayname.pipeline.reasons import Punt
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


class Site:
    """A site with two providers, a host at each of two ports, and an attacker at the first."""

    def __init__(self) -> None:
        self.rig = rig = Rig(SITE)
        self.first = Host(rig, 4, 100, "02:00:00:00:00:64", "2001:db8:100::1")
        self.second = Host(rig, 5, 200, "02:00:00:00:00:c8", "2001:db8:200::1")
        self.first.forwards = self.second.forwards = True
        self.neighbour = Host(rig, 1, 10, "02:00:00:00:00:12", "2001:db8:1::12")
        self.other = Host(rig, 2, 10, "02:00:00:00:00:13", "2001:db8:1::13")
        rig.advance(1)
        self.inside = Attacker("02:00:00:00:00:11", "2001:db8:1::11", self.neighbour.router.mac)
        self.outside = Attacker("02:00:00:00:00:64", "2001:db8:666::1", self.first.router.mac)
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
    both = [site.inside.advertisements("2001:db8:1::11", ROUTER), site.inside.pings(ROUTER)]
    for _ in site.flood(1, both, 3):
        continue
    assert "nexthop.down" not in site.rig.kinds()


def floods_of_a_host(site: Site) -> dict[str, Flood]:
    attacker = site.inside
    return {
        "advertisements": attacker.advertisements("2001:db8:1::11", ROUTER),
        "advertisements of a next hop": attacker.advertisements("2001:db8:100::1", ROUTER),
        "forged advertisements": attacker.forged_advertisements(LAN, ROUTER),
        "solicitations": attacker.solicitations(ROUTER),
        "forged solicitations": attacker.solicitations(ROUTER, LAN),
        "router solicitations": attacker.router_solicitations(),
        "pings": attacker.pings(ROUTER),
        "forged pings": attacker.forged_pings(ROUTER),
        "forged probes": attacker.forged_probes("2001:db8:100::2"),
        "scan": attacker.scan(LAN),
        "forged scan": attacker.scan(LAN, forged=True),
        "datagrams": attacker.datagrams(ROUTER),
        "expired": attacker.expired("2001:db8:f::1"),
        "dhcpv6": attacker.dhcpv6(),
    }


def floods_from_outside(site: Site) -> dict[str, Flood]:
    attacker = site.outside
    return {
        "pings": attacker.forged_pings("2001:db8:100::2"),
        "forged probes": attacker.forged_probes("2001:db8:100::2"),
        "advertisements of the next hop": attacker.advertisements("2001:db8:100::1", "2001:db8:100::2"),
        "scan": attacker.scan(LAN, forged=True),
        "scan from one site": attacker.scan(LAN),
        "expired": attacker.expired("2001:db8:f::1"),
    }


KINDS = [
    *((1, kind) for kind in floods_of_a_host(Site())),
    *((4, kind) for kind in floods_from_outside(Site())),
]


@pytest.mark.parametrize(("port", "kind"), KINDS)
def test_a_flood_of_one_port_is_nothing_to_others(site: Site, port: int, kind: str) -> None:
    flood = (floods_of_a_host if port == 1 else floods_from_outside)(site)[kind]
    rig, answered, turns = site.rig, 0, 0
    assert asks(site.neighbour) and asks(site.other)
    # Long enough that neighbours are asked whether they are still there.
    for _ in site.flood(port, [flood], 9, rate=4_000):
        turns += 1
        stranger = Host(rig, 2, 10, f"02:00:00:00:02:{turns:02x}", f"2001:db8:1::2:{turns:x}")
        answered += asks(stranger)
        assert site.other.heard(site.other.ping(ROUTER))
    assert "nexthop.down" not in rig.kinds()
    assert site.keeps(site.neighbour) and site.keeps(site.other)
    assert answered == turns


def test_a_scan_by_one_port_leaves_room_for_what_comes_by_another(site: Site) -> None:
    late = Host(site.rig, 2, 10, "02:00:00:00:00:14", "2001:db8:1::14")
    scan = site.outside.scan(LAN, forged=True)
    for number, _ in enumerate(site.flood(4, [scan], 1, rate=4_000)):
        if number == 8:
            packet = ipv6.Packet(IPv6Address("2001:db8:f::1"), late.addresses[-1], NO_NEXT_HEADER, b"")
            site.second.send(packet)
    assert site.keeps(late)
    assert site.rig.edge.neighbours.resolutions.given_up.keys() == {4}


def test_what_is_held_back_is_counted_by_reason_and_port(site: Site) -> None:
    for _ in site.flood(1, [site.inside.forged_pings(ROUTER)], 1, rate=4_000):
        continue
    counted = [each for each in site.rig.read([fy.P4CounterEntry("punts_held_back")]) if each.packet_count]
    assert [each.index for each in counted] == [cell(Punt.LOCAL, 1)]
    assert counted[0].packet_count > 2_000
