"""In which order entries are written: each after what it refers to, and what lets packets in last.

P4Info says it: `@refers_to(table, key)` at keys and at actions' parameters, `@admits_packets` at tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter

from finsy import P4Schema
from finsy.p4schema import P4ActionParam, P4MatchField, P4Table

from wayname.pipeline.program import own_schema

# P4Runtime's own entities, by the names that `key_of` gives them; a reference names them as SAI P4 does.
_BUILTIN = {"builtin::multicast_group_table": "multicast_group"}
_BEFORE_ALL = ("meter", "clone_session", "multicast_group")
_MEMBER, _GROUP, _DIGEST = "member", "group", "digest"


class WriteOrderError(Exception):
    """References of a program that lead nowhere, or in a circle."""


@cache
def write_order() -> dict[str, int]:
    """Return in which stage each kind of entity is written."""
    return stages(own_schema())


def stages(schema: P4Schema) -> dict[str, int]:
    """Return the stage of each kind of entity: nothing refers to its own stage, nor to a later one."""
    needs = _needs(schema)
    admitting = {table.alias for table in schema.tables if "admits_packets" in _annotations(table)}
    try:
        order = tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise WriteOrderError(f"{' -> '.join(error.args[1])}: a circle of references; take a @refers_to out") from None
    stage: dict[str, int] = {}
    for kind in order:
        stage[kind] = max((stage[each] + 1 for each in needs[kind]), default=0)
        if kind not in admitting and (wrong := needs[kind] & admitting):
            raise WriteOrderError(f"{kind} refers to {min(wrong)}, which is written later; write @admits_packets there")
    last = max(stage[kind] for kind in order if kind not in admitting)
    for kind in (each for each in order if each in admitting):
        stage[kind] = max([last, *(stage[each] for each in needs[kind])]) + 1
    # What packets report before somebody asked for it is lost.
    return stage | {_DIGEST: last}


def references(field: P4MatchField | P4ActionParam) -> list[tuple[str, str]]:
    """Return the tables and keys to which a key or a parameter refers."""
    # P4Info has the annotation token by token, with spaces between them.
    bodies = ["".join(str(each.body).split()) for each in field.annotations if each.name == "refers_to"]
    return [(table, key) for table, _, key in (body.partition(",") for body in bodies)]


def _annotations(table: P4Table) -> set[str]:
    return {each.name for each in table.annotations}


def _needs(schema: P4Schema) -> dict[str, set[str]]:
    """Return the kinds of entities to which each kind refers."""
    needs: dict[str, set[str]] = {kind: set() for kind in _BEFORE_ALL}
    needs |= {_MEMBER: set(), _GROUP: {_MEMBER}}
    keys = {table.alias: {field.alias for field in table.match_fields} for table in schema.tables}
    for table in schema.tables:
        fields: Iterable[P4MatchField | P4ActionParam] = (param for action in table.actions for param in action.params)
        parameters = _kinds(table.alias, fields, keys)
        needs[table.alias] = _kinds(table.alias, table.match_fields, keys)
        if table.action_profile is None:
            needs[table.alias] |= parameters
        else:
            needs[table.alias].add(_GROUP)
            needs[_MEMBER] |= parameters
    return needs


def _kinds(by: str, fields: Iterable[P4MatchField | P4ActionParam], keys: dict[str, set[str]]) -> set[str]:
    kinds: set[str] = set()
    for table, key in (reference for field in fields for reference in references(field)):
        if table not in _BUILTIN and key not in keys.get(table, ()):
            raise WriteOrderError(f"{by} refers to {table}.{key}, which is not there; correct its @refers_to")
        kinds.add(_BUILTIN.get(table, table))
    return kinds
