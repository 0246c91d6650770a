"""What a successor has to know, in etcd: sealed, and written only by who leads."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable

from wayname.edge.boundary import Json, Persist
from wayname.fleet.etcd import (
    CHANGES_AT_ONCE,
    OCTETS_AT_ONCE,
    Delete,
    Etcd,
    EtcdError,
    KeyValue,
    Operation,
    Put,
)
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.leader_writes import LeaderWrites
from wayname.fleet.leadership import Term
from wayname.fleet.sealing import Seal, SealError

# After etcd refused or did not answer: what happens meanwhile does not wait for it.
RETRY_SECONDS = 0.5


class FleetState:
    """Values by key, as `StateFile` has them; what was put is in etcd when `settle` says so."""

    def __init__(self, etcd: Etcd, keys: EdgeKeys, seal: Seal, clock: Callable[[], float]) -> None:
        self._etcd = etcd
        self._keys = keys
        self._seal = seal
        self._clock = clock
        self._values: dict[str, Json] = {}
        # Where in etcd each is: under another name if another key was the first when it was written.
        self._places: dict[str, bytes] = {}
        # And which one is at each.
        self._names: dict[bytes, str] = {}
        self._unwritten: dict[str, Json] = {}
        self._trouble = ""
        self._again_at = 0.0
        # Of etcd, up to which another leader's changes are here.
        self._revision = 0
        self._writes = LeaderWrites(etcd, keys.leader, keys.written)

    @property
    def unwritten(self) -> int:
        """How many values etcd does not have yet."""
        return len(self._unwritten)

    async def load(self, *, keep_unwritten: bool = False) -> None:
        """Begin with what the leader before wrote, and nothing else, unless what it could not know is kept."""
        revision, found = await self._etcd.below(self._keys.state)
        self._writes.begin_anew()
        opened = [(each.key, *self._open(each)) for each in found]
        self._places.clear()
        self._names.clear()
        for place, name, _ in opened:
            self._note_place(name, place)
        unwritten = self._unwritten if keep_unwritten else {}
        self._values, self._unwritten, self._trouble = {name: value for _, name, value in opened}, {}, ""
        self.put(*(Persist(name, value) for name, value in unwritten.items()))
        self._revision = revision

    def seal_anew(self) -> None:
        """Write again what an older key sealed: its name stands elsewhere by the first one."""
        older = [name for name, place in self._places.items() if place != self._place(name)]
        self.put(*(Persist(name, self._values[name]) for name in older))

    async def follow(self, goes_on: Callable[[], bool]) -> AsyncIterator[None]:
        """Go by what another leader writes, for as long as that is so; yield when something changed."""
        async for changes in self._etcd.watch(self._keys.state, self._revision + 1, is_prefix=True):
            if not goes_on():
                return
            for change in changes:
                if change.value is not None:
                    name, value = self._open(change.value)
                    self._revision = max(self._revision, change.value.changed)
                    self._note_place(name, change.key)
                    if name not in self._unwritten:
                        self._values[name] = value
                elif (gone := self._names.get(change.key)) is not None:
                    self._note_place(gone, None)
                    if gone not in self._unwritten:
                        self._values.pop(gone, None)
            yield

    def _open(self, found: KeyValue) -> tuple[str, Json]:
        name, value = json.loads(self._seal.open(found.key, found.value))
        return name, value

    def _note_place(self, name: str, place: bytes | None) -> None:
        """A value is there now, and no more where it was: under another sealing key it has another place."""
        if (before := self._places.pop(name, None)) is not None:
            self._names.pop(before, None)
        if place is not None:
            self._places[name] = place
            self._names[place] = name

    def forget_unwritten(self) -> None:
        """Write nothing of what etcd does not have yet: another controller says what is so."""
        self._unwritten = {}

    def read(self) -> dict[str, Json]:
        """Return all values."""
        return dict(self._values)

    def put(self, *remembers: Persist) -> str:
        """Note values, or that they are forgotten; `settle` has etcd take them."""
        for each in remembers:
            if each.value is None:
                self._values.pop(each.key, None)
            else:
                self._values[each.key] = each.value
            self._unwritten[each.key] = each.value
        return self._trouble

    async def settle(self, term: Term | None) -> str:
        """Have etcd take all that it has not; return why it does not, if so, and then it is tried again."""
        if not self._unwritten or term is None or self._clock() < self._again_at:
            return self._trouble
        try:
            while self._unwritten:
                await self._write_some(term)
        except EtcdError as error:
            self._again_at = self._clock() + RETRY_SECONDS
            mend = "what happens now is lost if another controller takes over before it answers"
            self._trouble = f"{error}; {mend}"
        else:
            self._trouble, self._again_at = "", 0.0
        return self._trouble

    async def has_to_write_anew(self) -> bool:
        """Whether etcd was restored from a snapshot that is older than the last write: then all is to be written."""
        if not await self._writes.were_undone():
            return False
        _, found = await self._etcd.below(self._keys.state)
        self._places.clear()
        self._names.clear()
        for each in found:
            # What an older key sealed, whose line is gone since, is nobody's.
            with contextlib.suppress(SealError):
                self._note_place(self._open(each)[0], each.key)
        self._unwritten = {**dict.fromkeys(self._places), **self._values, **self._unwritten}
        self._writes.begin_anew()
        return True

    async def _write_some(self, term: Term) -> None:
        names: list[str] = []
        operations: list[Operation] = []
        octets = 0
        for name, value in self._unwritten.items():
            changes = list(self._changes(name, value))
            octets += sum(len(each.value) for each in changes if isinstance(each, Put))
            if names and (octets > OCTETS_AT_ONCE or len(operations) + len(changes) > CHANGES_AT_ONCE):
                break
            names.append(name)
            operations += changes
        written = [(name, self._unwritten[name]) for name in names]
        if not await self._writes.write(term, *operations):
            return
        for name, value in written:
            # It may have changed meanwhile.
            if self._unwritten.get(name) is value:
                del self._unwritten[name]
            self._note_place(name, None if value is None else self._place(name))

    def _changes(self, name: str, value: Json) -> Iterable[Operation]:
        place, before = self._place(name), self._places.get(name)
        if before is not None and (value is None or before != place):
            yield Delete(before)
        if value is not None:
            yield Put(place, self._seal.close(place, json.dumps([name, value]).encode()))
        elif before is None:
            # It may be there all the same: an answer that did not come says nothing.
            yield Delete(place)

    def _place(self, name: str) -> bytes:
        return self._keys.state + self._seal.name(name).encode()

    def close(self) -> None:
        """Forget all."""
        self._values, self._places, self._unwritten = {}, {}, {}
