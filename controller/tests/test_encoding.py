"""Updates are encoded as finsy encodes them, and what no switch could have is refused."""

from __future__ import annotations

import finsy as fy
import pytest
from finsy.p4entity import decode_stream
from finsy.p4schema import P4MatchType
from finsy.proto import p4r
from hypothesis import given
from hypothesis import strategies as st

from wayname.adapter.messages import Messages
from wayname.edge.boundary import PacketOut, UpdateKind
from wayname.p4_constants import PacketOutKind
from wayname.pipeline import entries
from wayname.pipeline.program import load_schema
from wayname.pipeline.punts import protocol_punt

SCHEMA = load_schema()
MESSAGES = Messages(SCHEMA)
TABLES = [table for table in SCHEMA.tables if table.action_profile is None and table.actions]


@st.composite
def table_entries(draw: st.DrawFn) -> fy.P4TableEntry:
    """An entry of any table, with any of its actions."""
    table = draw(st.sampled_from(TABLES))
    action = draw(st.sampled_from(list(table.actions)))
    match = {}
    for field in table.match_fields:
        number = draw(st.integers(0, (1 << field.bitwidth) - 1))
        seconds = {
            P4MatchType.LPM: draw(st.integers(1, field.bitwidth)),
            P4MatchType.RANGE: (1 << field.bitwidth) - 1,
        }
        match[field.alias] = (number, seconds[field.match_type]) if field.match_type in seconds else number
    arguments = {each.name: draw(st.integers(0, (1 << each.bitwidth) - 1)) for each in action.params}
    return fy.P4TableEntry(
        table.alias,
        match=fy.Match(match),
        action=fy.Action(action.alias, **arguments),
        idle_timeout_ns=draw(st.integers(0, 1 << 40)),
    )


@given(table_entries(), st.sampled_from(list(UpdateKind)))
def test_are_what_finsy_makes(entry: fy.P4TableEntry, kind: UpdateKind) -> None:
    expected = p4r.Update(type=p4r.Update.Type.Value(kind.name), entity=entry.encode(SCHEMA))
    if kind is UpdateKind.DELETE:
        # Its keys name it.
        expected.entity.table_entry.ClearField("action")
    assert MESSAGES.update((kind, entry)) == expected


def test_other_entities_are_what_finsy_makes() -> None:
    rule = protocol_punt(48, 49, 32, udp_port=5000)
    for entity in (entries.rate("learn_meter", 1, 5), entries.hash_keys(1, 2), entries.flood_group(1, [1, 2]), rule):
        expected = p4r.Update(type=p4r.Update.INSERT, entity=entity.encode(SCHEMA))
        assert MESSAGES.update((UpdateKind.INSERT, entity)) == expected


@pytest.mark.parametrize(
    "entry",
    [
        entries.table_entry("backups", {"session": 1 << 32, "path": 1}, "next_path", path=1),
        entries.table_entry("backups", {"session": -1, "path": 1}, "next_path", path=1),
        entries.table_entry("backups", {"session": 1, "path": 1}, "next_path", path=1 << 16),
        entries.table_entry("backups", {"session": 1, "path": 1}, "next_path"),
        entries.table_entry("backups", {"session": 1, "route": 1}, "next_path", path=1),
        entries.table_entry("backups", {"session": 1, "path": 1}, "admit", path=1),
        entries.table_entry("routes", {"destination": (1 << 128, 64)}, "route_local"),
        entries.table_entry("routes", {"destination": (1 << 64, 129)}, "route_local"),
    ],
)
def test_what_no_switch_could_have_is_refused(entry: fy.P4TableEntry) -> None:
    with pytest.raises((ValueError, LookupError, OverflowError)):
        MESSAGES.update((UpdateKind.INSERT, entry))


@given(st.binary(), st.sampled_from(list(PacketOutKind)), st.integers(0, 511), st.integers(0, 4095))
def test_packets_out_are_what_finsy_makes(payload: bytes, kind: PacketOutKind, port: int, vlan: int) -> None:
    expected = fy.P4PacketOut(payload, kind=kind, port=port, vlan=vlan).encode_update(SCHEMA)
    assert MESSAGES.packet_out(PacketOut(payload, kind, port, vlan)) == expected


@given(st.binary(), st.lists(st.integers(0, 255), min_size=4, max_size=4))
def test_packets_in_are_what_finsy_reads(payload: bytes, numbers: list[int]) -> None:
    metadata = [p4r.PacketMetadata(metadata_id=id, value=bytes([each])) for id, each in enumerate(numbers, 1)]
    message = p4r.PacketIn(payload=payload, metadata=metadata)
    expected = decode_stream(p4r.StreamMessageResponse(packet=message), SCHEMA)
    read = MESSAGES.packet_in(message)
    assert [read.reason, read.port, read.vlan, read.punt_class] == [
        expected[name] for name in ("reason", "ingress_port", "vlan", "punt_class")
    ]
    assert read.payload == payload
