"""A picture of the switch: tables and counters, read at once and put in words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from types import MappingProxyType
from typing import Any

import finsy as fy

from wayname.pipeline.entries import SECRETS
from wayname.snapshot.running import Running
from wayname.wire.mac import Mac

Value = str | int
# In place of what who reads this must not know.
HIDDEN = "..."
# So many are put in words before anything else has its turn.
ENTITIES_A_TURN = 256


@dataclass(frozen=True, slots=True)
class CounterValue:
    """What a counter counted."""

    packets: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a table in words."""

    match: dict[str, Value]
    action: str
    parameters: dict[str, Value]
    count: CounterValue
    priority: int = 0


@dataclass(slots=True)
class SwitchSnapshot:
    """What was read."""

    tables: dict[str, list[Entry]] = field(default_factory=dict)
    counters: dict[str, dict[int, CounterValue]] = field(default_factory=dict)

    def counted(self, counter: str, index: int) -> CounterValue:
        """Return a counter's count; an index that was not read counted nothing."""
        return self.counters.get(counter, {}).get(index, CounterValue())


def names(schema: fy.P4Schema) -> list[str]:
    """Return the tables' names in the program's order."""
    return [table.alias for table in schema.tables]


async def read_snapshot(
    running: Running,
    tables: Iterable[str],
    counters: Iterable[str] = (),
    cells: Mapping[str, Iterable[int]] = MappingProxyType({}),
) -> SwitchSnapshot:
    """Read these tables and counters, and of others some cells, in one request."""
    schema, switch_snapshot = running.schema, SwitchSnapshot()
    wanted: list[fy.P4TableEntry | fy.P4CounterEntry] = []
    for name in tables:
        switch_snapshot.tables[name] = []
        wanted.append(fy.P4TableEntry(name, counter_data=fy.P4CounterData()))
    for name in counters:
        switch_snapshot.counters[name] = {}
        wanted.append(fy.P4CounterEntry(name))
    for name, indices in cells.items():
        switch_snapshot.counters[name] = {}
        wanted += [fy.P4CounterEntry(name, index=index) for index in indices]
    for place, entity in enumerate(await running.read(wanted), 1):
        if place % ENTITIES_A_TURN == 0:
            await asyncio.sleep(0)
        if isinstance(entity, fy.P4TableEntry) and not entity.is_default_action:
            switch_snapshot.tables[entity.table_id].append(in_words(entity, schema))
        elif isinstance(entity, fy.P4CounterEntry) and entity.index is not None:
            switch_snapshot.counters[entity.counter_id][entity.index] = CounterValue(
                entity.packet_count, entity.byte_count
            )
    return switch_snapshot


async def read_entries(running: Running, *tables: str) -> list[fy.P4TableEntry]:
    """Read the entries of tables, as they are."""
    wanted = [fy.P4TableEntry(name, counter_data=fy.P4CounterData()) for name in tables]
    found = await running.read(wanted)
    return [each for each in found if isinstance(each, fy.P4TableEntry) and not each.is_default_action]


def in_words(entry: fy.P4TableEntry, schema: fy.P4Schema) -> Entry:
    """Put an entry in words."""
    given: dict[str, Any] = dict(entry.match or {})
    match: dict[str, Value] = {}
    for key in schema.tables[entry.table_id].match_fields:
        # A prefix of length 0 is written by leaving the key out.
        value = given.get(key.alias, (0, 0))
        if key.alias in SECRETS:
            match[key.alias] = HIDDEN
        elif isinstance(value, tuple):
            # What has prefixes is an address, also where 32 bits could be anything else.
            address = IPv4Address(value[0]) if key.bitwidth == 32 else in_notation(value[0], key.bitwidth)
            match[key.alias] = f"{address}/{value[1]}"
        else:
            match[key.alias] = in_notation(value, key.bitwidth)
    count = count_of(entry)
    if not isinstance(entry.action, fy.P4TableAction):
        group = entry.action.group_id if entry.action is not None else None
        return Entry(match, "group", {"group": group or 0}, count, entry.priority)
    parameters = schema.actions[entry.action.name].params
    arguments = {
        name: HIDDEN if name in SECRETS else in_notation(value, parameters[name].bitwidth)
        for name, value in entry.action.args.items()
    }
    return Entry(match, entry.action.name, arguments, count, entry.priority)


def count_of(entry: fy.P4TableEntry) -> CounterValue:
    """Return what an entry's counter counted; of a table without counters nothing."""
    if entry.counter_data is None:
        return CounterValue()
    return CounterValue(entry.counter_data.packet_count, entry.counter_data.byte_count)


def in_notation(number: int, bits: int) -> Value:
    """A MAC and an IPv6 address as they are written, anything else as a number."""
    if bits == 48:
        return str(Mac(number))
    if bits == 128:
        return str(IPv6Address(number))
    return number
