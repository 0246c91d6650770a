"""What the kernel says of routes and next hops, on the real switch in process."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest
from linux_site import BY_A, BY_B, BY_BOTH, LINKS, OTHER, SITE, STATIC, WAN0, WAN1, A, B, failed, route
from rig import Host, Rig

from wayname.edge.boundary import KernelChanges
from wayname.edge.kernel.route_groups import NOBODY
from wayname.netlink.messages import Address, Hop, Link, Message, Neighbour, Nexthop, Path, Target
from wayname.wire.mac import Mac

# Two providers by the next hops of A and B.
TRANSLATED = """
[[provider]]
name = "p"
prefix = "2001:db8:a::/48"
via = ["2001:db8:100::1"]
[[provider]]
name = "q"
prefix = "2001:db8:b::/48"
via = ["2001:db8:200::1"]
[[nptv6]]
inside = "2001:db8:1::/48"
providers = ["p", "q"]
"""
LINUX_ADDRESS = IPv6Address("2001:db8:100::77")


@pytest.fixture
def rig() -> Rig:
    rig = Rig(SITE)
    rig.receive(KernelChanges(LINKS, begins=True, ends=True))
    return rig


def hear(rig: Rig, *messages: Message) -> int:
    """Let the kernel say something; return how many updates it cost."""
    before = len(rig.writes)
    rig.receive(KernelChanges(messages))
    return sum(len(write.updates) for write in rig.writes[before:])


def entries_of(rig: Rig, prefix: str) -> list[dict[str, object]]:
    network = IPv6Network(prefix)
    key = (int(network.network_address), network.prefixlen) if network.prefixlen else None
    return [each for each in rig.entries("routes") if each.get("destination") == key]


def group_of(rig: Rig, prefix: str) -> int:
    [found] = entries_of(rig, prefix)
    group = found["ecmp_group"]
    assert isinstance(group, int)
    return group


def hops_of(rig: Rig, prefix: str) -> dict[int, int]:
    """Return the next hops by which packets of a prefix leave, with their weights."""
    numbers = ((each["nexthop"], each["address"]) for each in rig.entries("nexthops"))
    by_number = {number: address for number, address in numbers if isinstance(number, int) and isinstance(address, int)}
    members = rig.members(group_of(rig, prefix))
    return {by_number.get(number, 0): weight for number, weight in members.items()}


class TestRoutes:
    def test_share_a_group(self, rig: Rig) -> None:
        hear(rig, *(route(f"2001:db8:{number:x}::/48", BY_A) for number in range(0x1000, 0x1064)))
        assert len({group_of(rig, f"2001:db8:{number:x}::/48") for number in range(0x1000, 0x1064)}) == 1
        assert hops_of(rig, "2001:db8:1000::/48") == {A: 1}

    def test_have_several_next_hops_with_weights(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_BOTH))
        assert hops_of(rig, "2001:db8:a::/48") == {A: 1, B: 2}

    def test_that_are_withdrawn_leave_nothing(self, rig: Rig) -> None:
        before = rig.tables()
        hear(rig, route("2001:db8:a::/48", BY_BOTH), route("::/0", BY_A))
        assert rig.tables() != before
        hear(rig, route("2001:db8:a::/48", BY_BOTH, is_gone=True), route("::/0", BY_A, is_gone=True))
        assert rig.tables() == before

    def test_that_take_the_place_of_others_outlive_them(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_BOTH), route("2001:db8:a::/48", Path(Target.DISCARD)))
        hear(rig, route("2001:db8:a::/48", BY_A, is_gone=True), route("2001:db8:a::/48", BY_B, is_gone=True))
        assert entries_of(rig, "2001:db8:a::/48")

    def test_lose_one_of_their_next_hops(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_BOTH), route("2001:db8:a::/48", BY_B, is_gone=True))
        assert hops_of(rig, "2001:db8:a::/48") == {A: 1}

    def test_by_other_links_have_no_entries(self, rig: Rig) -> None:
        assert hear(rig, route("2001:db8:a::/48", Path(Target.FORWARD, (Hop(OTHER, A, 1),)))) == 0

    def test_that_the_configuration_has_stay_as_they_are(self) -> None:
        rig = Rig(SITE + '[[route]]\nprefix = "2001:db8:a::/48"\nvia = ["2001:db8:200::1"]\n')
        rig.receive(KernelChanges(LINKS, begins=True, ends=True))
        before = rig.entries("routes")
        hear(rig, route("2001:db8:a::/48", BY_A), route("2001:db8:100::/64", BY_B))
        assert rig.entries("routes") == before

    def test_lead_nowhere_or_to_a_link(self, rig: Rig) -> None:
        on_link = Path(Target.FORWARD, (Hop(WAN1, 0, 1),))
        hear(rig, route("2001:db8:a::/48", Path(Target.DISCARD)), route("2001:db8:b::/64", on_link))
        [refused], [connected] = entries_of(rig, "2001:db8:a::/48"), entries_of(rig, "2001:db8:b::/64")
        assert refused.keys() == {"destination"}
        assert connected["vlan"] == 200

    def test_of_the_least_metric_are_used_and_others_are_behind_them(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_B, 30), route("2001:db8:a::/48", BY_A, 20))
        assert hops_of(rig, "2001:db8:a::/48") == {A: 1}
        hear(rig, failed(WAN0, A))
        assert hops_of(rig, "2001:db8:a::/48") == {B: 1}
        hear(rig, route("2001:db8:a::/48", BY_A, 20, is_gone=True))
        assert hops_of(rig, "2001:db8:a::/48") == {B: 1}

    def test_beyond_the_table_are_left_out_and_told_once(self) -> None:
        rig = Rig(SITE)
        assert rig.edge.kernel is not None
        rig.edge.kernel.routes._room = 2
        rig.receive(KernelChanges(LINKS, begins=True, ends=True))
        hear(rig, *(route(f"2001:db8:a{number}::/48", BY_A) for number in range(4)), route("::/0", BY_B))
        assert len([each for each in rig.entries("routes") if "ecmp_group" in each]) == 3
        assert rig.kinds().count("routes.full") == 1
        hear(rig, *(route(f"2001:db8:a{number}::/48", BY_A, is_gone=True) for number in range(2)))
        assert group_of(rig, "2001:db8:a3::/48")
        assert "routes.fit" in rig.kinds()


class TestNextHops:
    def test_that_fail_cost_one_write_for_all_routes(self, rig: Rig) -> None:
        many = [route(f"2001:db8:{number:x}::/48", BY_BOTH) for number in range(0x1000, 0x1100)]
        hear(rig, *many)
        assert hear(rig, failed(WAN0, A)) == 1
        assert hops_of(rig, "2001:db8:1000::/48") == {B: 2}
        assert hear(rig, Neighbour(WAN0, A, 0, 0x20, True)) == 1
        assert hops_of(rig, "2001:db8:1000::/48") == {A: 1, B: 2}

    def test_of_a_link_without_carrier_are_left(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_BOTH))
        hear(rig, Link(WAN1, "wan1", False, False))
        assert hops_of(rig, "2001:db8:a::/48") == {A: 1}

    def test_tell_at_once_which_providers_work(self) -> None:
        rig = Rig(SITE + TRANSLATED)
        rig.receive(KernelChanges(LINKS, begins=True, ends=True))

        def told() -> list[tuple[str, str]]:
            return [(each.kind, each.subject) for each in rig.events if each.kind.startswith("provider.")]

        hear(rig, Link(WAN0, "wan0", False, False))
        assert told() == [("provider.down", "p")]
        hear(rig, Link(WAN0, "wan0", True, False))
        assert told() == [("provider.down", "p"), ("provider.up", "p")]

    def test_that_all_fail_leave_packets_to_the_default_route(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_A), route("::/0", BY_B))
        hear(rig, failed(WAN0, A))
        assert hops_of(rig, "2001:db8:a::/48") == {B: 1}
        hear(rig, failed(WAN1, B))
        assert hops_of(rig, "2001:db8:a::/48") == {0: 1}
        assert rig.members(group_of(rig, "::/0")) == {NOBODY: 1}

    def test_that_fail_leave_packets_to_the_configured_default_route(self) -> None:
        rig = Rig(SITE + '[[route]]\nprefix = "::/0"\nvia = ["2001:db8:200::1"]\n')
        rig.receive(KernelChanges(LINKS, begins=True, ends=True))
        hear(rig, route("2001:db8:a::/48", BY_A))
        hear(rig, failed(WAN0, A))
        assert hops_of(rig, "2001:db8:a::/48") == {B: 1}

    def test_that_do_not_answer_probes_are_left(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_BOTH))
        rig.advance(2)
        assert hops_of(rig, "2001:db8:a::/48") == {0: 1}

    def test_of_objects_change_without_a_write_for_a_route(self, rig: Rig) -> None:
        hear(rig, Nexthop(5, BY_A, (), False), Nexthop(6, BY_B, (), False))
        hear(rig, Nexthop(10, Path(Target.FORWARD), ((5, 1), (6, 3)), False))
        by_object = Path(Target.FORWARD, nexthop=10)
        hear(rig, *(route(f"2001:db8:{number:x}::/48", by_object) for number in range(0x1000, 0x1100)))
        assert hops_of(rig, "2001:db8:1000::/48") == {A: 1, B: 3}
        assert hear(rig, Nexthop(10, Path(Target.FORWARD), ((6, 1),), False)) < 6
        assert hops_of(rig, "2001:db8:1000::/48") == {B: 1}

    def test_are_known_by_the_kernels_neighbours(self, rig: Rig) -> None:
        Host(rig, 4, 100, "02:00:00:00:00:64", "2001:db8:100::1").ping("2001:db8:100::2")
        rig.edge.neighbours._neighbours.clear()
        hear(rig, Neighbour(WAN0, A, Mac.parse("02:00:00:00:00:64").value, 0x02, False))
        assert [each.port for each in rig.edge.neighbours] == [4]


class TestReconciliation:
    def test_a_controller_that_is_started_again_writes_nothing(self, rig: Rig) -> None:
        said: list[Message] = [*LINKS, route("2001:db8:a::/48", BY_BOTH), route("::/0", BY_B, protocol=STATIC)]
        hear(rig, *said)
        for port, vlan, address in ((4, 100, "2001:db8:100::1"), (5, 200, "2001:db8:200::1")):
            Host(rig, port, vlan, f"02:00:00:00:00:{port:02}", address).forwards = True
        rig.advance(2)
        before = rig.entries("routes"), rig.entries("nexthops")
        writes = len(rig.writes)
        rig.restart_controller(KernelChanges(said, begins=True, ends=True))
        assert before == (rig.entries("routes"), rig.entries("nexthops"))
        assert [update for write in rig.writes[writes:] for update in write.updates] == []

    def test_an_edge_that_takes_the_place_of_another_knows_what_that_one_knew(self, rig: Rig) -> None:
        by_object = Path(Target.FORWARD, nexthop=5)
        hear(rig, Nexthop(5, BY_A, (), False), route("2001:db8:a::/48", BY_BOTH), route("2001:db8:b::/48", by_object))
        hear(rig, failed(WAN0, A), Address(WAN0, int(LINUX_ADDRESS), 64, False), route("::/0", BY_B, 30))
        before = rig.entries("routes"), rig.entries("ecmp_groups"), rig.entries("nexthops")
        assert rig.edge.kernel is not None
        rig.restart_controller(rig.edge.kernel.restated())
        assert before == (rig.entries("routes"), rig.entries("ecmp_groups"), rig.entries("nexthops"))

    def test_a_switch_that_is_started_again_gets_all_routes(self, rig: Rig) -> None:
        hear(rig, route("2001:db8:a::/48", BY_BOTH))
        rig.restart_switch()
        assert hops_of(rig, "2001:db8:a::/48") == {A: 1, B: 2}

    def test_what_the_kernel_does_not_name_again_is_gone(self, rig: Rig) -> None:
        hear(rig, Nexthop(5, BY_A, (), False), route("2001:db8:a::/48", BY_A), route("2001:db8:b::/48", BY_B))
        rig.receive(KernelChanges((), begins=True))
        rig.receive(KernelChanges(LINKS[:1]))
        rig.receive(KernelChanges(LINKS[1:]))
        assert hops_of(rig, "2001:db8:a::/48") == {A: 1}
        rig.receive(KernelChanges((route("2001:db8:b::/48", BY_B),)))
        assert hear(rig) == 0
        rig.receive(KernelChanges((), ends=True))
        assert hops_of(rig, "2001:db8:b::/48") == {B: 1}
        assert rig.edge.kernel is not None and len(rig.edge.kernel.routes) == 1


def test_addresses_that_linux_alone_has_are_the_routers(rig: Rig) -> None:
    own = int(LINUX_ADDRESS)
    hear(rig, Address(WAN0, own, 64, False))
    assert {"destination": (own, 128)} in rig.entries("routes")
    hear(rig, Address(WAN0, own, 64, True))
    assert {"destination": (own, 128)} not in rig.entries("routes")
