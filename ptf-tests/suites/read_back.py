"""What was written is what is read: every kind of entity, one by one and by wildcards."""

from collections.abc import Sequence

import finsy as fy
from finsy.p4entity import P4Entity, decode_entity
from finsy.proto import p4r

from harness.edge_test import EntitiesTest
from harness.entries import Entries, identity
from harness.target import RefusedError
from small_site import CPU, entries


class ReadTest(EntitiesTest):
    """A test that compares what is read with what was written."""

    def verify_read(self, asked: P4Entity, *expected: P4Entity) -> None:
        """A read brings exactly these, in any order."""
        self._verify([asked.encode(self.target.schema)], expected)

    def verify_read_back(self, *entities: P4Entity) -> None:
        """Each is read by its key as it was written."""
        for entity in entities:
            self._verify([identity(entity.encode(self.target.schema))], [entity])

    def _verify(self, asked: list[p4r.Entity], expected: Sequence[P4Entity]) -> None:
        schema = self.target.schema
        found = [decode_entity(entity, schema) for entity in self.target.read(asked)]
        self.assertCountEqual(found, [decode_entity(entity.encode(schema), schema) for entity in expected])


def site() -> list[fy.P4TableEntry]:
    """The table entries of the edge."""
    return [Entries.entry(entry.table, entry.keys, entry.action, **entry.parameters) for entry in entries()]


def member(number: int) -> fy.P4ActionProfileMember:
    """A member of the ECMP groups' profile."""
    action = fy.Action("set_ecmp_nexthop", nexthop=number)
    return fy.P4ActionProfileMember("ecmp_members", member_id=number, action=action)


class TableEntries(ReadTest):
    """Each of a whole edge's, those of one table, and all."""

    def runTest(self) -> None:
        self.verify_read(fy.P4TableEntry())
        written = site()
        self.entries.add(*written)
        self.verify_read_back(*written)
        for table in ("routes", "neighbours", "fdb"):
            self.verify_read(fy.P4TableEntry(table), *(entry for entry in written if entry.table_id == table))
        self.verify_read(fy.P4TableEntry(), *written)


class Modified(ReadTest):
    """A modified entry is the new one; nothing of the old one is left."""

    def runTest(self) -> None:
        key = {"destination": "2001:db8::/32"}
        self.entries.insert("routes", key, "route_nexthop", nexthop=1)
        modified = self.entries.entry("routes", key, "route_prohibited")
        self.entries.modify(modified)
        self.verify_read(fy.P4TableEntry(), modified)


class Metadata(ReadTest):
    """What a controller notes on an entry stays with it."""

    def runTest(self) -> None:
        entry = self.entries.entry("fdb", {"vlan": 1, "destination": "02:00:00:00:00:01"}, "send_to_port", port=1)
        entry.metadata = b"\x00noted"
        self.entries.add(entry)
        self.verify_read_back(entry)


class IdleTimeout(ReadTest):
    """The time that an entry may be idle, and how long it is already where one asks."""

    def runTest(self) -> None:
        key = {"port": 1, "vlan": 1, "source": "02:00:00:00:00:01"}
        entry = self.entries.entry("learned_macs", key, "known_mac")
        entry.idle_timeout_ns = 3_600_000_000_000
        self.entries.add(entry)
        self.verify_read_back(entry)
        asked = self.entries.entry("learned_macs", key, "known_mac")
        asked.time_since_last_hit = 0
        (found,) = self.read(asked)
        self.assertTrue(found.table_entry.HasField("time_since_last_hit"))


class DefaultEntries(ReadTest):
    """The default entry of a table: the program's, the controller's, and the program's again."""

    def runTest(self) -> None:
        asked = fy.P4TableEntry("port_mtus", is_default_action=True)
        of_program, of_controller = (
            fy.P4TableEntry("port_mtus", action=fy.Action("set_port_mtu", bytes=mtu), is_default_action=True)
            for mtu in (1500, 9000)
        )
        self.verify_read(asked, of_program)
        self.entries.modify(of_controller)
        self.verify_read(asked, of_controller)
        self.entries.modify(fy.P4TableEntry("port_mtus", is_default_action=True))
        self.verify_read(asked, of_program)


class MembersAndGroups(ReadTest):
    """Members and groups of a profile, and entries that name them."""

    def runTest(self) -> None:
        members = [member(number) for number in (1, 2, 3)]
        self.entries.add(*members)
        groups = [
            fy.P4ActionProfileGroup(
                "ecmp_members",
                group_id=number,
                max_size=4,
                members=[fy.P4Member(each, weight=2) for each in of_group],
            )
            for number, of_group in ((1, (1, 2)), (2, (2, 3)), (3, ()))
        ]
        self.entries.add(*groups)
        ecmp_groups = [
            fy.P4TableEntry("ecmp_groups", match=fy.Match(ecmp_group=1), action=fy.IndirectAction(group_id=1)),
            fy.P4TableEntry("ecmp_groups", match=fy.Match(ecmp_group=2), action=fy.IndirectAction(member_id=3)),
        ]
        self.entries.add(*ecmp_groups)
        self.verify_read_back(*members, *groups, *ecmp_groups)
        self.verify_read(fy.P4ActionProfileMember(), *members)
        self.verify_read(fy.P4ActionProfileGroup(), *groups)
        self.verify_read(fy.P4TableEntry("ecmp_groups"), *ecmp_groups)


class MulticastGroups(ReadTest):
    """Groups, with several copies for one port too."""

    def runTest(self) -> None:
        groups = [
            fy.P4MulticastGroupEntry(1, replicas=[1, 2, 3]),
            fy.P4MulticastGroupEntry(2, replicas=[(4, 0), (4, 1)]),
        ]
        self.entries.add(*groups)
        self.verify_read_back(*groups)
        smaller = fy.P4MulticastGroupEntry(1, replicas=[2])
        self.entries.modify(smaller)
        self.verify_read_back(smaller)
        self.entries.delete(smaller)
        self.assertEqual(self.try_read(smaller), [])
        self.verify_read_back(groups[1])

    def try_read(self, entity: P4Entity) -> list[p4r.Entity]:
        """What there is of an entity; switches answer NOT_FOUND or nothing."""
        try:
            return self.target.read([identity(entity.encode(self.target.schema))])
        except RefusedError as error:
            self.assertEqual(error.status.name, "NOT_FOUND")
            return []


class CloneSessions(ReadTest):
    """Sessions, with their length and their class."""

    def runTest(self) -> None:
        whole = fy.P4CloneSessionEntry(1, replicas=[CPU])
        self.entries.add(whole)
        self.verify_read_back(whole)
        cut = fy.P4CloneSessionEntry(1, packet_length_bytes=128, replicas=[CPU])
        self.entries.modify(cut)
        self.verify_read_back(cut)


class Digests(ReadTest):
    """How digests are to be sent."""

    def runTest(self) -> None:
        digest = fy.P4DigestEntry("learn", max_list_size=10, max_timeout_ns=1_000_000, ack_timeout_ns=2_000_000)
        self.entries.add(digest)
        self.verify_read_back(digest)


class Counters(ReadTest):
    """A counter's cell is what the controller set it to; all cells of a counter are read at once."""

    def runTest(self) -> None:
        data = fy.P4CounterData(packet_count=7, byte_count=700)
        cell = fy.P4CounterEntry("punts", index=200, data=data)
        self.entries.modify(cell)
        self.verify_read_back(cell)
        cells = self.read(fy.P4CounterEntry("punts"))
        self.assertEqual([each.counter_entry.index.index for each in cells], list(range(256)))
        self.entries.modify(fy.P4CounterEntry("punts", index=200, data=fy.P4CounterData()))


class DirectCounters(ReadTest):
    """Counters of one entry and of all entries of a table."""

    def runTest(self) -> None:
        self.entries.add(*site())
        for table, count in (("routes", 10), ("fdb", 3)):
            cells = self.read(fy.P4DirectCounterEntry(f"{table}_counter"))
            self.assertEqual(len(cells), count, table)


class SeveralInOneRead(ReadTest):
    """One request may ask for entities of many kinds."""

    def runTest(self) -> None:
        written = [
            self.entries.entry("interfaces", {"vlan": 1}, "set_interface", mac="02:00:00:00:00:01", address="fe80::1"),
            fy.P4MulticastGroupEntry(1, replicas=[1]),
            fy.P4CloneSessionEntry(1, replicas=[CPU]),
        ]
        self.entries.add(*written)
        asked = [identity(entity.encode(self.target.schema)) for entity in written]
        self._verify(asked, written)


class AbsentKeys(ReadTest):
    """A read of an entry that is not there brings nothing."""

    def runTest(self) -> None:
        self.entries.insert("nexthops", {"nexthop": 1}, "set_nexthop", vlan=1, address="fe80::1")
        self.verify_read(fy.P4TableEntry("nexthops", match=fy.Match(nexthop=2)))
