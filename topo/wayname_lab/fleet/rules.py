"""What must hold of an edge whatever fails: one controller at a time writes, while its lease lives; nothing is lost.

Each request is looked at when it leaves, or when it is carried out; what is broken is noted, since whoever asked would
take an exception for the network's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aetcd import rpc
from finsy.proto import U128

from wayname.config.simple_security import Pinhole
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.leadership import EPOCH_SHIFT
from wayname_lab.fleet.etcd_store import EtcdStore
from wayname_lab.fleet.loop import Process
from wayname_lab.fleet.switch import WRITE, KeptSwitch

# Who drains edges.
ADMIN = "admin"
REVISION = (1 << EPOCH_SHIFT) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """Somebody asked to open or to close a pinhole, and what was established then."""

    pinhole: Pinhole
    before: Mapping[Pinhole, bool]


class Rules:
    """`broken` has what was, with the time."""

    def __init__(
        self, clock: Callable[[], float], keys: EdgeKeys, store: EtcdStore, switch: KeptSwitch, device: int
    ) -> None:
        self.broken: list[str] = []
        # What is established: that a pinhole is open, or closed again.
        self.established: dict[Pinhole, bool] = {}
        # Of each pinhole, what was asked for last.
        self._last: dict[Pinhole, Wish] = {}
        # Revisions of leaders whose key somebody else took: they hear of it later.
        self.drained: set[int] = set()
        self._clock, self._keys, self._store, self._switch, self._device = clock, keys, store, switch, device

    def breaks(self, what: str) -> None:
        """Note what does not hold."""
        self.broken.append(f"{self._clock():.3f} s, {self._keys.edge}: {what}")

    def sent(self, process: Process, method: str, request: Any) -> None:
        """Look at a request when it leaves: who writes to the switch leads, and its lease lives."""
        if method != WRITE or request.device_id != self._device:
            return
        revision = U128.decode(request.election_id) & REVISION
        leader = self._store.values.get(self._keys.leader)
        if leader is None or leader.created != revision:
            if revision not in self.drained:
                self.breaks(f"{process.name} writes to the switch and does not lead")
        elif self._store.leases[leader.lease].ends <= self._clock():
            self.breaks(f"{process.name} writes to the switch after the end of its lease")

    def transacted(self, process: Process, request: Any) -> None:
        """Look at a transaction before it is carried out: who leads writes what a successor has to know."""
        leader = self._store.values.get(self._keys.leader)
        written = list(_written(request.success))
        if process.name == ADMIN and leader is not None and self._keys.leader in written:
            self.drained.add(leader.created)
        if not any(key.startswith(self._keys.state) for key in written):
            return
        guards = [each for each in request.compare if each.key == self._keys.leader]
        if not any(each.target == rpc.Compare.CREATE for each in guards):
            self.breaks(f"{process.name} writes what a successor has to know whoever leads")
        if (
            leader is not None
            and all(map(self._store.holds, guards))
            and json.loads(leader.value)["controller"] != process.name
        ):
            self.breaks(f"{process.name} writes what a successor has to know in another one's term")

    def asked(self, pinhole: Pinhole) -> Wish:
        """Whether a pinhole is open is not known until somebody answers."""
        self.established.pop(pinhole, None)
        self._last[pinhole] = wish = Wish(pinhole, dict(self.established))
        return wish

    def answered(self, name: str, wish: Wish, opened: bool, known: Iterable[Pinhole]) -> None:
        """A leader has done something: that stays so, and what others had done before it was asked is known to it.

        An answer may be late. What was asked for since is nothing that it has to know, or that it speaks for.
        """
        if self._last[wish.pinhole] is wish:
            self.established[wish.pinhole] = opened
        before = {each: was for each, was in wish.before.items() if self.established.get(each) is was}
        self._compare(name, before, known)

    def knows(self, name: str, known: Iterable[Pinhole]) -> None:
        """Look that somebody knows what is established."""
        self._compare(name, self.established, known)

    def _compare(self, name: str, established: Mapping[Pinhole, bool], known: Iterable[Pinhole]) -> None:
        there = set(known)
        lost = [str(each) for each, opened in established.items() if opened and each not in there]
        back = [str(each) for each, opened in established.items() if not opened and each in there]
        if lost:
            self.breaks(f"{name} has not what was opened: {', '.join(lost)}")
        if back:
            self.breaks(f"{name} has what was closed: {', '.join(back)}")

    def look_at_writes(self) -> int:
        """Look at all writes that the switch carried out; return how many leaders made them."""
        writes: dict[int, set[str]] = {}
        last = 0
        for each in self._switch.writes:
            if each.election_id < last:
                self.breaks(f"{each.process} wrote to the switch after a later leader")
            last = max(last, each.election_id)
            writes.setdefault(each.election_id, set()).add(each.process)
        for election_id, names in writes.items():
            if len(names) > 1:
                self.breaks(f"{' and '.join(sorted(names))} wrote to the switch as leader {election_id}")
        return len(writes)


def _written(operations: Iterable[Any]) -> Iterator[bytes]:
    for each in operations:
        match each.WhichOneof("request"):
            case "request_put":
                yield each.request_put.key
            case "request_delete_range":
                yield each.request_delete_range.key
