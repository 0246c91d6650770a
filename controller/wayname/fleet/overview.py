"""How each edge of a fleet stands: who leads it, who waits to, and by which version of the configuration."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from wayname.fleet.etcd import CreatedAt, Delete, Etcd, Get, KeyValue, end_of
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.publication import Published
from wayname.fleet.sealing import FORM


@dataclass(frozen=True, slots=True)
class Waiting:
    """A controller that leads if who does dies; by which version it would, and why not by the one that holds."""

    controller: str
    applied: int
    refused: str
    # The names of its sealing keys, the one that seals first; none if it does not tell.
    keys: tuple[str, ...]
    # Whether it is another process than the one that leads, of the same name.
    is_duplicate: bool


@dataclass(frozen=True, slots=True)
class EdgeState:
    """An edge; 0 is no version."""

    edge: str
    # The controller that leads; None if none does.
    leader: str | None
    # What etcd has for it, what its leader goes by, and why not by the first.
    version: int
    applied: int
    refused: str
    keys: tuple[str, ...]
    waiting: tuple[Waiting, ...]

    @property
    def _keys_of_each(self) -> list[tuple[str, ...]]:
        return [self.keys, *(each.keys for each in self.waiting)]

    @property
    def is_behind(self) -> bool:
        """Whether who leads, or who waits, does not go by the version that holds."""
        outcomes = [(self.applied, self.refused), *((each.applied, each.refused) for each in self.waiting)]
        return any(applied != self.version or refused for applied, refused in outcomes)

    def seals_by(self, key: str) -> bool:
        """Whether a controller leads, and it and all that wait seal by a key."""
        return self.leader is not None and all(keys[:1] == (key,) for keys in self._keys_of_each)

    def lacks(self, key: str) -> bool:
        """Whether a controller told which keys it has, and a key is not among them."""
        return any(keys and key not in keys for keys in self._keys_of_each)


async def edges_of(etcd: Etcd, keys: FleetKeys, published: dict[str, Published]) -> list[EdgeState]:
    """Return all edges that have a configuration or a controller, in order."""
    names = set(published)
    async for name in _seen(etcd, keys):
        names.add(name)
    return [await _state(etcd, EdgeKeys(keys.prefix, name), published.get(name)) for name in sorted(names)]


async def drain(etcd: Etcd, keys: EdgeKeys) -> str | None:
    """Have another controller lead an edge; return who led."""
    found = await etcd.get(keys.leader)
    if found is None:
        return None
    # Its lease stays: so its owner knows that others are to be elected first.
    await etcd.transact([CreatedAt(keys.leader, found.created)], Delete(keys.leader))
    return _leader(found)


async def _seen(etcd: Etcd, keys: FleetKeys) -> AsyncIterator[str]:
    """Yield the edges below which something stands, without reading it: state may be much."""
    start, end = keys.edges, end_of(keys.edges)
    while found := await etcd.first_at(start, end):
        name = found.key.removeprefix(keys.edges).partition(b"/")[0]
        yield name.decode("utf-8", "replace")
        start = end_of(keys.edges + name + b"/")


async def _state(etcd: Etcd, keys: EdgeKeys, published: Published | None) -> EdgeState:
    done = await etcd.transact([], Get(keys.leader), Get(keys.applied))
    _, waiting = await etcd.below(keys.waiting)
    found, applied = done.got
    leader = _leader(found) if found else None
    version, refused, by = _told(applied, found) if applied else (0, "", ())
    others: list[Waiting] = []
    for each in waiting:
        controller = each.key.removeprefix(keys.waiting).decode("utf-8", "replace")
        is_of_leader = found is not None and controller == leader
        # Who leads may have waited a moment ago, under the same lease.
        if not (is_of_leader and found and each.lease == found.lease):
            others.append(Waiting(controller, *_told(each), is_of_leader))
    return EdgeState(keys.edge, leader, published.version if published else 0, version, refused, by, tuple(others))


def _told(found: KeyValue, leader: KeyValue | None = None) -> tuple[int, str, tuple[str, ...]]:
    """Return by which version a controller goes, why not by a newer one, and its keys.

    What the leader before told holds until the one of now does; but its keys are its own.
    """
    value = json.loads(found.value)
    if value["form"] > FORM:
        return 0, "its controller is newer than this command", ()
    is_own = leader is None or value.get("term") == leader.created
    return int(value["version"]), str(value["refused"]), tuple(map(str, value.get("keys", ()))) if is_own else ()


def _leader(found: KeyValue) -> str:
    try:
        return str(json.loads(found.value)["controller"])
    except (ValueError, TypeError, KeyError):
        return "somebody else"
