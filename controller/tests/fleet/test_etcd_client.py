"""The client of etcd, against real servers."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from access.certificates import Authority
from aetcd import rpc
from google.protobuf.message import Message

import wayname.fleet.etcd as etcd_client
from wayname.config.tls import Tls
from wayname.fleet.etcd import Compacted, CreatedAt, Delete, Etcd, EtcdError, Get, Put
from wayname_lab.etcd import EtcdCluster, Secured, missing_for_etcd


@asynccontextmanager
async def client(cluster: EtcdCluster, tls: Tls | None = None) -> AsyncIterator[Etcd]:
    etcd = Etcd(cluster.endpoints, tls)
    async with asyncio.timeout(60):
        try:
            yield etcd
        finally:
            await etcd.close()


async def test_a_transaction_is_done_wholly_or_not_at_all(one_etcd: EtcdCluster) -> None:
    async with client(one_etcd) as etcd:
        done = await etcd.transact([CreatedAt(b"t/a", 0)], Get(b"t/a"), Put(b"t/a", b"1"), Put(b"t/b", b"2"))
        assert done.succeeded and done.got == (None,)
        refused = await etcd.transact([CreatedAt(b"t/a", 0)], Put(b"t/a", b"3"), Delete(b"t/b"))
        assert not refused.succeeded
        revision, found = await etcd.below(b"t/")
        assert [(each.key, each.value) for each in found] == [(b"t/a", b"1"), (b"t/b", b"2")]
        assert {each.created for each in found} == {done.revision}
        assert revision >= done.revision
        again = await etcd.transact([CreatedAt(b"t/a", done.revision)], Get(b"t/a"), Delete(b"t/", is_prefix=True))
        assert again.succeeded and again.got[0] is not None and again.got[0].value == b"1"
        assert (await etcd.below(b"t/"))[1] == []


async def test_a_range_of_many_keys_comes_in_parts(one_etcd: EtcdCluster) -> None:
    async with client(one_etcd) as etcd:
        names = [f"many/{number:05}".encode() for number in range(2100)]
        for at in range(0, len(names), 100):
            await etcd.transact([], *(Put(name, name) for name in names[at : at + 100]))
        assert [each.key for each in (await etcd.below(b"many/"))[1]] == names


async def test_what_is_under_a_lease_goes_with_it_and_watchers_are_told(one_etcd: EtcdCluster) -> None:
    async with client(one_etcd) as etcd:
        lease, granted = await etcd.grant(5)
        assert granted == 5
        made = await etcd.transact([], Put(b"l/a", b"1", lease))
        watching = etcd.watch(b"l/a", made.revision + 1)
        told = asyncio.ensure_future(anext(watching))
        assert await etcd.keep_alive(lease) == 5
        await etcd.revoke(lease)
        [gone] = await told
        assert gone.key == b"l/a" and gone.value is None
        assert await etcd.keep_alive(lease) == 0
        assert await etcd.get(b"l/a") is None


async def test_what_was_compacted_is_said_to_be(one_etcd: EtcdCluster) -> None:
    async with client(one_etcd) as etcd:
        first = await etcd.transact([], Put(b"c", b"1"))
        last = await etcd.transact([], Put(b"c", b"2"))
        one_etcd.ctl("compact", str(last.revision))
        with pytest.raises(Compacted):
            await anext(etcd.watch(b"c", first.revision))


async def test_a_member_that_is_dead_is_not_waited_for(three_etcds: EtcdCluster) -> None:
    async with client(three_etcds) as etcd:
        await etcd.transact([], Put(b"a", b"1"))
        three_etcds.kill(three_etcds.members[0])
        # The two that are left may elect a leader first.
        while True:
            try:
                found = await etcd.get(b"a")
                break
            except EtcdError:
                continue
        assert found is not None and found.value == b"1"
        three_etcds.kill(three_etcds.members[1])
        # The last one has no leader, which says nothing of how to mend that.
        with pytest.raises(EtcdError, match=r"; more than half of the members of etcd have to answer$"):
            await etcd.get(b"a")
        three_etcds.kill(three_etcds.members[2])
        with pytest.raises(EtcdError, match=r"no etcd answers at 127\.0\.0\.1:"):
            await etcd.transact([], Put(b"a", b"2"))


async def test_watches_stay_at_a_member_that_was_late_and_leave_one_that_is_silent(
    three_etcds: EtcdCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, other = (each for each in three_etcds.members if each is not three_etcds.leader())
    etcd = Etcd([f"{each.host}:{each.client}" for each in (late, other)])
    async with asyncio.timeout(60):
        done = await etcd.transact([], Put(b"a", b"1"))
        for silent_seconds, stays in ((60.0, True), (0.0, False)):
            monkeypatch.setattr(etcd_client, "SILENT_SECONDS", silent_seconds)
            looks = etcd.looks(b"a", done.revision, done.revision, 0.1)
            await anext(looks)
            three_etcds.send(late, signal.SIGSTOP)
            assert await etcd.get(b"a")
            three_etcds.send(late, signal.SIGCONT)
            assert (await anext(looks, "moved") != "moved") is stays
            await looks.aclose()
    await etcd.close()


async def test_what_is_asked_at_once_is_asked_in_turn_and_leases_do_not_wait() -> None:
    under_way: set[bytes] = set()
    most, several, answers = 0, asyncio.Event(), asyncio.Event()

    async def get(request: rpc.RangeRequest, _context: object) -> rpc.RangeResponse:
        nonlocal most
        under_way.add(request.key)
        most = max(most, len(under_way))
        if most > 1:
            several.set()
        await answers.wait()
        under_way.discard(request.key)
        return rpc.RangeResponse()

    async def keep(requests: AsyncIterator[rpc.LeaseKeepAliveRequest], _context: object) -> AsyncIterator[object]:
        async for each in requests:
            yield rpc.LeaseKeepAliveResponse(ID=each.ID, TTL=9)

    server = grpc.aio.server()
    calls = {"Range": grpc.unary_unary_rpc_method_handler(get, rpc.RangeRequest.FromString, _octets)}
    leases = grpc.stream_stream_rpc_method_handler(keep, rpc.LeaseKeepAliveRequest.FromString, _octets)
    server.add_registered_method_handlers("etcdserverpb.KV", calls)
    server.add_registered_method_handlers("etcdserverpb.Lease", {"LeaseKeepAlive": leases})
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    etcd = Etcd([f"127.0.0.1:{port}"])
    try:
        async with asyncio.timeout(60):
            asked = [asyncio.ensure_future(etcd.get(b"%d" % number)) for number in range(1000)]
            assert await etcd.keep_alive(1, 60) == 9
            await several.wait()
            answers.set()
            assert await asyncio.gather(*asked) == [None] * 1000
    finally:
        await etcd.close()
        await server.stop(None)
    assert most <= etcd_client.CALLS_AT_ONCE


def _octets(message: Message) -> bytes:
    return message.SerializeToString()


async def test_a_process_that_was_late_itself_reads_what_came_meanwhile(one_etcd: EtcdCluster) -> None:
    async with client(one_etcd) as etcd:
        lease, _ = await etcd.grant(60)
        await etcd.keep_alive(lease)
        asked = asyncio.ensure_future(etcd.keep_alive(lease, 0.2))
        await asyncio.sleep(0)
        time.sleep(1)  # noqa: ASYNC251
        assert await asked == 60


async def test_over_tls_with_a_certificate(tmp_path: Path) -> None:
    if reason := missing_for_etcd():
        pytest.skip(reason)
    authority = Authority(tmp_path)
    server, controller = authority.issue("etcd1"), authority.issue("controller")
    with EtcdCluster(tmp_path, 1, Secured(authority.path, server, controller)) as cluster:
        async with client(cluster, Tls(authority.path, *controller, "fleet")) as etcd:
            await etcd.transact([], Put(b"a", b"1"))
            assert await etcd.get(b"a") is not None
        async with client(cluster, Tls(authority.path, section="fleet")) as etcd:
            with pytest.raises(EtcdError):
                await etcd.get(b"a")
