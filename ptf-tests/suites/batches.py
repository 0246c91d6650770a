"""Updates in one request: each has its own status, and a refused one leaves the others as the specification says."""

import finsy as fy
from finsy.p4entity import P4Entity
from finsy.proto import p4r

from harness.edge_test import EntitiesTest
from harness.target import RefusedError, Status

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE


def nexthop(number: int, vlan: int = 1) -> fy.P4TableEntry:
    """An entry of `nexthops`."""
    action = fy.Action("set_nexthop", vlan=vlan, address="fe80::1")
    return fy.P4TableEntry("nexthops", match=fy.Match(nexthop=number), action=action)


class BatchTest(EntitiesTest):
    """A test of several updates in one request."""

    def batch(self, *updates: tuple[p4r.Update.Type.ValueType, P4Entity]) -> list[p4r.Update]:
        """The updates."""
        schema = self.target.schema
        return [p4r.Update(type=kind, entity=entity.encode(schema)) for kind, entity in updates]

    def names(self, statuses: list[Status]) -> list[str]:
        """The canonical codes; each refusal has a text too."""
        for status in statuses:
            self.assertEqual(bool(status.text), status.code != 0, status)
        return [status.name for status in statuses]

    def held(self) -> dict[int, int]:
        """The VLAN of each next hop that the switch holds."""
        found = [
            fy.P4TableEntry.decode(entity, self.target.schema) for entity in self.read(fy.P4TableEntry("nexthops"))
        ]
        return {entry["nexthop"]: entry.action.args["vlan"] for entry in found if isinstance(entry.action, fy.Action)}


class ContinueOnError(BatchTest):
    """Updates before and after a refused one are carried out."""

    def runTest(self) -> None:
        updates = self.batch(
            (INSERT, nexthop(1)),
            (INSERT, nexthop(1, vlan=2)),
            (INSERT, nexthop(2)),
            (DELETE, nexthop(3)),
            (MODIFY, nexthop(4)),
            (MODIFY, nexthop(2, vlan=5)),
        )
        names = self.names(self.entries.write(updates))
        self.assertEqual(names, ["OK", "ALREADY_EXISTS", "OK", "NOT_FOUND", "NOT_FOUND", "OK"])
        self.assertEqual(self.held(), {1: 1, 2: 5})


class InOrder(BatchTest):
    """Later updates see what earlier ones did."""

    def runTest(self) -> None:
        updates = self.batch(
            (INSERT, nexthop(1)),
            (DELETE, nexthop(1)),
            (INSERT, nexthop(1, vlan=7)),
            (MODIFY, nexthop(1, vlan=8)),
        )
        self.assertEqual(self.names(self.entries.write(updates)), ["OK"] * 4)
        self.assertEqual(self.held(), {1: 8})


class RollbackOnError(BatchTest):
    """All or nothing, where the target has it."""

    def runTest(self) -> None:
        self.entries.add(nexthop(1))
        updates = self.batch((INSERT, nexthop(2)), (MODIFY, nexthop(1, vlan=9)), (DELETE, nexthop(3)))
        try:
            statuses = self.target.write(updates, p4r.WriteRequest.ROLLBACK_ON_ERROR)
        except RefusedError as error:
            self.assertEqual(error.status.name, "UNIMPLEMENTED")
            self.skipTest("the target has no ROLLBACK_ON_ERROR")
        self.assertEqual(self.names(statuses)[2], "NOT_FOUND")
        self.assertEqual(self.held(), {1: 1})


class RefusedEntities(BatchTest):
    """What cannot be an entity of this program is refused, by a code for it, and changes nothing."""

    def runTest(self) -> None:
        good = self.batch((INSERT, nexthop(1)))[0]
        wrong = {"INVALID_ARGUMENT"}
        for name, spoil, codes in (
            ("a table that is not there", spoil_table, wrong | {"NOT_FOUND"}),
            ("an action that the table does not have", spoil_action, wrong | {"NOT_FOUND"}),
            ("a key too many", spoil_keys, wrong),
            ("a value too wide", spoil_width, wrong | {"OUT_OF_RANGE"}),
            ("a parameter missing", spoil_parameters, wrong),
            ("a priority without ternary keys", spoil_priority, wrong),
        ):
            with self.subTest(name):
                update = p4r.Update()
                update.CopyFrom(good)
                spoil(update.entity.table_entry)
                (code,) = self.names(self.entries.write([update]))
                self.assertIn(code, codes)
                self.assertEqual(self.held(), {})


def spoil_table(entry: p4r.TableEntry) -> None:
    """The first id of tables of nobody."""
    entry.table_id = 0x02FFFFFF


def spoil_action(entry: p4r.TableEntry) -> None:
    """An action id of nobody."""
    entry.action.action.action_id += 0x100


def spoil_keys(entry: p4r.TableEntry) -> None:
    """A field that the table does not match on."""
    entry.match.add(field_id=2).exact.value = b"\x01"


def spoil_width(entry: p4r.TableEntry) -> None:
    """17 bits for 16."""
    entry.match[0].exact.value = b"\x01\x00\x01"


def spoil_parameters(entry: p4r.TableEntry) -> None:
    """The address is left out."""
    del entry.action.action.params[1]


def spoil_priority(entry: p4r.TableEntry) -> None:
    """Exact entries have none."""
    entry.priority = 1


class InUse(BatchTest):
    """A member or a group that an entry or a group names cannot go."""

    def runTest(self) -> None:
        action = fy.Action("set_ecmp_nexthop", nexthop=1)
        member = fy.P4ActionProfileMember("ecmp_members", member_id=1, action=action)
        members = [fy.P4Member(1, weight=1)]
        group = fy.P4ActionProfileGroup("ecmp_members", group_id=1, max_size=4, members=members)
        ecmp_group = fy.P4TableEntry("ecmp_groups", match=fy.Match(ecmp_group=1), action=fy.IndirectAction(group_id=1))
        self.entries.add(member, group, ecmp_group)
        for entity in (member, group):
            (status,) = self.entries.try_write(DELETE, entity)
            self.assertNotEqual(status.code, 0)
        self.entries.delete(ecmp_group, group, member)


class NamesThatAreNotThere(BatchTest):
    """An entry of a group, and a group of a member, that nobody made."""

    def runTest(self) -> None:
        members = [fy.P4Member(9, weight=1)]
        group = fy.P4ActionProfileGroup("ecmp_members", group_id=1, max_size=4, members=members)
        ecmp_group = fy.P4TableEntry("ecmp_groups", match=fy.Match(ecmp_group=1), action=fy.IndirectAction(group_id=1))
        self.assertEqual(self.names(self.entries.try_write(INSERT, group, ecmp_group)), ["NOT_FOUND", "NOT_FOUND"])
