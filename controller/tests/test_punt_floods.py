"""Floods of one port: next hops stay up, neighbours are resolved, and others are answered, at any rate."""

from __future__ import annotations

import pytest
from floods import Attacker, Flood
from rig import Host, Rig

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

    def flood(self, port: int, floods: list[Flood], seconds: float) -> None:
        """Send that many a second of each kind."""
        rig, end = self.rig, self.rig.now + seconds
        for number in range(round(A_SECOND * seconds)):
            for flood in floods:
                rig.inject(port, flood(number))
            rig.advance(1 / A_SECOND)
        assert rig.now == pytest.approx(end)


@pytest.fixture
def site() -> Site:
    return Site()


def test_advertisements_and_pings_of_a_host_take_no_next_hop_down(site: Site) -> None:
    site.flood(1, [site.inside.advertisements("2001:db8:1::11", ROUTER), site.inside.pings(ROUTER)], 3)
    assert "nexthop.down" not in site.rig.kinds()
