"""Seals by the first key of a fleet what an older one sealed, so that the older one can be thrown away."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass

from wayname.fleet.etcd import ChangedAt, Etcd, KeyValue, Put
from wayname.fleet.keys import FleetKeys
from wayname.fleet.sealing import Seal


@dataclass(frozen=True, slots=True)
class Resealed:
    """How many values of the configuration were sealed anew, and for which edges that waits."""

    values: int
    waiting: list[str]


async def reseal(etcd: Etcd, keys: FleetKeys, seal: Seal) -> Resealed:
    """Seal the configuration anew, its history too, once all controllers have the new key.

    One that has not could not read its configuration any more. What an edge remembers its leader seals anew.
    """
    _, found = await etcd.below(keys.edges)
    edges = {each.key.removeprefix(keys.edges).partition(b"/")[0].decode() for each in found if _is_older(each, seal)}
    if edges:
        return Resealed(0, sorted(edges))
    values = 0
    for prefix in (keys.configurations, keys.files):
        _, found = await etcd.below(prefix)
        for each in found:
            if not seal.is_by_first(each.value):
                value = seal.close(each.key, seal.open(each.key, each.value))
                # Whoever applies a version meanwhile has sealed what is there then.
                done = await etcd.transact([ChangedAt(each.key, each.changed)], Put(each.key, value))
                values += done.succeeded
    return Resealed(values, [])


def _is_older(found: KeyValue, seal: Seal) -> bool:
    """Whether what an edge has there needs an older key, or is told by a controller that seals with one."""
    match found.key.rpartition(b"/edges/")[2].split(b"/")[1:]:
        case [b"state", _]:
            return not seal.is_by_first(found.value)
        case [b"applied"] | [b"waiting", _]:
            with contextlib.suppress(ValueError, AttributeError):
                return bool(json.loads(found.value).get("key") != seal.first)
            return True
    return False
