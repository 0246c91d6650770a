"""Who leads an edge, with a real etcd: one at a time, each with a higher election id than all before."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from wayname.edge.boundary import Severity
from wayname.fleet.etcd import CreatedAt, Etcd, EtcdError, Put
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.leadership import FormError, Leadership
from wayname.fleet.lease import Lease, boot_time
from wayname.fleet.sealing import FORM
from wayname_lab.etcd import EtcdCluster


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    while not holds():  # noqa: ASYNC110 (what is waited for is told in many ways)
        await asyncio.sleep(0.01)


class Candidate:
    """A controller as far as it is elected; with the lease of another one, it is in the same process."""

    def __init__(
        self,
        cluster: EtcdCluster,
        name: str,
        edge: str,
        clock: Callable[[], float] = boot_time,
        lease: Lease | None = None,
        seconds: int = 1,
    ) -> None:
        self.told: list[tuple[str, str]] = []
        self.lease = lease or Lease(Etcd(cluster.endpoints), seconds, clock)
        self.has_lease = lease is None
        self.etcd = self.lease.etcd
        self.keys = EdgeKeys("wayname", edge)
        self.leadership = Leadership(self.lease, self.keys, name, self._report, lambda: None)
        self.tasks: list[asyncio.Task[None]] = []

    def _report(self, kind: str, _severity: Severity, _subject: str, text: str) -> None:
        self.told.append((kind, text))

    def start(self) -> None:
        """Begin to campaign."""
        runs = [self.leadership.run(), *([self.lease.run()] if self.has_lease else [])]
        self.tasks = [asyncio.create_task(each) for each in runs]

    async def stop(self) -> None:
        """End, and let go."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.tasks = []

    async def close(self) -> None:
        """End as a process does."""
        await self.stop()
        if self.has_lease:
            await self.lease.end()

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
                await each.close()


async def test_one_leads_and_the_other_follows_with_a_higher_election_id(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "follow", boot_time, boot_time) as (first, second):
        first.start()
        term = await first.leadership.elected()
        assert first.leadership.lacks_state and first.leadership.may_write() and first.leadership.why_not() == ""
        waits = asyncio.create_task(second.until("fleet.standby"))
        await asyncio.sleep(0)
        second.start()
        assert await waits == "c1 leads the edge, c2 waits"
        assert second.leadership.why_not() == ("this controller does not lead edge follow: c1 leads the edge, c2 waits")
        await first.stop()
        after = await second.leadership.elected()
        assert after.election_id > term.election_id
        assert second.leadership.lacks_state
        assert not first.leadership.may_write()


@contextlib.asynccontextmanager
async def named_alike(
    etcd: EtcdCluster, edge: str, kind: str
) -> AsyncIterator[tuple[Candidate, Candidate, asyncio.Task[str]]]:
    """Have a candidate lead; yield it, another one of its name that stands, and what that one will tell of a kind."""
    async with candidates(etcd, edge, boot_time) as (leader,):
        leader.start()
        await leader.leadership.elected()
        other = Candidate(etcd, "c1", edge)
        tells = asyncio.create_task(other.until(kind))
        await asyncio.sleep(0)
        other.start()
        try:
            yield leader, other, tells
        finally:
            await other.close()


async def test_who_starts_anew_waits_for_its_earlier_self(one_etcd: EtcdCluster) -> None:
    async with named_alike(one_etcd, "anew", "fleet.standby") as (_, _, waits):
        assert (
            await waits == "c1 waits: its earlier self leads the edge until its lease ends, or another one has its name"
        )


async def test_who_waits_behind_its_own_name_for_longer_than_leases_last_says_so(one_etcd: EtcdCluster) -> None:
    async with named_alike(one_etcd, "duplicate", "fleet.duplicate") as (first, other, tells):
        said = "another c1 leads the edge, this c1 waits: give each a [fleet] controller of its own"
        assert await tells == said
        assert other.leadership.why_not() == f"this controller does not lead edge duplicate: {said}"
        # It is told once, and the other one still leads.
        await asyncio.sleep(2)
        assert [kind for kind, _ in other.told] == ["fleet.standby", "fleet.duplicate"]
        assert first.leadership.may_write()


async def test_a_leader_that_is_drained_lets_go(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "drain", boot_time) as (only,):
        only.start()
        term = await only.leadership.elected()
        only.leadership.took_up(term)
        ended = asyncio.create_task(only.until("fleet.ended"))
        await asyncio.sleep(0)
        await only.leadership.resign()
        assert await ended == "c1 leads no more: its key in etcd was taken away"
        again = await only.leadership.elected()
        # Nobody led meanwhile: what it knows is the newest.
        assert again.election_id > term.election_id and not only.leadership.lacks_state


async def test_a_term_that_ends_at_once_hides_nothing_that_another_leader_left(one_etcd: EtcdCluster) -> None:
    """The edge takes up what was left when it gets to it; the leader of the next term was the last one then, too."""
    async with candidates(one_etcd, "short", boot_time) as (only,):
        only.start()
        missed = await only.leadership.elected()
        await only.leadership.resign()
        await until(lambda: only.leadership.term is not missed)
        term = await only.leadership.elected()
        only.leadership.took_up(missed)
        assert only.leadership.lacks_state
        only.leadership.took_up(term)
        assert not only.leadership.lacks_state


async def test_a_process_lets_go_of_one_edge_and_keeps_its_lease_for_the_others(one_etcd: EtcdCluster) -> None:
    one = Candidate(one_etcd, "c1", "one-of-two", seconds=5)
    two = Candidate(one_etcd, "c1", "other-of-two", lease=one.lease)
    async with asyncio.timeout(90):
        try:
            one.start()
            two.start()
            terms = await one.leadership.elected(), await two.leadership.elected()
            assert terms[0].lease is terms[1].lease
            ended = asyncio.create_task(one.until("fleet.ended"))
            await asyncio.sleep(0)
            await one.leadership.resign()
            await ended
            assert two.leadership.term is terms[1]
            again = await one.leadership.elected()
            assert again.lease is terms[0].lease and again.election_id > terms[0].election_id
            assert two.leadership.term is terms[1] and two.leadership.may_write()
            # Its lease has ended: nothing of the process leads any more.
            await one.etcd.revoke(again.lease.number)
            await until(lambda: one.leadership.term is not again and two.leadership.term is not terms[1])
            await until(lambda: again.lease.has_ended)
        finally:
            await two.close()
            await one.close()


async def test_a_key_of_its_own_that_it_does_not_know_of_is_given_back(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "unheard", boot_time) as (only,):
        # So an election ends of which no answer comes.
        lease = await only.lease.hold()
        done = await only.etcd.transact([], Put(only.keys.leader, b"{}", lease.number))
        only.start()
        term = await only.leadership.elected()
        assert term.revision > done.revision and only.leadership.lacks_state


async def test_a_leader_stops_writing_by_its_own_clock_while_etcd_is_away(three_etcds: EtcdCluster) -> None:
    async with candidates(three_etcds, "held", boot_time) as (only,):
        only.start()
        term = await only.leadership.elected()
        only.leadership.took_up(term)
        assert term.lease.until <= boot_time() + 1
        held = asyncio.create_task(only.until("fleet.held"))
        await asyncio.sleep(0)
        for member in three_etcds.members[:2]:
            three_etcds.send(member, signal.SIGSTOP)
        assert "changes wait until etcd answers, packets are forwarded" in await held
        assert not only.leadership.may_write()
        why = only.leadership.why_not()
        assert why == f"etcd does not answer, so edge held stays as it is until it does ({term.lease.trouble})"
        assert term.lease.trouble
        # It is still the leader as far as anybody knows, and goes on when etcd does; the lease may have ended with it.
        assert only.leadership.term is term
        for member in three_etcds.members[:2]:
            three_etcds.send(member, signal.SIGCONT)
        await until(only.leadership.may_write)
        now = await only.leadership.elected()
        assert now is term or (now.election_id > term.election_id and not only.leadership.lacks_state)


async def test_a_process_that_was_stopped_knows_that_its_lease_may_have_ended(one_etcd: EtcdCluster) -> None:
    ahead = 0.0
    async with candidates(one_etcd, "stopped", lambda: boot_time() + ahead) as (only,):
        only.start()
        await only.leadership.elected()
        assert only.leadership.may_write()
        # As after SIGSTOP and SIGCONT, before anything else ran.
        ahead = 10.0
        assert not only.leadership.may_write()
        # Nobody has asked etcd since, so that nothing is said of it.
        why = only.leadership.why_not()
        assert why == "etcd has yet to confirm the lease by which this controller leads edge stopped"


async def test_why_nothing_changes_at_the_end_of_a_term_is_no_fault_of_etcd(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "ends", boot_time) as (only,):
        only.start()
        term = await only.leadership.elected()
        term.is_over = True
        assert only.leadership.why_not() == "this controller gives edge ends away, and another one is to lead it"
        term.is_over, term.lease.has_ended = False, True
        assert only.leadership.why_not().startswith("this controller's lease in etcd has ended")


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


async def test_another_leader_of_the_same_revision_takes_the_place_of_one(tmp_path: Path) -> None:
    """etcd was restored from a snapshot, and another controller was elected at the revision that this one had."""
    for each in ("lost", "restored"):
        (tmp_path / each).mkdir()
    with EtcdCluster(tmp_path / "lost", 1) as lost, EtcdCluster(tmp_path / "restored", 1) as restored:
        async with candidates(lost, "restored", boot_time) as (only,):
            await only.lease.hold()
            before, after = tmp_path / "before", tmp_path / "after"
            assert lost.ctl("snapshot", "save", str(before)).returncode == 0
            only.start()
            term = await only.leadership.elected()
            move(before, restored)
            other = Etcd(restored.endpoints)
            number = 0
            while not number:
                # It writes nothing, so that the revision is still that of the snapshot.
                with contextlib.suppress(EtcdError):
                    number, _ = await other.grant(600)
            done = await other.transact([CreatedAt(only.keys.leader, 0)], Put(only.keys.leader, b"{}", number))
            late = await other.transact(term.conditions(only.keys.leader), Put(only.keys.written, b""))
            await other.close()
            assert done.revision == term.revision
            assert not late.succeeded, "what the leader before asks for until it hears of that is void"
            assert restored.ctl("snapshot", "save", str(after)).returncode == 0
            ended = asyncio.create_task(only.until("fleet.ended"))
            await asyncio.sleep(0)
            move(after, lost)
            async with asyncio.timeout(40):
                await ended
            assert not only.leadership.may_write()


def move(snapshot: Path, etcd: EtcdCluster) -> None:
    """Have the one member of an etcd go on from a snapshot."""
    [member] = etcd.members
    etcd.kill(member)
    etcd.restore(member, snapshot)
    etcd.start(member)


async def test_what_a_newer_controller_wrote_is_refused_in_one_line(one_etcd: EtcdCluster) -> None:
    async with candidates(one_etcd, "newer", boot_time) as (only,):
        value = json.dumps({"form": FORM + 1, "controller": "new"}).encode()
        await only.etcd.transact([], Put(only.keys.leader, value))
        with pytest.raises(
            FormError, match=r"^wayname/edges/newer/leader in etcd has form 2, and this wayname reads 1"
        ):
            await only.leadership.run()
