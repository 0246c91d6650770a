"""What fault schedules rely on holds for real servers of etcd and for their model: the same tests ask both."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import grpc.aio
import pytest
from aetcd import rpc
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from wayname.fleet.etcd import (
    ChangedAt,
    Compacted,
    Condition,
    CreatedAt,
    Delete,
    Etcd,
    EtcdError,
    Get,
    KeyValue,
    Operation,
    Put,
    UnderLease,
)
from wayname_lab.etcd import EtcdCluster, missing_for_etcd
from wayname_lab.fleet.controllers import virtual_machines
from wayname_lab.fleet.etcd_members import EtcdMembers
from wayname_lab.fleet.loop import Process, VirtualLoop
from wayname_lab.fleet.network import Network

T = TypeVar("T")
PATIENCE = 60.0
# A lease that there never was.
NOBODYS = 1 << 40
NAMES = [b"a", b"ab", b"b", b"b/c", b"b/d"]
names = st.sampled_from(NAMES)
operations = st.one_of(
    st.builds(Get, names),
    st.builds(Put, names, st.binary(min_size=1, max_size=3), st.sampled_from([0, 0, 1, 2])),
    st.builds(Delete, names, st.booleans()),
)
# Revisions are those of one of the things that were done before, or 0; leases by their number, or 0.
forms = st.sampled_from([CreatedAt, ChangedAt, UnderLease])
conditions = st.lists(st.builds(lambda form, *rest: form(*rest), forms, names, st.integers(0, 3)), max_size=2)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("transact"), conditions, st.lists(operations, min_size=1, max_size=3)),
        st.tuples(st.just("grant")),
        st.tuples(st.just("revoke"), st.sampled_from([1, 2])),
        st.tuples(st.just("keep_alive"), st.sampled_from([1, 2])),
        st.tuples(st.just("compact"), st.integers(0, 5)),
    ),
    max_size=8,
)
runs = itertools.count()


class Servers(Protocol):
    """Servers of etcd, real ones or modelled, and who asks them."""

    @property
    def endpoints(self) -> Sequence[str]:
        """Where they are."""

    def run(self, ask: Callable[[Etcd], Awaitable[T]]) -> T:
        """Ask them."""

    async def kill_leader(self) -> None:
        """Kill the one that leads the others."""

    def clock(self) -> float:
        """Return the time, in seconds."""


class Patient(Etcd):
    """Waits for a machine that is busy."""

    async def _ask_now(self, ask: Callable[[Any, dict[str, Any]], Awaitable[T]], patience: float) -> T:
        return await super()._ask_now(ask, max(patience, PATIENCE))


@dataclass
class Real:
    """Debian's."""

    cluster: EtcdCluster

    @property
    def endpoints(self) -> Sequence[str]:
        return self.cluster.endpoints

    def run(self, ask: Callable[[Etcd], Awaitable[T]]) -> T:
        async def asked() -> T:
            etcd = Patient(self.endpoints)
            try:
                async with asyncio.timeout(PATIENCE):
                    return await ask(etcd)
            finally:
                await etcd.close()

        return asyncio.run(asked())

    async def kill_leader(self) -> None:
        leader = await asyncio.to_thread(self.cluster.leader)
        self.cluster.send(leader, signal.SIGKILL)

    def clock(self) -> float:
        return asyncio.get_running_loop().time()


@dataclass
class Modelled:
    """In memory, on the virtual clock; each run asks new ones."""

    endpoints: Sequence[str]
    members: list[EtcdMembers] = field(default_factory=list)

    def run(self, ask: Callable[[Etcd], Awaitable[T]]) -> T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            loop = runner.get_loop()
            assert isinstance(loop, VirtualLoop)
            network = Network(loop, random.Random(0))
            self.members = [EtcdMembers(loop, network, random.Random(0), list(self.endpoints))]
            answers: list[T] = []

            async def asked() -> None:
                async with asyncio.timeout(PATIENCE):
                    answers.append(await ask(Etcd(self.endpoints)))

            with virtual_machines(network):
                runner.run(_finished(Process(loop, "client").start(asked())))
            return answers[0]

    async def kill_leader(self) -> None:
        [members] = self.members
        assert members.leader is not None
        members.kill(members.leader)

    def clock(self) -> float:
        return asyncio.get_running_loop().time()


async def _finished(task: asyncio.Task[None]) -> None:
    await task


@pytest.fixture(scope="module", params=["model", "real"])
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """One member, whose revisions nobody else counts up."""
    if request.param == "model":
        yield Modelled(["127.0.0.1:2379"])
    elif reason := missing_for_etcd():
        pytest.skip(reason)
    else:
        with EtcdCluster(tmp_path_factory.mktemp("etcd"), members=1) as cluster:
            yield Real(cluster)


@pytest.fixture(params=["model", "real"])
def three(request: pytest.FixtureRequest) -> Servers:
    """Three members."""
    if request.param == "model":
        return Modelled([f"127.0.0.{number}:2379" for number in (1, 2, 3)])
    cluster: EtcdCluster = request.getfixturevalue("three_etcds")
    return Real(cluster)


def once(changes: Sequence[Operation]) -> list[Operation]:
    """Return operations of which no two write the same key, which etcd refuses."""
    kept: list[Operation] = []
    for each in changes:
        written = [other for other in kept if not isinstance(other, Get)]
        if isinstance(each, Get) or not any(
            each.key.startswith(other.key) or other.key.startswith(each.key) for other in written
        ):
            kept.append(each)
    return kept


class Told:
    """What a client was told of the keys below a prefix, and what has to be so after each thing that it asks for."""

    def __init__(self, etcd: Etcd, channel: Any, prefix: bytes) -> None:
        self.etcd, self.prefix = etcd, prefix
        self.kv = rpc.KVStub(channel)
        self.leases: list[int] = []
        # The revisions at which something was done, for conditions.
        self.known = [0]

    async def look(self) -> tuple[int, dict[bytes, KeyValue]]:
        """Read all."""
        revision, found = await self.etcd.below(self.prefix)
        assert [each.key for each in found] == sorted(each.key for each in found)
        return revision, {each.key: each for each in found}

    def lease(self, number: int) -> int:
        """Return a lease by its number, or one that nobody has."""
        return self.leases[number - 1] if 0 < number <= len(self.leases) else NOBODYS

    async def transact(self, wanted: Sequence[Any], changes: Sequence[Any]) -> None:
        """Do it, and look whether it was done wholly or not at all."""
        conditions = [self._placed(each) for each in wanted]
        operations = [self._placed(each) for each in once(changes)]
        revision, before = await self.look()
        unknown = [each for each in operations if isinstance(each, Put) and each.lease == NOBODYS]
        holds = all(_holds(each, before) for each in conditions)
        if unknown and holds:
            with pytest.raises(EtcdError, match="requested lease not found"):
                await self.etcd.transact(conditions, *operations)
            assert await self.look() == (revision, before)
            return
        done = await self.etcd.transact(conditions, *operations)
        now, after = await self.look()
        assert (done.succeeded, now) == (holds, done.revision)
        expected, got = dict(before), []
        for each in operations if holds else ():
            match each:
                case Get(key):
                    got.append(expected.get(key))
                case Put(key, value, lease):
                    old = expected.get(key)
                    expected[key] = KeyValue(key, value, old.created if old else now, now, lease)
                case Delete(key, is_prefix):
                    for gone in [name for name in expected if name == key or (is_prefix and name.startswith(key))]:
                        del expected[gone]
        assert (after, done.got) == (expected, tuple(got))
        changed = holds and any(isinstance(each, Put) for each in operations)
        assert now == revision + (changed or expected != before)
        self.known.append(now)

    def _placed(self, each: Any) -> Any:
        each = replace(each, key=self.prefix + each.key)
        if isinstance(each, Put | UnderLease):
            return replace(each, lease=self.lease(each.lease) if each.lease else 0)
        return replace(each, revision=self.known[each.revision % len(self.known)]) if _is_condition(each) else each

    async def grant(self) -> None:
        """Have one more lease."""
        lease, seconds = await self.etcd.grant(60)
        assert seconds == 60 and lease not in self.leases
        self.leases.append(lease)

    async def keep_alive(self, number: int) -> None:
        """A lease that there is not has no time."""
        assert await self.etcd.keep_alive(self.lease(number)) == (0 if self.lease(number) == NOBODYS else 60)

    async def revoke(self, number: int) -> None:
        """What is under a lease goes with it, at one revision, and nothing else."""
        lease = self.lease(number)
        revision, before = await self.look()
        if lease == NOBODYS:
            with pytest.raises(EtcdError, match="requested lease not found"):
                await self.etcd.revoke(lease)
            return
        await self.etcd.revoke(lease)
        self.leases[self.leases.index(lease)] = NOBODYS
        now, after = await self.look()
        assert after == {key: each for key, each in before.items() if each.lease != lease}
        assert now == revision + (after != before)

    async def compact(self, back: int) -> None:
        """Forget what was before a revision; what is there stays."""
        revision, before = await self.look()
        try:
            await self.kv.Compact(rpc.CompactionRequest(revision=max(revision - back, 1)), timeout=PATIENCE)
        except grpc.aio.AioRpcError as error:
            assert error.details() == "etcdserver: mvcc: required revision has been compacted"
        assert await self.look() == (revision, before)

    async def heard_since(self, revision: int) -> tuple[dict[bytes, KeyValue], list[int]]:
        """Return what follows from what a watcher hears from a revision on, and at which revisions that changed."""
        # The watcher has heard all when it has heard this.
        mark = self.prefix + b"~"
        await self.etcd.transact([], Put(mark, b"all"))
        there: dict[bytes, KeyValue] = {}
        revisions: list[int] = []
        async for changes in self.etcd.watch(self.prefix, revision, is_prefix=True):
            for change in changes:
                if change.key == mark:
                    await self.etcd.transact([], Delete(mark))
                    return there, revisions
                if change.value is None:
                    del there[change.key]
                else:
                    revisions.append(change.value.changed)
                    there[change.key] = change.value
        raise AssertionError("a watch does not end")


def _is_condition(each: Any) -> bool:
    return isinstance(each, CreatedAt | ChangedAt)


def _holds(condition: Condition, there: dict[bytes, KeyValue]) -> bool:
    found = there.get(condition.key)
    match condition:
        case CreatedAt(_, revision):
            return (found.created if found else 0) == revision
        case ChangedAt(_, revision):
            return (found.changed if found else 0) == revision
        case UnderLease(_, lease):
            return (found.lease if found else 0) == lease


async def carry_out(etcd: Etcd, endpoint: str, steps: Sequence[Any]) -> None:
    """Do one after the other; what a watcher hears afterwards leads to what is there."""
    async with _channel(endpoint) as channel:
        told = Told(etcd, channel, f"run{next(runs)}/".encode())
        base, _ = await told.look()
        compacts = any(step[0] == "compact" for step in steps)
        for name, *rest in steps:
            await getattr(told, name)(*rest)
        _, there = await told.look()
        if not compacts:
            heard, revisions = await told.heard_since(base + 1)
            assert heard == there
            assert revisions == sorted(revisions)
        # Nothing of this ends while another run counts revisions.
        for number, lease in enumerate(told.leases, 1):
            if lease != NOBODYS:
                await told.revoke(number)


@asynccontextmanager
async def _channel(endpoint: str) -> AsyncIterator[Any]:
    channel = grpc.aio.insecure_channel(endpoint)
    try:
        yield channel
    finally:
        await channel.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(steps=steps)
def test_what_is_asked_for_is_done_wholly_or_not_and_watchers_hear_of_it(one: Servers, steps: list[Any]) -> None:
    one.run(lambda etcd: carry_out(etcd, one.endpoints[0], steps))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=10)
@given(count=st.integers(2, 5), kept=st.integers(1, 5), asked=st.integers(1, 5))
def test_what_was_compacted_is_said_to_be_and_the_rest_is_heard(
    one: Servers, count: int, kept: int, asked: int
) -> None:
    assume(kept <= count and asked <= count)

    async def ask(etcd: Etcd) -> None:
        async with _channel(one.endpoints[0]) as channel:
            told = Told(etcd, channel, f"run{next(runs)}/".encode())
            key = told.prefix + b"a"
            revisions = [(await etcd.transact([], Put(key, bytes([number])))).revision for number in range(count)]
            await told.kv.Compact(rpc.CompactionRequest(revision=revisions[kept - 1]), timeout=PATIENCE)
            watch = etcd.watch(key, revisions[asked - 1])
            if asked < kept:
                with pytest.raises(Compacted):
                    await anext(watch)
            else:
                heard: list[bytes] = []
                async for changes in watch:
                    heard += [each.value.value for each in changes if each.value]
                    if len(heard) == count - asked + 1:
                        break
                assert heard == [bytes([number]) for number in range(asked - 1, count)]

    one.run(ask)


def test_a_lease_ends_with_its_time_and_not_before(one: Servers) -> None:
    async def ask(etcd: Etcd) -> None:
        key = f"run{next(runs)}/a".encode()
        asked = one.clock()
        lease, seconds = await etcd.grant(1)
        made = await etcd.transact([], Put(key, b"1", lease))
        await etcd.keep_alive(lease)
        [gone] = await anext(etcd.watch(key, made.revision + 1))
        assert gone.value is None
        assert one.clock() - asked >= seconds
        assert await etcd.keep_alive(lease) == 0

    one.run(ask)


def test_another_leader_of_etcd_knows_all_and_begins_leases_anew(three: Servers) -> None:
    async def ask(etcd: Etcd) -> None:
        lease, _ = await etcd.grant(30)
        made = await etcd.transact([], Put(b"a", b"1", lease), Put(b"b", b"1"))
        await three.kill_leader()
        while True:
            try:
                found = await etcd.get(b"a")
                after = await etcd.transact([CreatedAt(b"b", made.revision)], Put(b"b", b"2"))
                break
            except EtcdError:
                await asyncio.sleep(0.05)
        assert found == KeyValue(b"a", b"1", made.revision, made.revision, lease)
        assert after.succeeded and after.revision > made.revision
        assert await etcd.keep_alive(lease) == 30
        told = await anext(etcd.watch(b"b", made.revision + 1))
        assert [each.value and each.value.value for each in told] == [b"2"]

    three.run(ask)
