"""Nothing that is written ever refers to what is not there: by the references of P4Info, for entries of every table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import Path

import finsy as fy
import pytest
from finsy import P4Schema
from finsy.p4schema import P4MatchType
from hypothesis import given, settings
from hypothesis import strategies as st

from wayname.edge.boundary import UpdateKind
from wayname.edge.desired_state import DesiredState, Key, key_of
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity
from wayname.pipeline.program import P4INFO, own_schema
from wayname.pipeline.write_order import WriteOrderError, references, stages, write_order

SCHEMA = own_schema()
VALUES = (1, 2)
Field = tuple[str, str]


def fields(entity: fy.P4TableEntry) -> Iterator[tuple[Field, int]]:
    """Yield the values of an entry's keys, by table and key."""
    for key, value in (entity.match or {}).items():
        yield (entity.table_id, key), value[0] if isinstance(value, tuple) else value


def wanted_by(entity: Entity) -> Iterator[tuple[Field, int]]:
    """Yield the values that an entry of a table refers to."""
    if not isinstance(entity, fy.P4TableEntry) or not isinstance(entity.action, fy.P4TableAction):
        return
    table, keys = SCHEMA.tables[entity.table_id], dict(fields(entity))
    action = next(each for each in table.actions if each.alias == entity.action.name)
    named = [(references(field), keys[entity.table_id, field.alias]) for field in table.match_fields]
    named += [(references(param), entity.action.args[param.name]) for param in action.params]
    for found, value in named:
        yield from ((reference, value) for reference in found if not reference[0].startswith("builtin"))


class Made:
    """Random entries of tables, each with all that it refers to."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.entities: dict[Key, Entity] = {}
        self._there: set[tuple[Field, int]] = set()

    def make(self, name: str, given: dict[str, int]) -> None:
        table = SCHEMA.tables[name]
        keys = {field.alias: given.get(field.alias, self._rng.choice(VALUES)) for field in table.match_fields}
        if table.action_profile is not None:
            (number,) = keys.values()
            self._keep(entries.nexthop(number, number, IPv6Address(number)), entries.ecmp_member(number))
            self._keep(entries.ecmp_group_members(number, {number: 1}), entries.ecmp_group(number))
            return
        action = self._rng.choice([each for each in table.actions if each.alias != "NoAction"])
        arguments = {param.name: self._rng.choice(VALUES) for param in action.params}
        match = {
            field.alias: keys[field.alias] if field.match_type is P4MatchType.EXACT else (keys[field.alias], 64)
            for field in table.match_fields
        }
        entry = fy.P4TableEntry(name, match=fy.Match(**match), action=fy.Action(action.alias, **arguments))
        self._keep(entry)
        for (other, key), value in wanted_by(entry):
            if ((other, key), value) not in self._there:
                self.make(other, {key: value})
        if any(key == "group" for key in arguments):
            self._keep(entries.flood_group(arguments["group"], [1]))

    def _keep(self, *made: Entity) -> None:
        for each in made:
            # What stands under this key already may be what another entry refers to: it stays.
            if self.entities.setdefault(key_of(each), each) is each and isinstance(each, fy.P4TableEntry):
                self._there.update(fields(each))

    def closed(self) -> list[Entity]:
        """Return all that refers to nothing that is missing."""
        return list(self.entities.values())


def everything_is_there(held: dict[Key, Entity]) -> bool:
    there = {value for each in held.values() if isinstance(each, fy.P4TableEntry) for value in fields(each)}
    return all(value in there for each in held.values() for value in wanted_by(each))


TABLES = sorted(table.alias for table in SCHEMA.tables if table.match_fields)
sets = st.lists(st.sampled_from(TABLES), max_size=6)


@settings(deadline=None)
@given(sets, sets, st.randoms(use_true_random=False))
def test_nothing_refers_to_what_is_not_there(first: list[str], second: list[str], rng: random.Random) -> None:
    desired, held = DesiredState(), dict[Key, Entity]()
    before: list[Entity] = []
    for names in (first, second, []):
        made = Made(rng)
        for name in names:
            made.make(name, {})
        after = made.closed()
        for each in before:
            if key_of(each) not in made.entities:
                desired.remove(each)
        for each in after:
            desired.put(each)
        for updates in desired.updates():
            for kind, entity in rng.sample(updates, len(updates)):
                if kind is UpdateKind.DELETE:
                    del held[key_of(entity)]
                else:
                    held[key_of(entity)] = entity
                assert everything_is_there(held)
        assert held.keys() == made.entities.keys()
        before = after


def admits(table: str) -> bool:
    return "admits_packets" in {each.name for each in SCHEMA.tables[table].annotations}


def test_packets_are_let_in_last() -> None:
    order = write_order()
    assert max(order[table] for table in TABLES if not admits(table)) < order["interfaces"]
    assert order["interfaces"] < order["vlan_members"] < order["ports"]
    assert order["digest"] < order["interfaces"]


def test_every_table_has_its_place() -> None:
    assert {table.alias for table in SCHEMA.tables} <= write_order().keys()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("nexthops , nexthop", "nexthop , nexthop", "nexthop.nexthop, which is not there; correct its @refers_to"),
        ("paths , session", "identities , local", "a circle of references; take a @refers_to out"),
        ("hmac_rules , destination", "interfaces , vlan", "sids refers to interfaces, which is written later"),
    ],
)
def test_a_wrong_reference_says_how_to_mend_it(old: str, new: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.p4info.txtpb"
    file.write_text(P4INFO.read_text().replace(f"@refers_to({old})", f"@refers_to({new})"))
    with pytest.raises(WriteOrderError, match=told):
        stages(P4Schema(file))
