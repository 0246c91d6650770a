"""Seals by the first key of a fleet what an older one sealed, so that the older one can be thrown away."""

from __future__ import annotations

from dataclasses import dataclass

from wayname.fleet.etcd import ChangedAt, Etcd, Put
from wayname.fleet.keys import FleetKeys
from wayname.fleet.overview import edges_of
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
    edges = {each.edge for each in await edges_of(etcd, keys, {}) if not each.seals_by(seal.names[0])}
    _, found = await etcd.below(keys.edges)
    for each in found:
        edge, _, place = each.key.removeprefix(keys.edges).partition(b"/")
        if place.startswith(b"state/") and not seal.is_by_first(each.value):
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
