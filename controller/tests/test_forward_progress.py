"""A next hop whose probes do not come back, while a peer says that what goes by it arrives (RFC 4861, 7.3.1)."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from nptv6_site import SITE
from rig import Host, Rig

from wayname.config.links import LinkAddress
from wayname.edge.liveness import NextHopHealth

BY_BOTH = '[[route]]\nprefix = "2001:db8:f::/48"\nvia = ["2001:db8:0:1::2", "2001:db8:0:2::2"]\n'
HOP = LinkAddress(200, IPv6Address("2001:db8:0:2::2"))


class OneWay(Rig):
    """A site with two providers; nothing comes back from the second one's router when a test says so."""

    def __init__(self) -> None:
        super().__init__(SITE + BY_BOTH)
        self.hops = [
            Host(self, port, vlan, f"02:00:00:00:00:0{port}", f"2001:db8:0:{number}::2")
            for number, (port, vlan) in enumerate(((2, 100), (3, 200)), 1)
        ]
        for hop in self.hops:
            hop.forwards = True
        self.advance(1)
        assert self.kinds().count("nexthop.up") == 2
        self.number = self.edge.routes.number(HOP)

    def hear_words(self, seconds: float) -> None:
        """Let a peer say again and again that packets come by the provider."""
        for _ in range(round(seconds / 0.25)):
            self.edge.liveness.arrived(HOP, self.now)
            self.advance(0.25)

    def uses(self) -> tuple[bool, bool, bool]:
        """Tell whether the hop's neighbour is there, and routes by it: its provider's, and those for all."""
        neighbour = any(each["address"] == int(HOP.address) for each in self.entries("neighbours"))
        of_provider = any(each.get("nexthop") == self.number for each in self.entries("vrf_routes"))
        [group] = [each["ecmp_group"] for each in self.entries("routes") if "ecmp_group" in each]
        assert isinstance(group, int)
        return neighbour, of_provider, self.number in self.members(group)


@pytest.fixture
def rig() -> OneWay:
    return OneWay()


def test_its_neighbour_and_its_providers_table_stay_while_words_come(rig: OneWay) -> None:
    assert rig.uses() == (True, True, True)
    rig.hops[1].silent = True
    rig.hear_words(5)
    assert rig.edge.liveness.health(HOP) is NextHopHealth.DOWN, "for all that waits for an answer"
    assert rig.uses() == (True, True, False)
    provider = next(each for each in rig.config.providers if HOP in dict(each.via))
    assert not rig.edge.reachability.is_open(provider)
    assert rig.edge.reachability.is_one_way(provider)


def test_it_is_lost_three_probes_after_the_last_word(rig: OneWay) -> None:
    rig.hops[1].silent = True
    rig.hear_words(5)
    rig.advance(0.25)
    assert rig.uses() == (True, True, False)
    rig.advance(0.75)
    assert rig.uses() == (False, False, False)
    assert rig.kinds()[-2:] == ["nexthop.dead", "neighbour.lost"]


def test_without_a_word_it_is_lost_at_once(rig: OneWay) -> None:
    rig.hops[1].silent = True
    rig.advance(0.75)
    assert rig.uses() == (False, False, False)
    # Nothing goes there now that could arrive.
    rig.hear_words(1)
    assert rig.uses() == (False, False, False)


def test_it_is_used_as_before_when_a_probe_comes_back(rig: OneWay) -> None:
    rig.hops[1].silent = True
    rig.hear_words(5)
    rig.hops[1].silent = False
    rig.advance(1)
    assert rig.uses() == (True, True, True)
    rig.hops[1].silent = True
    rig.advance(0.75)
    assert rig.uses() == (False, False, False), "what was heard before is of no use any more"


def test_a_new_configuration_goes_on_with_it(rig: OneWay) -> None:
    rig.hops[1].silent = True
    rig.hear_words(5)
    before, rig.edge = rig.edge, rig._new_edge(rig.edge)
    rig.edge.liveness.go_on(before.liveness)
    assert rig.edge.routes.is_one_way(HOP)
