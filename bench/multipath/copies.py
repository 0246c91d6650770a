"""Entries of tables by the million: two are encoded, the others are copies with other numbers in the same places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import wayname_switch
from finsy import P4Schema
from finsy.proto import p4r

from wayname.pipeline.entries import Entity

BATCH = 2000
# Any two numbers that follow each other.
ONE, OTHER = 1, 2


def copies(schema: P4Schema, make: Callable[[int], Entity], numbers: Iterable[int]) -> Iterator[p4r.Entity]:
    """Return `make(number)` for each number, whose keys and parameters depend on it by linear functions."""
    model, other = make(ONE).encode(schema), make(OTHER).encode(schema)
    pairs = zip(_values(model), _values(other), strict=True)
    linear = [
        (place, begin, int.from_bytes(another.value) - begin)
        for place, (one, another) in enumerate(pairs)
        if one != another
        for begin in [int.from_bytes(one.value)]
    ]
    for number in numbers:
        copy = p4r.Entity()
        copy.CopyFrom(model)
        values = _values(copy)
        for place, begin, slope in linear:
            value = begin + slope * (number - ONE)
            # P4Runtime's canonical form has no leading zeros.
            values[place].value = value.to_bytes(max(1, (value.bit_length() + 7) // 8))
        yield copy


def write(switch: wayname_switch.Switch, kind: p4r.Update.Type.ValueType, entities: Iterable[p4r.Entity]) -> None:
    """Write them in batches."""
    left = iter(entities)
    while some := list(islice(left, BATCH)):
        updates = [p4r.Update(type=kind, entity=entity) for entity in some]
        answers = switch.write(p4r.WriteRequest(device_id=1, updates=updates).SerializeToString())
        refused = [text for code, text in answers if code != 0]
        if refused:
            raise ValueError(f"the switch refuses an entry: {refused[0]}")


def _values(entity: p4r.Entity) -> list[p4r.FieldMatch.Exact | p4r.Action.Param]:
    entry = entity.table_entry
    return [*(key.exact for key in entry.match), *entry.action.action.params]
