"""A table that is full answers RESOURCE_EXHAUSTED, and changes nothing."""

from collections.abc import Callable

import finsy as fy
from finsy.p4entity import P4Entity
from finsy.proto import p4r

from harness.edge_test import EntitiesTest


class FullTest(EntitiesTest):
    """A test that fills something up."""

    def verify_full(self, make: Callable[[int], P4Entity], asked: P4Entity, size: int) -> None:
        """So many go in and no more; one that goes makes room for one."""
        most = 512
        for start in range(1, size + 1, most):
            self.entries.add(*(make(number) for number in range(start, min(start + most, size + 1))))
        before = self.held(asked)
        self.assertEqual(len(before), size)
        statuses = self.entries.try_write(p4r.Update.INSERT, make(size + 1), make(size + 2))
        self.assertEqual([status.name for status in statuses], ["RESOURCE_EXHAUSTED"] * 2)
        self.assertEqual(self.held(asked), before)
        self.entries.delete(make(1))
        self.entries.add(make(size + 1))
        self.assertEqual(len(self.held(asked)), size)

    def held(self, asked: P4Entity) -> set[bytes]:
        """What the switch holds."""
        return {entity.SerializeToString(deterministic=True) for entity in self.read(asked)}


class NextHops(FullTest):
    """An exact table."""

    def runTest(self) -> None:
        size = self.target.schema.tables["nexthops"].size

        def nexthop(number: int) -> P4Entity:
            return self.entries.entry("nexthops", {"nexthop": number}, "set_nexthop", vlan=1, address="fe80::1")

        self.verify_full(nexthop, fy.P4TableEntry("nexthops"), size)


class EcmpGroups(FullTest):
    """A table whose entries name members."""

    def runTest(self) -> None:
        action = fy.Action("set_ecmp_nexthop", nexthop=1)
        self.entries.add(fy.P4ActionProfileMember("ecmp_members", member_id=1, action=action))

        def spread(number: int) -> P4Entity:
            match = fy.Match(ecmp_group=number)
            return fy.P4TableEntry("ecmp_groups", match=match, action=fy.IndirectAction(member_id=1))

        self.verify_full(spread, fy.P4TableEntry("ecmp_groups"), self.target.schema.tables["ecmp_groups"].size)


class Members(FullTest):
    """An action profile."""

    def runTest(self) -> None:
        def member(number: int) -> P4Entity:
            action = fy.Action("set_ecmp_nexthop", nexthop=number)
            return fy.P4ActionProfileMember("ecmp_members", member_id=number, action=action)

        size = self.target.schema.action_profiles["ecmp_members"].size
        self.verify_full(member, fy.P4ActionProfileMember("ecmp_members"), size)


class LongGroup(EntitiesTest):
    """A group of more members than it may have."""

    def runTest(self) -> None:
        numbers = range(1, 6)
        self.entries.add(
            *(
                fy.P4ActionProfileMember(
                    "ecmp_members",
                    member_id=number,
                    action=fy.Action("set_ecmp_nexthop", nexthop=number),
                )
                for number in numbers
            ),
        )
        members = [fy.P4Member(number, weight=1) for number in numbers]
        group = fy.P4ActionProfileGroup("ecmp_members", group_id=1, max_size=4, members=members)
        (status,) = self.entries.try_write(p4r.Update.INSERT, group)
        self.assertEqual(status.name, "RESOURCE_EXHAUSTED")
        self.assertEqual(self.read(fy.P4ActionProfileGroup("ecmp_members")), [])
