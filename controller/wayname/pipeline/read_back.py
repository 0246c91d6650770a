"""What a switch answers to a read, as entities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from finsy import P4Schema
from finsy.p4entity import decode_entity
from finsy.proto import p4r


def decode_entities(found: Iterable[p4r.Entity], schema: P4Schema) -> list[Any]:
    """Decode all but cells of meters without a rate: they are as good as absent, and there are tens of thousands."""
    return [decode_entity(each, schema) for each in found if not _is_unset_meter(each)]


def _is_unset_meter(entity: p4r.Entity) -> bool:
    return entity.HasField("meter_entry") and not entity.meter_entry.HasField("config")
