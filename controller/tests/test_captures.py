"""Captures in the edge: which entries they want, and whose the copies are."""

from __future__ import annotations

import random

import pytest
from finsy import P4MeterEntry, P4Schema, P4TableEntry

from wayname.composition.configuration import parse_config
from wayname.composition.edge import Edge
from wayname.edge.boundary import (
    Captured,
    CloseCapture,
    Command,
    OpenCapture,
    PacketIn,
    SwitchUp,
    UpdateKind,
    Write,
)
from wayname.edge.desired_state import key_of
from wayname.p4_constants import Punt
from wayname.pipeline.entries import Entity

CONFIG = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 10
"""


@pytest.fixture
def edge(schema: P4Schema) -> Edge:
    edge = Edge(parse_config(CONFIG), schema, random.Random(1))
    edge.receive(SwitchUp([]), 0.0)
    edge.take_outputs()
    return edge


def name_of(entity: Entity) -> tuple[str, int]:
    """A table or meter, and the port that the entity is about."""
    if isinstance(entity, P4MeterEntry):
        return entity.meter_id, entity.index or 0
    assert isinstance(entity, P4TableEntry)
    return entity.table_id, entity["port"]


def written(edge: Edge, command: Command) -> dict[tuple[str, int], UpdateKind]:
    """What a command has written, in order, and what is done to it."""
    edge.receive(command, 1.0)
    updates = [update for output in edge.take_outputs() if isinstance(output, Write) for update in output.updates]
    return {name_of(entity): kind for kind, entity in updates}


def captured(edge: Edge, reason: Punt, port: int) -> list[tuple[int, bool]]:
    edge.receive(PacketIn(b"packet", reason, port, 10), 2.0)
    return [(each.number, each.arrives) for each in edge.take_outputs() if isinstance(each, Captured)]


def test_a_capture_sets_rates_before_it_copies(edge: Edge) -> None:
    updates = written(edge, OpenCapture(7, 1, arriving=True, leaving=True))
    assert list(updates) == [
        ("ingress_mirror_meter", 1),
        ("egress_mirror_meter", 1),
        ("ingress_mirror", 1),
        ("egress_mirror", 1),
    ]


def test_one_way_copies_one_way(edge: Edge) -> None:
    assert ("egress_mirror", 1) not in written(edge, OpenCapture(7, 1, arriving=True, leaving=False))
    assert captured(edge, Punt.INGRESS_MIRROR, 1) == [(7, True)]
    assert captured(edge, Punt.EGRESS_MIRROR, 1) == []
    assert captured(edge, Punt.INGRESS_MIRROR, 2) == []


def test_captures_of_one_port_share_its_copies(edge: Edge) -> None:
    written(edge, OpenCapture(1, 2, arriving=True, leaving=True))
    assert written(edge, OpenCapture(2, 2, arriving=False, leaving=True)) == {}
    assert captured(edge, Punt.EGRESS_MIRROR, 2) == [(1, False), (2, False)]


def test_what_another_capture_needs_stays(edge: Edge) -> None:
    written(edge, OpenCapture(1, 2, arriving=True, leaving=True))
    written(edge, OpenCapture(2, 2, arriving=False, leaving=True))
    assert written(edge, CloseCapture(1)) == {
        ("ingress_mirror", 2): UpdateKind.DELETE,
        ("ingress_mirror_meter", 2): UpdateKind.MODIFY,
    }
    assert captured(edge, Punt.INGRESS_MIRROR, 2) == []
    assert captured(edge, Punt.EGRESS_MIRROR, 2) == [(2, False)]
    assert set(written(edge, CloseCapture(2))) == {("egress_mirror", 2), ("egress_mirror_meter", 2)}


def test_what_an_earlier_controller_left_goes(schema: P4Schema) -> None:
    before = Edge(parse_config(CONFIG), schema, random.Random(1))
    before.receive(OpenCapture(1, 1, arriving=True, leaving=False), 0.0)
    before.receive(SwitchUp([]), 0.0)
    entities = [each for output in before.take_outputs() if isinstance(output, Write) for _, each in output.updates]
    after = Edge(parse_config(CONFIG), schema, random.Random(1))
    after.receive(SwitchUp(entities), 0.0)
    updates = [update for output in after.take_outputs() if isinstance(output, Write) for update in output.updates]
    deleted = {key_of(entity)[0] for kind, entity in updates if kind is UpdateKind.DELETE}
    assert deleted == {"ingress_mirror"}
