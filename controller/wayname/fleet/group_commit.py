"""Transactions that a process has etcd carry out together: what comes while some are under way goes with the next ones.

So a process that stands for many edges asks once where it would ask for each. To whoever asks, each is a transaction
of its own: if the conditions do not all hold, or etcd refuses what one wants, they go one by one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from wayname.config.tls import Tls
from wayname.fleet.etcd import (
    CHANGES_AT_ONCE,
    OCTETS_AT_ONCE,
    Condition,
    Delete,
    Etcd,
    EtcdError,
    Get,
    Operation,
    Outcome,
    Put,
    RefusedError,
)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A transaction, and who waits for what comes of it."""

    conditions: tuple[Condition, ...]
    operations: tuple[Operation, ...]
    outcome: asyncio.Future[Outcome]

    @property
    def changes(self) -> int:
        return max(len(self.conditions), len(self.operations))

    @property
    def octets(self) -> int:
        return sum(len(each.value) for each in self.operations if isinstance(each, Put))

    @property
    def read(self) -> set[bytes]:
        gets = (each.key for each in self.operations if isinstance(each, Get))
        return {*(each.key for each in self.conditions), *gets}

    @property
    def written(self) -> set[bytes]:
        return {each.key for each in self.operations if not isinstance(each, Get)}

    @property
    def has_ranges(self) -> bool:
        return any(isinstance(each, Delete) and each.is_prefix for each in self.operations)

    def succeeds(self, done: Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(done)

    def fails(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


class GroupCommit(Etcd):
    """Etcd as a process of many edges asks it."""

    def __init__(self, endpoints: Sequence[str], tls: Tls | None = None) -> None:
        super().__init__(endpoints, tls)
        self._waiting: deque[_Waiting] = deque()
        self._under_way: asyncio.Task[None] | None = None

    async def transact(self, conditions: Iterable[Condition], *operations: Operation) -> Outcome:
        """Do all of this if the conditions hold, or nothing; if nobody answers, it may have been done or not."""
        waiting = _Waiting(tuple(conditions), operations, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._under_way is None:
            self._under_way = asyncio.create_task(self._commit_all())
        return await waiting.outcome

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                await asyncio.gather(*map(self._commit, self._next()))
        finally:
            self._under_way = None

    def _next(self) -> list[list[_Waiting]]:
        """Take what may be carried out at once, as groups within etcd's bounds: none meets what another one writes."""
        groups: list[list[_Waiting]] = []
        changes = octets = 0
        read: set[bytes] = set()
        written: set[bytes] = set()
        while self._waiting:
            each = self._waiting[0]
            meets = each.written & (read | written) or each.read & written
            if groups and (meets or each.has_ranges):
                break
            self._waiting.popleft()
            if each.outcome.cancelled():
                continue
            changes += each.changes
            octets += each.octets
            if not groups or changes > CHANGES_AT_ONCE or octets > OCTETS_AT_ONCE:
                groups.append([])
                changes, octets = each.changes, each.octets
            groups[-1].append(each)
            read |= each.read
            written |= each.written
            if each.has_ranges:
                break
        return groups

    async def _commit(self, group: Sequence[_Waiting]) -> None:
        try:
            conditions = (each for waiting in group for each in waiting.conditions)
            done = await super().transact(conditions, *(each for waiting in group for each in waiting.operations))
        except EtcdError as error:
            if isinstance(error, RefusedError) and len(group) > 1:
                # What is wrong with one is no other one's fault: a role that has not all its keys, say.
                await self._one_by_one(group)
            else:
                for waiting in group:
                    waiting.fails(type(error)(*error.args))
        except BaseException:
            for waiting in group:
                waiting.outcome.cancel()
            raise
        else:
            if not done.succeeded and len(group) > 1:
                await self._one_by_one(group)
            else:
                _share_out(done, group)

    async def _one_by_one(self, group: Sequence[_Waiting]) -> None:
        await asyncio.gather(*(self._commit([waiting]) for waiting in group))


def _share_out(done: Outcome, group: Sequence[_Waiting]) -> None:
    """Tell each what it got."""
    got = iter(done.got)
    for waiting in group:
        gets = sum(isinstance(each, Get) for each in waiting.operations)
        waiting.succeeds(Outcome(done.succeeded, done.revision, tuple(islice(got, gets))))
