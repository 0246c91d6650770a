"""Seals by the first key of a fleet what an older one sealed, so that the older one can be thrown away."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass

from wayname.fleet.etcd import ChangedAt, Etcd, Put
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
    edges: set[str] = set()
    for each in found:
        edge, _, place = each.key.removeprefix(keys.edges).partition(b"/")
        if _is_older(place, each.value, seal):
            edges.add(edge.decode())
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


def _is_older(place: bytes, value: bytes, seal: Seal) -> bool:
    """Whether what stands below an edge needs an older key, or is told by a controller that seals with one."""
    match place.split(b"/")[0]:
        case b"state":
            return not seal.is_by_first(value)
        case b"applied" | b"waiting":
            with contextlib.suppress(ValueError, AttributeError):
                return bool(json.loads(value).get("key") != seal.first)
            return True
    return False
