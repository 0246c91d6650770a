"""The model of etcd does as real servers do, whatever is asked of both."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fleet.etcd_model import Client, EtcdModel
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wayname.fleet.etcd import ChangedAt, Condition, CreatedAt, Delete, Etcd, EtcdError, Get, KeyValue, Operation, Put
from wayname_lab.etcd import EtcdCluster

NAMES = [b"a", b"ab", b"b", b"b/c", b"b/d"]
names = st.sampled_from(NAMES)
operations = st.one_of(
    st.builds(Get, names),
    st.builds(Put, names, st.binary(min_size=1, max_size=3), st.sampled_from([0, 0, 1, 2])),
    st.builds(Delete, names, st.booleans()),
)
# Revisions are those of one of the things that were done before, or 0.
forms = st.sampled_from([CreatedAt, ChangedAt])
conditions = st.lists(st.builds(lambda form, *rest: form(*rest), forms, names, st.integers(0, 3)), max_size=2)
transactions = st.tuples(st.just("transact"), conditions, st.lists(operations, min_size=1, max_size=3))
steps = st.lists(
    st.one_of(
        transactions,
        st.tuples(st.just("below"), names),
        st.tuples(st.just("grant")),
        st.tuples(st.just("revoke"), st.sampled_from([1, 2])),
        st.tuples(st.just("keep_alive"), st.sampled_from([1, 2])),
    ),
    max_size=12,
)
runs = itertools.count()


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


async def carried_out(client: Any, steps: Sequence[Any], prefix: bytes) -> list[Any]:
    """Return what comes of steps, with revisions counted from the first and leases by their order."""
    base, _ = await client.below(prefix)
    leases: list[int] = []
    done: list[Any] = []
    # The revisions at which something was done, for conditions.
    known = [0]

    def lease(number: int) -> int:
        return leases[number - 1] if 0 < number <= len(leases) else 0

    def told(found: KeyValue | None) -> Any:
        if found is None:
            return None
        number = leases.index(found.lease) + 1 if found.lease else 0
        return found.key.removeprefix(prefix), found.value, found.created - base, found.changed - base, number

    def placed(each: Any) -> Any:
        each = replace(each, key=prefix + each.key)
        if isinstance(each, Put):
            return replace(each, lease=lease(each.lease))
        return replace(each, revision=known[each.revision % len(known)]) if isinstance(each, Condition) else each

    for step in steps:
        try:
            match step:
                case ("transact", wanted, changes):
                    outcome = await client.transact(map(placed, wanted), *map(placed, once(changes)))
                    known.append(outcome.revision)
                    done.append((outcome.succeeded, outcome.revision - base, [told(each) for each in outcome.got]))
                case ("below", name):
                    revision, found = await client.below(prefix + name)
                    done.append((revision - base, [told(each) for each in found]))
                case ("grant",):
                    number, seconds = await client.grant(60)
                    leases.append(number)
                    done.append(seconds)
                case ("revoke", number):
                    await client.revoke(lease(number) or 1 << 40)
                    done.append("revoked")
                case ("keep_alive", number):
                    done.append(await client.keep_alive(lease(number) or 1 << 40))
        except EtcdError as error:
            done.append(str(error).rpartition(": ")[2])
    return done


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps)
def test_the_model_does_as_etcd_does(one_etcd: EtcdCluster, steps: list[Any]) -> None:
    async def both() -> None:
        etcd = Etcd(one_etcd.endpoints)
        try:
            real = await carried_out(etcd, steps, f"model{next(runs)}/".encode())
        finally:
            await etcd.close()
        model = EtcdModel(asyncio.get_running_loop().time)
        assert await carried_out(Client(model, random.Random(0)), steps, b"model/") == real

    asyncio.run(both())
