"""The secrets behind a switch's slots and nonces: drawn when it begins, and kept for as long as it runs."""

from __future__ import annotations

import random
from collections.abc import Iterable

import finsy as fy

from wayname.edge.desired_state import DesiredState
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity

BITS = 128


class HashKeys:
    """Finds the keys that a switch has, or gives it some. With others its flows would not find their slots again."""

    def __init__(self, desired: DesiredState, rng: random.Random) -> None:
        self._desired = desired
        self._rng = rng

    def adopt(self, entities: Iterable[Entity]) -> None:
        """Keep the keys that the switch has from an earlier controller; one that has begun anew has none."""
        there = next((each for each in entities if _are_keys(each)), None)
        self._desired.put(there or entries.hash_keys(self._rng.getrandbits(BITS), self._rng.getrandbits(BITS)))


def _are_keys(entity: Entity) -> bool:
    if not isinstance(entity, fy.P4TableEntry) or entity.table_id != "hash_keys":
        return False
    return isinstance(entity.action, fy.P4TableAction) and all(
        entity.action.args.get(name) for name in ("slots", "nonces")
    )
