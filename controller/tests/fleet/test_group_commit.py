"""Transactions that go together, in a real etcd: each comes to the same as alone."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wayname.fleet.etcd import (
    CHANGES_AT_ONCE,
    MOMENTS,
    OCTETS_AT_ONCE,
    CreatedAt,
    Delete,
    Etcd,
    EtcdError,
    Get,
    Operation,
    Outcome,
    Put,
    RefusedError,
)
from wayname.fleet.group_commit import GroupCommit
from wayname_lab.etcd import EtcdCluster

NUMBERS = itertools.count()
KEYS = st.sampled_from([b"a", b"b", b"c", b"cc"])
OPERATIONS = st.one_of(
    st.builds(Put, KEYS, st.binary(max_size=3)), st.builds(Get, KEYS), st.builds(Delete, KEYS, st.booleans())
)
# A condition at most, that there is no such key. etcd refuses what changes a key twice.
TRANSACTIONS = st.tuples(
    st.none() | KEYS, st.lists(OPERATIONS, min_size=1, max_size=3, unique_by=lambda each: each.key[:1])
)


async def transact(
    etcd: Etcd, prefix: bytes, absent: bytes | None, operations: list[Operation]
) -> tuple[bool, list[bytes | None]]:
    """Do this below a prefix; return whether it was done, and what was got."""
    moved: list[Operation] = []
    for each in operations:
        match each:
            case Put(key, value):
                moved.append(Put(prefix + key, value))
            case Get(key):
                moved.append(Get(prefix + key))
            case Delete(key, is_prefix):
                moved.append(Delete(prefix + key, is_prefix))
    done = await etcd.transact([CreatedAt(prefix + absent, 0)] if absent else [], *moved)
    return done.succeeded, [each.value if each else None for each in done.got]


def a_prefix() -> bytes:
    return f"group/{next(NUMBERS)}/".encode()


@asynccontextmanager
async def grouping(cluster: EtcdCluster) -> AsyncIterator[GroupCommit]:
    etcd = GroupCommit(cluster.endpoints)
    async with asyncio.timeout(60):
        try:
            yield etcd
        finally:
            await etcd.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(transactions=st.lists(TRANSACTIONS, max_size=12))
def test_all_at_once_comes_to_the_same_as_one_by_one(
    one_etcd: EtcdCluster, transactions: list[tuple[bytes | None, list[Operation]]]
) -> None:
    async def both() -> None:
        async with grouping(one_etcd) as etcd:
            prefix = a_prefix()
            alone = [await transact(etcd, prefix, *each) for each in transactions]
            prefix = a_prefix()
            assert await asyncio.gather(*(transact(etcd, prefix, *each) for each in transactions)) == alone

    asyncio.run(both())


async def test_many_edges_ask_together_and_one_that_leads_no_more_stops_none(one_etcd: EtcdCluster) -> None:
    prefix, edges = a_prefix(), CHANGES_AT_ONCE
    async with grouping(one_etcd) as etcd:
        await etcd.transact([], Put(prefix + b"7/last", b""))

        def move(number: int) -> asyncio.Task[Outcome]:
            edge = prefix + b"%d/" % number
            change = etcd.transact([CreatedAt(edge + b"last", 0)], Put(edge + b"host", b""), Put(edge + b"last", b""))
            return asyncio.create_task(change)

        with mock.patch.object(Etcd, "transact", autospec=True, side_effect=Etcd.transact) as asked:
            done = await asyncio.gather(*(move(number) for number in range(edges)))
            assert [number for number, each in enumerate(done) if not each.succeeded] == [7]
            # Two parts, and those of the first one each for itself.
            assert asked.call_count == 2 + edges // 2
            asked.reset_mock()
            done = await asyncio.gather(*(move(number) for number in range(edges, 3 * edges)))
            assert all(each.succeeded for each in done) and asked.call_count == 4


async def test_what_etcd_refuses_of_one_it_takes_of_others(one_etcd: EtcdCluster) -> None:
    prefix = a_prefix()
    async with grouping(one_etcd) as etcd:
        twice = etcd.transact([], Put(prefix + b"a", b"1"), Put(prefix + b"a", b"2"))
        refused, *others = await asyncio.gather(
            twice, *(etcd.transact([], Put(prefix + each, b"")) for each in (b"b", b"c")), return_exceptions=True
        )
        assert isinstance(refused, RefusedError) and "duplicate key" in str(refused)
        assert all(isinstance(each, Outcome) and each.succeeded for each in others)
        assert [each.key.removeprefix(prefix) for each in (await etcd.below(prefix))[1]] == [b"b", b"c"]


async def test_what_etcd_takes_in_one_request_bounds_them(one_etcd: EtcdCluster) -> None:
    prefix = a_prefix()
    async with grouping(one_etcd) as etcd:
        large = bytes(OCTETS_AT_ONCE * 2 // 3)
        done = await asyncio.gather(*(etcd.transact([], Put(prefix + b"%d" % each, large)) for each in range(3)))
        assert len({each.revision for each in done}) == 3


async def test_who_waits_hears_that_etcd_does_not_answer_and_others_may_give_up() -> None:
    etcd = GroupCommit(["127.0.0.1:1"])
    gives_up = asyncio.create_task(etcd.transact([], Put(b"a", b"")))
    waits = [asyncio.create_task(etcd.transact([], Put(b"b", b""))) for _ in range(3)]
    await asyncio.sleep(0)
    gives_up.cancel()
    for each in waits:
        with pytest.raises(EtcdError, match=r"no etcd answers at 127\.0\.0\.1:1"):
            await each
    assert gives_up.cancelled()
    await etcd.close()


async def test_what_does_not_fit_into_one_goes_beside_it(one_etcd: EtcdCluster) -> None:
    all_under_way = asyncio.Barrier(3)
    transact = Etcd.transact

    async def under_way(etcd: Etcd, *wanted: Any) -> Outcome:
        await all_under_way.wait()
        return await transact(etcd, *wanted)

    async with grouping(one_etcd) as etcd:
        prefix = a_prefix()
        with mock.patch.object(Etcd, "transact", under_way):
            puts = [Put(prefix + b"%d" % number, b"") for number in range(3 * CHANGES_AT_ONCE)]
            done = await asyncio.gather(*(etcd.transact([], each) for each in puts))
        assert all(each.succeeded for each in done) and len((await etcd.below(prefix))[1]) == len(puts)


async def test_many_edges_look_for_changes_together(one_etcd: EtcdCluster) -> None:
    async with grouping(one_etcd) as etcd:
        prefix = a_prefix()
        await asyncio.gather(*(etcd.transact([], Put(prefix + b"%d" % edge, b"")) for edge in range(CHANGES_AT_ONCE)))
        revision, found = await etcd.below(prefix)
        looks = [etcd.looks(each.key, revision, each.changed, 0.5) for each in found]
        with mock.patch.object(Etcd, "transact", autospec=True, side_effect=Etcd.transact) as asked:
            await asyncio.gather(*map(anext, looks))
        # Of one moment the last ones may come when the first ones are under way.
        assert 1 < asked.call_count <= 2 * MOMENTS < CHANGES_AT_ONCE
        await asyncio.gather(*(each.aclose() for each in looks))


async def test_a_look_finds_what_a_watch_does_not_tell(one_etcd: EtcdCluster) -> None:
    async def silent(*_: object) -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield

    async with grouping(one_etcd) as etcd:
        key = a_prefix()
        with mock.patch.object(etcd, "watch", silent):
            for change in (Put(key, b"first"), Put(key, b"second"), Delete(key)):
                revision, found = await etcd.below(key)
                looks = etcd.looks(key, revision, found[0].changed if found else 0, 0.1)
                await anext(looks)
                await etcd.transact([], change)
                assert [each async for each in looks] == []
