"""A model of etcd on a virtual clock, and an event loop that has such a clock: nothing waits, and a seed replays all.

`test_etcd_model.py` holds the model against real servers.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from wayname.fleet.etcd import (
    ATTEMPT_SECONDS,
    Change,
    ChangedAt,
    Condition,
    CreatedAt,
    Delete,
    EtcdError,
    Get,
    KeyValue,
    Operation,
    Outcome,
    Put,
    end_of,
)

T = TypeVar("T")
# How often etcd looks for leases that have ended.
LOOKS_EVERY = 0.5


class _Jumping(selectors.SelectSelector):
    """Has time pass where a loop would wait."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("everything waits for something that never comes")
        self.now += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes at once."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """The virtual time, in seconds."""
        return self._jumping.now


@dataclass(slots=True)
class _Lease:
    seconds: float
    ends: float


@dataclass
class EtcdModel:
    """The one truth of all its clients; without time of its own, `clock` says how late it is."""

    clock: Callable[[], float]
    revision: int = 1
    values: dict[bytes, KeyValue] = field(default_factory=dict)
    leases: dict[int, _Lease] = field(default_factory=dict)
    # What happened, by revision, for who begins to watch late.
    history: list[tuple[int, Change]] = field(default_factory=list)
    watchers: set[asyncio.Event] = field(default_factory=set)
    granted: int = 0

    def below(self, prefix: bytes) -> list[KeyValue]:
        """Return all keys that begin so, in order."""
        return [self.values[key] for key in sorted(self.values) if prefix <= key < end_of(prefix)]

    def transact(self, conditions: Iterable[Condition], operations: Iterable[Operation]) -> Outcome:
        """Do all of this at one revision, or nothing."""
        if not all(map(self._holds, conditions)):
            return Outcome(False, self.revision, ())
        got: list[KeyValue | None] = []
        at = self.revision + 1
        for operation in operations:
            match operation:
                case Get(key):
                    got.append(self.values.get(key))
                case Put(key, value, lease):
                    if lease and lease not in self.leases:
                        raise EtcdError("etcdserver: requested lease not found")
                    before = self.values.get(key)
                    self._set(key, KeyValue(key, value, before.created if before else at, at, lease), at)
                case Delete(key, is_prefix):
                    for each in [found.key for found in self.below(key)] if is_prefix else [key]:
                        if each in self.values:
                            self._set(each, None, at)
        self._tell()
        return Outcome(True, self.revision, tuple(got))

    def grant(self, seconds: int) -> int:
        """Return a new lease."""
        self.granted += 1
        self.leases[self.granted] = _Lease(seconds, self.clock() + seconds)
        return self.granted

    def keep_alive(self, lease: int) -> float:
        """Have a lease begin anew."""
        found = self.leases.get(lease)
        if found is None:
            return 0.0
        found.ends = self.clock() + found.seconds
        return found.seconds

    def revoke(self, lease: int) -> None:
        """End a lease, and what is under it."""
        if self.leases.pop(lease, None) is None:
            raise EtcdError("etcdserver: requested lease not found")
        ended = [key for key, value in self.values.items() if value.lease == lease]
        for key in ended:
            self._set(key, None, self.revision + 1)
        self._tell()

    def end_leases(self) -> None:
        """End the leases whose time is over."""
        for lease in [number for number, each in self.leases.items() if each.ends <= self.clock()]:
            self.revoke(lease)

    def give_leases_anew(self) -> None:
        """Begin all leases anew, as a member does that comes to lead the others."""
        for lease in self.leases.values():
            lease.ends = self.clock() + lease.seconds

    def _holds(self, condition: Condition) -> bool:
        found = self.values.get(condition.key)
        match condition:
            case CreatedAt():
                return (found.created if found else 0) == condition.revision
            case ChangedAt():
                return (found.changed if found else 0) == condition.revision

    def _set(self, key: bytes, value: KeyValue | None, at: int) -> None:
        if value is None:
            del self.values[key]
        else:
            self.values[key] = value
        self.revision = at
        self.history.append((at, Change(key, value)))

    def _tell(self) -> None:
        for each in self.watchers:
            each.set()


class Client:
    """What a controller has of the model, by a network that loses, delays, and falls apart; as `Etcd`."""

    def __init__(self, model: EtcdModel, rng: random.Random) -> None:
        self._model, self._rng = model, rng
        self.is_cut = False
        self.delay, self.loss = 0.0, 0.0

    async def _ask(self, ask: Callable[[], T], patience: float = ATTEMPT_SECONDS) -> T:
        """Ask, unless the question or the answer is lost, or it takes too long."""
        there, back = (self._rng.random() * self.delay for _ in range(2))
        lost_there, lost_back = (self._rng.random() < self.loss for _ in range(2))
        if self.is_cut or lost_there or there >= patience:
            await asyncio.sleep(patience)
            raise EtcdError("etcd does not answer")
        await asyncio.sleep(there)
        answer = ask()
        if self.is_cut or lost_back or there + back >= patience:
            await asyncio.sleep(max(patience - there, 0.0))
            raise EtcdError("etcd does not answer")
        await asyncio.sleep(back)
        return answer

    async def get(self, key: bytes) -> KeyValue | None:
        """As of `Etcd`."""
        return await self._ask(lambda: self._model.values.get(key))

    async def below(self, prefix: bytes) -> tuple[int, list[KeyValue]]:
        """As of `Etcd`."""
        return await self._ask(lambda: (self._model.revision, self._model.below(prefix)))

    async def transact(self, conditions: Iterable[Condition], *operations: Operation) -> Outcome:
        """As of `Etcd`."""
        return await self._ask(lambda: self._model.transact(list(conditions), operations))

    async def grant(self, seconds: int) -> tuple[int, float]:
        """As of `Etcd`."""
        return await self._ask(lambda: (self._model.grant(seconds), float(seconds)))

    async def keep_alive(self, lease: int, patience: float = ATTEMPT_SECONDS) -> float:
        """As of `Etcd`."""
        return await self._ask(lambda: self._model.keep_alive(lease), patience)

    async def revoke(self, lease: int) -> None:
        """As of `Etcd`."""
        await self._ask(lambda: self._model.revoke(lease))

    async def watch(self, key: bytes, revision: int, *, is_prefix: bool = False) -> AsyncIterator[list[Change]]:
        """As of `Etcd`; who is cut off hears nothing more, and is not told that it does not."""
        news = asyncio.Event()
        self._model.watchers.add(news)
        try:
            while True:
                fresh = [(at, change) for at, change in self._model.history if at >= revision]
                told = [
                    change
                    for _, change in fresh
                    if change.key == key or (is_prefix and key <= change.key < end_of(key))
                ]
                if fresh and not self.is_cut:
                    revision = fresh[-1][0] + 1
                    if told:
                        yield told
                news.clear()
                await news.wait()
        finally:
            self._model.watchers.discard(news)

    async def close(self) -> None:
        """As of `Etcd`."""
