"""The directory of a fleet in a real etcd: what an edge has there, for how long, and what others find."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path
from typing import TypeVar, cast

import pytest
from fleet.late_etcd import Late

from wayname.edge.boundary import FindHost, HostFound, PublishHost, Severity
from wayname.fleet import directory
from wayname.fleet.directory import FORM, MOST_OCTETS, Directory
from wayname.fleet.etcd import Delete, Etcd, EtcdError, Put
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.leadership import Leadership, Term
from wayname.fleet.lease import Granted
from wayname_lab.etcd import EtcdCluster

T = TypeVar("T")
HERE, THERE = IPv6Address("2001:db8:1::1"), IPv6Address("2001:db8:2::1")


@dataclass
class Led:
    """What the directory asks of leadership."""

    term: Term | None = None

    def may_write(self) -> bool:
        """Whether this controller leads."""
        return self.term is not None


@dataclass
class Member:
    """An edge's part in the directory."""

    etcd: Etcd
    keys: FleetKeys
    edge: EdgeKeys
    led: Led = field(default_factory=Led)
    events: list[tuple[str, str]] = field(default_factory=list)
    answers: asyncio.Queue[HostFound] = field(default_factory=asyncio.Queue)

    def __post_init__(self) -> None:
        self.directory = Directory(
            self.etcd, self.keys, self.edge, cast(Leadership, self.led), self._report, self.answers.put
        )

    def _report(self, kind: str, severity: Severity, subject: str, text: str) -> None:
        self.events.append((kind, text))

    async def lead(self, seconds: int = 60) -> int:
        """Begin a term; return its lease."""
        lease, _ = await answered(self.etcd.grant, seconds)
        await answered(self.etcd.transact, [], Delete(self.edge.leader))
        done = await answered(self.etcd.transact, [], Put(self.edge.leader, b"{}", lease))
        self.led.term = Term(done.revision, done.revision, Granted(lease, float(seconds), 0.0))
        self.directory.wake()
        return int(lease)

    async def find(self, address: IPv6Address = THERE) -> HostFound:
        """Ask, and return what is answered."""
        self.directory.ask(FindHost(address, HERE))
        return await self.answers.get()

    async def until_published(self, address: IPv6Address, octets: bytes | None) -> None:
        """Wait until etcd has something at an address, or nothing."""
        while (found := await answered(self.etcd.get, self.keys.host(address))) is None or found.value != octets:
            if found is None and octets is None:
                return
            await asyncio.sleep(0.02)


async def answered(ask: Callable[..., Awaitable[T]], *arguments: object) -> T:
    """Ask etcd until it answers: it may be slow on a busy machine."""
    while True:
        try:
            return await ask(*arguments)
        except EtcdError:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def member(cluster: EtcdCluster, prefix: str, kind: type[Etcd] = Etcd) -> AsyncIterator[Member]:
    """An edge that has one host, and leads."""
    etcd = kind(cluster.endpoints)
    made = Member(etcd, FleetKeys(prefix), EdgeKeys(prefix, "here"))
    async with asyncio.timeout(120):
        running = asyncio.create_task(made.directory.run())
        try:
            await made.lead()
            made.directory.ask(PublishHost(HERE, b"here"))
            # etcd has it before the directory has etcd's answer.
            while (await made.find()).why == "unpublished":  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            yield made
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await etcd.close()


async def test_hosts_are_there_as_long_as_their_leader_leads(one_etcd: EtcdCluster) -> None:
    async with member(one_etcd, "published") as edge:
        edge.directory.ask(PublishHost(THERE, b"there"))
        await edge.until_published(THERE, bytes([FORM]) + b"there")
        edge.directory.ask(PublishHost(THERE, None))
        await edge.until_published(THERE, None)
        term = edge.led.term
        assert term is not None
        # Somebody else takes the key: nothing is written any more, and what was goes with the lease.
        await answered(edge.etcd.transact, [], Delete(edge.edge.leader))
        edge.directory.ask(PublishHost(THERE, b"late"))
        await answered(edge.etcd.revoke, term.lease.number)
        term.lease.has_ended = True
        await edge.until_published(HERE, None)
        edge.led.term = None
        assert await answered(edge.etcd.get, edge.keys.host(THERE)) is None
        # Elected again, it tells all anew.
        await edge.lead()
        await edge.until_published(HERE, bytes([FORM]) + b"here")
        await edge.until_published(THERE, bytes([FORM]) + b"late")


async def test_what_another_one_leads_is_withdrawn_though_the_lease_goes_on(one_etcd: EtcdCluster) -> None:
    async with member(one_etcd, "withdrawn") as edge:
        edge.directory.ask(PublishHost(THERE, b"there"))
        await edge.until_published(THERE, bytes([FORM]) + b"there")
        # Another controller leads now, and has one of the hosts.
        await answered(edge.etcd.transact, [], Delete(edge.edge.leader), Put(edge.keys.host(THERE), b"another's"))
        edge.led.term = None
        edge.directory.wake()
        await edge.until_published(HERE, None)
        await edge.until_published(THERE, b"another's")


async def test_what_etcd_did_not_answer_is_soon_tried_again(
    one_etcd: EtcdCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "LOOK_AGAIN", 3600.0)
    async with asyncio.timeout(60), member(one_etcd, "again", Late) as edge:
        late = cast(Late, edge.etcd)
        late.withholds = True
        edge.directory.ask(PublishHost(HERE, b"moved"))
        while not edge.events:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        late.withholds = False
        await edge.until_published(HERE, bytes([FORM]) + b"moved")


async def test_what_comes_to_etcd_late_undoes_nothing(one_etcd: EtcdCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is tried again by itself.
    monkeypatch.setattr(directory, "PAUSE", 3600.0)
    async with member(one_etcd, "late", Late) as edge:
        late = cast(Late, edge.etcd)
        late.withholds = True
        edge.directory.ask(PublishHost(HERE, b"old"))
        while not edge.events:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        late.withholds = False
        edge.directory.ask(PublishHost(HERE, b"new"))
        await edge.until_published(HERE, bytes([FORM]) + b"new")
        conditions, operations = late.withheld
        assert not (await answered(late.transact, conditions, *operations)).succeeded
        await edge.until_published(HERE, bytes([FORM]) + b"new")
        while edge.events[-1][0] != "directory.published":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        # One that comes before the next is written over.
        late.withholds = True
        edge.directory.ask(PublishHost(HERE, None))
        while edge.events[-1][0] != "directory.unpublished":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        late.withholds = False
        conditions, operations = late.withheld
        assert (await answered(late.transact, conditions, *operations)).succeeded
        edge.directory.ask(PublishHost(HERE, b"newest"))
        await edge.until_published(HERE, bytes([FORM]) + b"newest")


async def test_an_edge_of_another_configuration_has_its_own_hosts_alone(one_etcd: EtcdCluster) -> None:
    async with member(one_etcd, "anew") as edge:
        edge.directory.begin_anew()
        edge.directory.ask(PublishHost(THERE, b"there"))
        await edge.until_published(THERE, bytes([FORM]) + b"there")
        await edge.until_published(HERE, None)


async def test_what_is_found_and_what_is_of_no_use(one_etcd: EtcdCluster) -> None:
    async with member(one_etcd, "found") as edge:
        assert (await edge.find()).why == "absent"
        key = edge.keys.host(THERE)
        await answered(edge.etcd.transact, [], Put(key, bytes([FORM]) + b"there"))
        assert await edge.find() == HostFound(FindHost(THERE, HERE), b"there")
        await answered(edge.etcd.transact, [], Put(key, bytes([FORM + 1]) + b"there"))
        newer = await edge.find()
        assert (newer.octets, newer.why) == (None, "newer")
        assert newer.text == (
            f"{key.decode()} in etcd has form 2, and this wayname reads 1: upgrade this controller; "
            "the session begins by messages"
        )
        await answered(edge.etcd.transact, [], Put(key, bytes([FORM]) + bytes(MOST_OCTETS)))
        assert (await edge.find()).why == "too long"
        # A host that the other edge could not find is spoken for by messages.
        edge.directory.ask(FindHost(THERE, THERE))
        assert (await edge.answers.get()).why == "unpublished"


async def test_without_etcd_there_is_an_answer_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "PATIENCE", 0.5)
    monkeypatch.setattr(directory, "LOOK_AGAIN", 0.1)
    with EtcdCluster(tmp_path, 1) as cluster:
        async with member(cluster, "away") as edge:
            cluster.kill(cluster.members[0])
            assert (await edge.find()).why == "no answer"
            edge.directory.ask(PublishHost(THERE, b"there"))
            while not edge.events:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            kind, text = edge.events[0]
            assert kind == "directory.unpublished"
            assert text.endswith("more than half of the members of etcd have to answer; sessions begin by messages")
            await asyncio.to_thread(cluster.start, cluster.members[0])
            await edge.until_published(THERE, bytes([FORM]) + b"there")
            while edge.events[-1][0] != "directory.published":  # noqa: ASYNC110
                await asyncio.sleep(0.02)
