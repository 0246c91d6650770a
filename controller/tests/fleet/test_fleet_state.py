"""What a successor has to know, in a real etcd: sealed, and from the leader alone."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fleet.late_etcd import Late
from hypothesis import given
from hypothesis import strategies as st

from wayname.edge.boundary import Json, Persist
from wayname.fleet.etcd import Delete, Etcd, Put
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.leadership import Term
from wayname.fleet.lease import Granted
from wayname.fleet.sealing import FORM, Seal, SealError, new_key
from wayname.fleet.state import FleetState
from wayname_lab.etcd import EtcdCluster

OLD, NEW = os.urandom(32), os.urandom(32)


@asynccontextmanager
async def leading(cluster: EtcdCluster, edge: str) -> AsyncIterator[tuple[Etcd, EdgeKeys, Term]]:
    """A leader of an edge, for ever."""
    etcd, keys = Etcd(cluster.endpoints), EdgeKeys("wayname", edge)
    async with asyncio.timeout(60):
        try:
            done = await etcd.transact([], Put(keys.leader, b"{}"))
            yield etcd, keys, Term(done.revision, done.revision, Granted(0, 1.0, 0.0))
        finally:
            await etcd.close()


def state(etcd: Etcd, keys: EdgeKeys, *sealing: bytes) -> FleetState:
    return FleetState(etcd, keys, Seal(list(sealing)), lambda: 0.0)


async def test_a_successor_reads_what_the_leader_wrote_and_etcd_does_not(one_etcd: EtcdCluster) -> None:
    async with leading(one_etcd, "read") as (etcd, keys, term):
        written = state(etcd, keys, OLD)
        many: dict[str, Json] = {f"context 2001:db8::{number:x}": {"tag": "5ec2e7"} for number in range(250)}
        written.put(*(Persist(key, value) for key, value in many.items()), Persist("gone", 1))
        assert await written.settle(term) == "" and written.unwritten == 0
        written.put(Persist("gone", None), Persist("never", None))
        assert await written.settle(term) == ""
        _, found = await etcd.below(keys.state)
        assert len(found) == len(many)
        assert not any(b"5ec2e7" in each.value or b"2001:db8" in each.key + each.value for each in found)
        successor = state(etcd, keys, OLD)
        await successor.load()
        assert successor.read() == many


@pytest.mark.parametrize("writes_first", [False, True])
async def test_what_etcd_forgot_is_written_anew(one_etcd: EtcdCluster, writes_first: bool) -> None:
    """As one does that was restored from an older snapshot: it lacks what is new, and has what is over."""
    async with leading(one_etcd, f"forgot-{writes_first}") as (etcd, keys, term):
        older, written = state(etcd, keys, OLD), state(etcd, keys, OLD)
        older.put(Persist("over", 1), Persist("kept", 1))
        await older.settle(term)
        _, before = await etcd.below(keys.state)
        await written.load()
        written.put(Persist("over", None), Persist("kept", 2), Persist("new", 3))
        assert await written.settle(term) == "" and not await written.has_to_write_anew()
        await etcd.transact([], Delete(keys.state, is_prefix=True), Delete(keys.written))
        # Another member's state, sealed by a key that nobody has any more, is left alone.
        await etcd.transact([], *(Put(each.key, each.value) for each in before), Put(keys.state + b"lost", b"?"))
        if writes_first:
            written.put(Persist("later", 4))
            assert await written.settle(term) == ""
        assert await written.has_to_write_anew() and await written.settle(term) == "" and written.unwritten == 0
        assert not await written.has_to_write_anew()
        await etcd.transact([], Delete(keys.state + b"lost"))
        successor = state(etcd, keys, OLD)
        await successor.load()
        assert successor.read() == {"kept": 2, "new": 3, **({"later": 4} if writes_first else {})}


async def test_a_backup_follows_what_the_leader_writes(one_etcd: EtcdCluster) -> None:
    async with leading(one_etcd, "followed") as (etcd, keys, term):
        written, backup = state(etcd, keys, OLD), state(etcd, keys, OLD)
        written.put(Persist("a", 1), Persist("b", 1))
        await written.settle(term)
        await backup.load()
        # What it wants to write itself, and may not yet, is not covered by what comes.
        backup.put(Persist("b", 9))
        written.put(Persist("a", None), Persist("b", 2), Persist("c", 3))
        await written.settle(term)
        async with asyncio.timeout(60):
            async for _ in backup.follow(lambda: True):
                if "c" in backup.read():
                    break
        assert backup.read() == {"b": 9, "c": 3}
        await backup.load(keep_unwritten=True)
        assert backup.read() == {"b": 9, "c": 3} and backup.unwritten == 1
        backup.forget_unwritten()
        await backup.load()
        assert backup.read() == written.read() == {"b": 2, "c": 3}
        # Who leads hears of its own writes, and does not go by them.
        written.put(Persist("d", 4))
        await written.settle(term)
        async with asyncio.timeout(60):
            assert [None async for _ in backup.follow(lambda: False)] == []
        assert "d" not in backup.read()


async def test_who_leads_no_more_writes_nothing(one_etcd: EtcdCluster) -> None:
    async with leading(one_etcd, "fenced") as (etcd, keys, term):
        before = state(etcd, keys, OLD)
        before.put(Persist("a", 1))
        await before.settle(term)
        # Somebody else was elected.
        await etcd.transact([], Delete(keys.leader))
        await etcd.transact([], Put(keys.leader, b"{}"))
        before.put(Persist("a", 2))
        assert "another controller leads the edge" in await before.settle(term)
        assert before.unwritten == 1
        successor = state(etcd, keys, OLD)
        await successor.load()
        assert successor.read() == {"a": 1}


async def test_what_comes_to_etcd_late_undoes_nothing(one_etcd: EtcdCluster) -> None:
    async with leading(one_etcd, "late") as (etcd, keys, term):
        late = Late(one_etcd.endpoints)
        written = FleetState(late, keys, Seal([OLD]), itertools.count().__next__)
        written.put(Persist("a", 1), Persist("b", 1))
        assert await written.settle(term) == ""
        late.withholds = True
        written.put(Persist("a", 2), Persist("b", None))
        assert "etcd does not answer" in await written.settle(term)
        late.withholds = False
        written.put(Persist("a", 3), Persist("b", 3))
        assert await written.settle(term) == ""
        conditions, operations = late.withheld
        assert not (await late.transact(conditions, *operations)).succeeded
        successor = state(etcd, keys, OLD)
        await successor.load()
        assert successor.read() == {"a": 3, "b": 3}
        # One that comes before the next is written over.
        late.withholds = True
        written.put(Persist("a", 4))
        assert "etcd does not answer" in await written.settle(term)
        late.withholds = False
        conditions, operations = late.withheld
        assert (await late.transact(conditions, *operations)).succeeded
        written.put(Persist("a", 5))
        assert await written.settle(term) == ""
        await successor.load()
        assert successor.read() == {"a": 5, "b": 3}
        await late.close()


async def test_who_writes_twice_at_once_is_not_taken_for_another_leader(one_etcd: EtcdCluster) -> None:
    async with leading(one_etcd, "twice") as (etcd, keys, term):
        written = state(etcd, keys, OLD)
        written.put(*(Persist(f"{number}", number) for number in range(250)))
        assert not any(await asyncio.gather(written.settle(term), written.settle(term)))
        assert written.unwritten == 0


async def test_a_key_is_replaced_while_the_old_one_still_opens(one_etcd: EtcdCluster) -> None:
    async with leading(one_etcd, "rotated") as (etcd, keys, term):
        old = state(etcd, keys, OLD)
        old.put(Persist("a", 1), Persist("b", 1))
        await old.settle(term)
        both = state(etcd, keys, NEW, OLD)
        await both.load()
        both.put(Persist("a", 2))
        await both.settle(term)
        assert len((await etcd.below(keys.state))[1]) == 2
        again = state(etcd, keys, NEW, OLD)
        await again.load()
        assert again.read() == {"a": 2, "b": 1}
        with pytest.raises(SealError, match=r"sealed by a key that fleet\.sealing_key has not"):
            await state(etcd, keys, NEW).load()
        again.seal_anew()
        assert again.unwritten == 1 and await again.settle(term) == ""
        new = state(etcd, keys, NEW)
        await new.load()
        assert new.read() == {"a": 2, "b": 1}
        new.seal_anew()
        assert new.unwritten == 0


async def test_values_of_a_newer_form_are_refused_in_one_line(one_etcd: EtcdCluster) -> None:
    async with leading(one_etcd, "newer-state") as (etcd, keys, _term):
        await etcd.transact([], Put(keys.state + b"a", bytes([FORM + 1]) + bytes(60)))
        with pytest.raises(
            SealError, match=r"state/a in etcd has form 2, and this wayname reads 1: upgrade this"
        ) as error:
            await state(etcd, keys, OLD).load()
        assert "\n" not in str(error.value)


@given(st.binary(max_size=200), st.integers(0), st.integers(1, 255))
def test_a_value_that_was_changed_or_moved_is_refused(value: bytes, at: int, flip: int) -> None:
    seal = Seal([OLD])
    sealed = seal.close(b"here", value)
    assert seal.open(b"here", sealed) == value
    with pytest.raises(SealError):
        seal.open(b"there", sealed)
    octets = bytearray(sealed)
    octets[at % len(octets)] ^= flip
    with pytest.raises(SealError):
        seal.open(b"here", bytes(octets))
    with pytest.raises(SealError):
        seal.open(b"here", sealed[: at % len(sealed)])


def test_a_file_of_keys_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "fleet.key"
    path.touch(0o600)
    path.write_text(f"{new_key()}\n{new_key()}\n")
    Seal.read(path)
    path.chmod(0o644)
    with pytest.raises(SealError, match="others may read or change it"):
        Seal.read(path)
    path.chmod(0o600)
    path.write_text("secret\n")
    with pytest.raises(SealError, match="is no list of keys") as error:
        Seal.read(path)
    assert "secret" not in str(error.value)
    with pytest.raises(SealError, match="cannot be read"):
        Seal.read(tmp_path / "nowhere")
