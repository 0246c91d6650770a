"""Who leads an edge, with a real etcd: one at a time, each with a higher election id than all before."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Callable

import pytest

from wayname.edge.boundary import Severity
from wayname.fleet.etcd import Etcd, Put
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.leadership import FormError, Leadership, boot_time
from wayname.fleet.sealing import FORM
from wayname_lab.etcd import EtcdCluster


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    while not holds():  # noqa: ASYNC110 (what is waited for is told in many ways)
        await asyncio.sleep(0.01)


class Candidate:
    """A controller as far as it is elected."""

    def __init__(self, cluster: EtcdCluster, name: str, edge: str, clock: Callable[[], float] = boot_time) -> None:
        self.told: list[tuple[str, str]] = []
        self.etcd = Etcd(cluster.endpoints)
        self.keys = EdgeKeys("wayname", edge)
        self.leadership = Leadership(self.etcd, self.keys, name, 1, self._report, lambda: None, clock)
        self.task: asyncio.Task[None] | None = None

    def _report(self, kind: str, _severity: Severity, _subject: str, text: str) -> None:
        self.told.append((kind, text))

    def start(self) -> None:
        """Begin to campaign."""
        self.task = asyncio.create_task(self.leadership.run())

    async def stop(self) -> None:
        """End, and let go."""
        if self.task:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
            self.task = None

    async def until(self, kind: str) -> str:
        """Wait until it tells something of a kind that it had not told when this began."""
        seen = len(self.told)
        await until(lambda: kind in [each for each, _ in self.told[seen:]])
        return next(text for each, text in self.told[seen:] if each == kind)


@contextlib.asynccontextmanager
async def candidates(
    cluster: EtcdCluster, edge: str, *clocks: Callable[[], float]
) -> AsyncIterator[tuple[Candidate, ...]]:
    made = tuple(Candidate(cluster, f"c{number}", edge, clock) for number, clock in enumerate(clocks, 1))
    async with asyncio.timeout(90):
        try:
            yield made
        finally:
            for each in made:
                await each.stop()
                await each.etcd.close()


async def test_one_leads_and_the_other_follows_with_a_higher_election_id(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "follow", boot_time, boot_time) as (first, second):
        first.start()
        term = await first.leadership.elected()
        assert term.is_anew and first.leadership.may_write() and first.leadership.why_not() == ""
        waits = asyncio.create_task(second.until("fleet.standby"))
        await asyncio.sleep(0)
        second.start()
        assert await waits == "c1 leads the edge, c2 waits"
        assert second.leadership.why_not() == ("this controller does not lead edge follow: c1 leads the edge, c2 waits")
        await first.stop()
        after = await second.leadership.elected()
        assert after.election_id > term.election_id
        assert after.is_anew
        assert not first.leadership.may_write()


async def test_a_leader_that_is_drained_lets_go(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "drain", boot_time) as (only,):
        only.start()
        term = await only.leadership.elected()
        ended = asyncio.create_task(only.until("fleet.ended"))
        await asyncio.sleep(0)
        await only.leadership.resign()
        assert await ended == "c1 leads no more: its key in etcd was taken away"
        again = await only.leadership.elected()
        # Nobody led meanwhile: what it knows is the newest.
        assert again.election_id > term.election_id and not again.is_anew


async def test_a_leader_stops_writing_by_its_own_clock_while_etcd_is_away(three_etcds: EtcdCluster) -> None:
    async with candidates(three_etcds, "held", boot_time) as (only,):
        only.start()
        term = await only.leadership.elected()
        assert term.until <= boot_time() + 1
        held = asyncio.create_task(only.until("fleet.held"))
        await asyncio.sleep(0)
        for member in three_etcds.members[:2]:
            three_etcds.send(member, signal.SIGSTOP)
        assert "changes wait until etcd answers, packets are forwarded" in await held
        assert not only.leadership.may_write()
        assert "etcd does not answer, so edge held stays as it is until it does" in only.leadership.why_not()
        # It is still the leader as far as anybody knows, and goes on when etcd does; the lease may have ended with it.
        assert only.leadership.term is term
        for member in three_etcds.members[:2]:
            three_etcds.send(member, signal.SIGCONT)
        await until(only.leadership.may_write)
        now = await only.leadership.elected()
        assert now is term or (now.election_id > term.election_id and not now.is_anew)


async def test_a_process_that_was_stopped_knows_that_its_lease_may_have_ended(one_etcd: EtcdCluster) -> None:
    ahead = 0.0
    async with candidates(one_etcd, "stopped", lambda: boot_time() + ahead) as (only,):
        only.start()
        await only.leadership.elected()
        assert only.leadership.may_write()
        # As after SIGSTOP and SIGCONT, before anything else ran.
        ahead = 10.0
        assert not only.leadership.may_write()


async def test_a_switch_that_heard_a_higher_id_makes_a_new_epoch(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "epoch", boot_time) as (only,):
        only.start()
        term = await only.leadership.elected()
        await only.leadership.outbid(term.election_id - 1)
        assert only.leadership.term is term
        # So a switch answers after etcd was restored from a snapshot, or whom another controller had before.
        heard = (3 << 64) + (1 << 40)
        await only.leadership.outbid(heard)
        await until(lambda: only.leadership.term not in (term, None))
        after = await only.leadership.elected()
        assert after.election_id > heard and after.election_id >> 64 == 4


async def test_what_a_newer_controller_wrote_is_refused_in_one_line(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "newer", boot_time) as (only,):
        value = json.dumps({"form": FORM + 1, "controller": "new"}).encode()
        await only.etcd.transact([], Put(only.keys.leader, value))
        with pytest.raises(
            FormError, match=r"^wayname/edges/newer/leader in etcd has form 2, and this wayname reads 1"
        ):
            await only.leadership.run()
