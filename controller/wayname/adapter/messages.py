"""Updates and packets as messages of P4Runtime, the same as finsy makes, and packets back.

finsy looks up every field by its name, and what kind of value it has. Sessions and routes write entries whose keys are
exact numbers and prefixes, so many that this was a third of what a session costs. So what those need is looked up once,
here; everything else is left to finsy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import finsy as fy
from finsy import P4Schema
from finsy.p4schema import P4MatchType
from finsy.proto import p4r

from wayname.edge.boundary import PacketIn, PacketOut, Update, UpdateKind

_UPDATE_TYPES = {
    UpdateKind.INSERT: p4r.Update.INSERT,
    UpdateKind.MODIFY: p4r.Update.MODIFY,
    UpdateKind.DELETE: p4r.Update.DELETE,
}
# Packet-outs whose messages are kept.
PACKETS_KEPT = 64
# Programs whose tables are kept.
PROGRAMS_KEPT = 4
_QUICK = (P4MatchType.EXACT, P4MatchType.LPM)


class _Value(NamedTuple):
    """The number of a key or a parameter, how many bits it has, and whether it is a prefix."""

    number: int
    bits: int
    is_prefix: bool = False


class _Action(NamedTuple):
    number: int
    parameters: dict[str, _Value]


class _Table(NamedTuple):
    number: int
    fields: dict[str, _Value]
    actions: dict[str, _Action]


@lru_cache(PROGRAMS_KEPT)
def _quick_tables(schema: P4Schema) -> dict[str, _Table]:
    """Return the tables whose keys all are exact or prefixes, and whose entries name their action themselves.

    A process has a session for each of its edges, and often again, and one program for all.
    """
    return {
        table.alias: _Table(
            table.id,
            {
                field.alias: _Value(field.id, field.bitwidth, field.match_type is P4MatchType.LPM)
                for field in table.match_fields
            },
            {
                action.alias: _Action(
                    action.id, {param.name: _Value(param.id, param.bitwidth) for param in action.params}
                )
                for action in table.actions
            },
        )
        for table in schema.tables
        if table.action_profile is None
        and all(field.match_type in _QUICK and field.bitwidth for field in table.match_fields)
    }


class Messages:
    """Makes messages for one program."""

    def __init__(self, schema: P4Schema) -> None:
        self._schema = schema
        self._tables = _quick_tables(schema)
        headers = schema.controller_packet_metadata
        self._packet_out = [(each.name, _Value(each.id, each.bitwidth)) for each in headers["packet_out"].metadata]
        # Probes are the same until something changes, and are sent for ever.
        self.packet_out = lru_cache(PACKETS_KEPT)(self._packet_out_message)
        self._packet_in = {each.id: each.name for each in headers["packet_in"].metadata}

    def update(self, update: Update) -> p4r.Update:
        """Return the message of an update; raise an exception if no switch could have the entity."""
        kind, entity = update
        if isinstance(entity, fy.P4TableEntry) and isinstance(entity.action, fy.P4TableAction):
            table = self._tables.get(entity.table_id)
            if table is not None and not entity.is_default_action:
                message = p4r.Update(type=_UPDATE_TYPES[kind])
                # What goes is named by its keys alone (P4Runtime, section 9.1), and routes go by the hundred thousand.
                action = None if kind is UpdateKind.DELETE else entity.action
                _fill(message.entity.table_entry, table, entity, action)
                return message
        return p4r.Update(type=_UPDATE_TYPES[kind], entity=entity.encode(self._schema))

    def _packet_out_message(self, packet: PacketOut) -> p4r.StreamMessageRequest:
        """Return the message of a packet-out."""
        message = p4r.StreamMessageRequest()
        message.packet.payload = packet.payload
        values = {"kind": packet.kind, "port": packet.port, "vlan": packet.vlan}
        for name, metadatum in self._packet_out:
            field = message.packet.metadata.add()
            field.metadata_id, field.value = metadatum.number, _octets(values[name], metadatum.bits)
        return message

    def packet_in(self, message: p4r.PacketIn) -> PacketIn:
        """Return what a packet-in says."""
        values = {self._packet_in[each.metadata_id]: int.from_bytes(each.value) for each in message.metadata}
        return PacketIn(message.payload, values["reason"], values["ingress_port"], values["vlan"], values["punt_class"])


def _fill(message: p4r.TableEntry, table: _Table, entry: fy.P4TableEntry, action: fy.P4TableAction | None) -> None:
    message.table_id = table.number
    if entry.idle_timeout_ns:
        message.idle_timeout_ns = entry.idle_timeout_ns
    for name, number in (entry.match or {}).items():
        key = table.fields[name]
        field = message.match.add()
        field.field_id = key.number
        if key.is_prefix:
            address, length = number
            field.lpm.value, field.lpm.prefix_len = _octets(_network(address, length, key.bits), key.bits), length
        else:
            field.exact.value = _octets(number, key.bits)
    if action is None:
        return
    known = table.actions[action.name]
    if action.args.keys() != known.parameters.keys():
        raise ValueError(f"{action.name} has the parameters {', '.join(known.parameters)}")
    message.action.action.action_id = known.number
    for name, number in action.args.items():
        parameter = known.parameters[name]
        param = message.action.action.params.add()
        param.param_id, param.value = parameter.number, _octets(number, parameter.bits)


def _network(address: int, length: int, bits: int) -> int:
    """Return a prefix without the bits behind it; one of length 0 is an absent key (P4Runtime, section 9.1.1)."""
    if not 0 < length <= bits:
        raise ValueError(f"a prefix of {length} bits among {bits}")
    return address >> (bits - length) << (bits - length)


def _octets(number: int, bits: int) -> bytes:
    """Return a number in the shortest form (P4Runtime, section 8.3)."""
    if number >> bits:
        raise ValueError(f"a number of more than {bits} bits")
    return number.to_bytes((number.bit_length() + 7) // 8 or 1)
