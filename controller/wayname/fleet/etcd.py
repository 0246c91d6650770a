"""Asks etcd, over any of its members that answers.

Of aetcd we use the messages and stubs alone: its own client knows one member, and no TLS.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from zlib import crc32

import grpc
import grpc.aio
from aetcd import rpc

from wayname.config.fleet import FleetAccess
from wayname.config.tls import Tls
from wayname.tls_files import credentials

# A member that has not answered in this time is not asked again before the others.
ATTEMPT_SECONDS = 0.5
# A member that was late is asked first all the same, unless nothing came from it for so long: whoever watches would
# follow, all at once, and this process may be what is late.
SILENT_SECONDS = 2 * ATTEMPT_SECONDS
# So many calls are under way at once, and others wait for their turn: a member that is asked for everything at once
# answers late, and what is late is asked for again. Leases do not wait.
CALLS_AT_ONCE = 32
# Keys are looked at again at so many moments in all, each at its own.
MOMENTS = 10
# A range is read in parts: one message of gRPC has 4 MiB at most.
KEYS_AT_ONCE = 1000
# etcd's own bound, --max-txn-ops.
CHANGES_AT_ONCE = 100
# etcd takes 1.5 MiB in one request.
OCTETS_AT_ONCE = 1 << 20
# A member that has lost the majority says so at once, instead of waiting for it.
_METADATA = (("hasleader", "true"),)
_OPTIONS = [("grpc.max_reconnect_backoff_ms", 500), ("grpc.initial_reconnect_backoff_ms", 100)]

T = TypeVar("T")


class EtcdError(Exception):
    """Why etcd did not do what it was asked for, in one line."""


class RefusedError(EtcdError):
    """etcd did nothing of it, and would not another time."""


class Compacted(EtcdError):
    """What happened since a revision is not known any more: all has to be read anew."""


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A key with its value, and the revisions at which it was made and changed last."""

    key: bytes
    value: bytes = field(repr=False)
    created: int = 0
    changed: int = 0
    lease: int = 0


@dataclass(frozen=True, slots=True)
class Put:
    """A change: have a key this value, as long as the lease lives if there is one."""

    key: bytes
    value: bytes = field(repr=False)
    lease: int = 0


@dataclass(frozen=True, slots=True)
class Delete:
    """A change: have no such key, or none that begins so."""

    key: bytes
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Get:
    """Within a transaction: what a key has at that moment, before what is behind changes it."""

    key: bytes
    # Its value is left out.
    keys_only: bool = False


@dataclass(frozen=True, slots=True)
class CreatedAt:
    """A condition: a key was made at this revision; at 0, there is none."""

    key: bytes
    revision: int


@dataclass(frozen=True, slots=True)
class ChangedAt:
    """A condition: a key was changed last at this revision; at 0, there is none."""

    key: bytes
    revision: int


@dataclass(frozen=True, slots=True)
class UnderLease:
    """A condition: a key stands under this lease; under 0, it stands under none."""

    key: bytes
    lease: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a transaction: at which revision, and what was got, in order."""

    succeeded: bool
    revision: int
    got: tuple[KeyValue | None, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a key; without a value it is gone."""

    key: bytes
    value: KeyValue | None


Operation = Put | Delete | Get
Condition = CreatedAt | ChangedAt | UnderLease


class Etcd:
    """All members of one etcd; each thing is asked of one after the other, until one answers."""

    def __init__(self, endpoints: Sequence[str], tls: Tls | None = None) -> None:
        secured = credentials(tls).to_client_credentials() if tls else None
        self._members = [_Member(each, secured) for each in endpoints]
        # The one that answered last is asked first.
        self._first = 0
        self._turns = asyncio.Semaphore(CALLS_AT_ONCE)

    @classmethod
    def of(cls, fleet: FleetAccess) -> Etcd:
        """Return the one that a configuration names."""
        return cls(fleet.endpoints, fleet.tls)

    async def close(self) -> None:
        """Close all connections."""
        for member in self._members:
            await member.close()

    async def get(self, key: bytes) -> KeyValue | None:
        """Return what a key has."""
        found = await self._ask(partial(_range, rpc.RangeRequest(key=key)))
        return _key_value(found.kvs[0]) if found.kvs else None

    async def below(self, prefix: bytes) -> tuple[int, list[KeyValue]]:
        """Return all keys that begin so as they are at one moment, and at which revision that is."""
        found: list[KeyValue] = []
        start, end, revision = prefix, end_of(prefix), 0
        while True:
            request = rpc.RangeRequest(key=start, range_end=end, limit=KEYS_AT_ONCE, revision=revision)
            some = await self._ask(partial(_range, request))
            revision = revision or some.header.revision
            found += map(_key_value, some.kvs)
            if not some.more:
                return revision, found
            start = some.kvs[-1].key + b"\0"

    async def first_at(self, start: bytes, end: bytes) -> KeyValue | None:
        """Return the first key from one on, and before another; its value is left out."""
        request = rpc.RangeRequest(key=start, range_end=end, limit=1, keys_only=True)
        found = await self._ask(partial(_range, request))
        return _key_value(found.kvs[0]) if found.kvs else None

    async def transact(self, conditions: Iterable[Condition], *operations: Operation) -> Outcome:
        """Do all of this if the conditions hold, or nothing; if nobody answers, it may have been done or not."""
        request = rpc.TxnRequest(compare=map(_compare, conditions), success=map(_operation, operations))
        done = await self._ask(lambda member, limits: member.kv.Txn(request, **limits))
        got = [each.response_range.kvs for each in done.responses if each.WhichOneof("response") == "response_range"]
        return Outcome(
            done.succeeded, done.header.revision, tuple(_key_value(each[0]) if each else None for each in got)
        )

    async def grant(self, seconds: int) -> tuple[int, float]:
        """Return a new lease, and for how many seconds etcd grants it."""
        request = rpc.LeaseGrantRequest(TTL=seconds)
        lease = await self._ask(lambda member, limits: member.leases.LeaseGrant(request, **limits))
        return lease.ID, lease.TTL

    async def keep_alive(self, lease: int, patience: float = ATTEMPT_SECONDS) -> float:
        """Have a lease begin anew; return for how many seconds, 0 if it has ended. One stream serves all such calls."""
        request = rpc.LeaseKeepAliveRequest(ID=lease)
        answer = await self._ask_now(lambda member, _limits: member.keep_alive(request, patience), patience)
        return float(answer.TTL)

    async def revoke(self, lease: int) -> None:
        """End a lease; what was under it is gone."""
        request = rpc.LeaseRevokeRequest(ID=lease)
        await self._ask(lambda member, limits: member.leases.LeaseRevoke(request, **limits))

    async def watch(self, key: bytes, revision: int, *, is_prefix: bool = False) -> AsyncIterator[list[Change]]:
        """Yield what changes from a revision on, until the member that tells it fails; raise `EtcdError` then."""
        member = self._members[self._first]
        wish = rpc.WatchCreateRequest(key=key, range_end=end_of(key) if is_prefix else b"", start_revision=revision)
        call = member.watches.Watch(metadata=_METADATA)
        try:
            await call.write(rpc.WatchRequest(create_request=wish))
            while (answer := await call.read()) is not grpc.aio.EOF:
                if answer.canceled:
                    if answer.compact_revision:
                        raise Compacted(f"etcd has forgotten what was before revision {answer.compact_revision}")
                    raise EtcdError(f"etcd at {member.endpoint} ended the watch ({answer.cancel_reason})")
                if answer.events:
                    yield [_change(each) for each in answer.events]
            raise EtcdError(f"etcd at {member.endpoint} ended the watch")
        except grpc.aio.AioRpcError as error:
            if self._members[self._first] is member:
                # All that watch there hear of it, and the next one is asked once.
                self._first = (self._first + 1) % len(self._members)
            raise EtcdError(_told(member, error)) from None
        finally:
            call.cancel()

    async def looks(self, key: bytes, revision: int, changed: int, every: float) -> AsyncGenerator[None, None]:
        """Yield now and then until a key is not as at a revision, at which it was `changed` last; raise `EtcdError`.

        It is watched. The member that tells of changes may be cut off, so it is looked for them every so many seconds:
        at one of a few moments, so that a process asks for many keys at once (`GroupCommit`), and never for all.
        """
        moment = crc32(key) % MOMENTS * every / MOMENTS
        member = self._members[self._first]
        told = asyncio.ensure_future(anext(self.watch(key, revision + 1)))
        try:
            while True:
                await asyncio.wait({told}, timeout=every - (asyncio.get_running_loop().time() - moment) % every)
                if told.done():
                    told.result()
                    return
                [found] = (await self.transact([], Get(key, keys_only=True))).got
                if (found.changed if found else 0) != changed or self._members[self._first] is not member:
                    return
                yield
        finally:
            told.cancel()
            await asyncio.gather(told, return_exceptions=True)

    async def _ask(self, ask: Callable[[_Member, dict[str, Any]], Awaitable[T]]) -> T:
        """Ask in turn; see `_ask_now`."""
        async with self._turns:
            return await self._ask_now(ask, ATTEMPT_SECONDS)

    async def _ask_now(self, ask: Callable[[_Member, dict[str, Any]], Awaitable[T]], patience: float) -> T:
        """Ask the members one after the other; what one refuses for a reason of its own, all would."""
        said: list[str] = []
        mend = "more than half of the members of etcd have to answer"
        clock = asyncio.get_running_loop().time
        begin, is_late = self._first, False
        for number in range(len(self._members)):
            at = (begin + number) % len(self._members)
            member = self._members[at]
            try:
                answer = await ask(member, {"timeout": patience, "metadata": _METADATA})
            except TimeoutError:
                # A lease cannot wait until the member is silent for long.
                said.append(f"etcd at {member.endpoint} does not answer")
            except grpc.aio.AioRpcError as error:
                said.append(_told(member, error))
                if error.code() not in _ELSEWHERE:
                    if number == 0:
                        raise RefusedError(said[0]) from None
                    mend = ""
                    break
                is_late |= at == begin and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            else:
                member.answered = clock()
                if not is_late or member.answered - self._members[begin].answered > SILENT_SECONDS:
                    self._ask_first(at, begin)
                return answer
        self._ask_first((begin + 1) % len(self._members), begin)
        raise EtcdError("; ".join(filter(None, (*sorted(said), mend))))

    def _ask_first(self, at: int, begin: int) -> None:
        """Ask this member first from now on, unless another one is already in place of who was."""
        if self._first == begin:
            self._first = at


# As BoringSSL names it.
_TLS_FAILURE = re.compile(r"OPENSSL_internal:(\w+)")
# Another member may do it.
_ELSEWHERE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNKNOWN)


class _Member:
    """One server of etcd."""

    def __init__(self, endpoint: str, secured: grpc.ChannelCredentials | None) -> None:
        self.endpoint = endpoint
        self.channel = (
            grpc.aio.secure_channel(endpoint, secured, _OPTIONS)
            if secured
            else grpc.aio.insecure_channel(endpoint, _OPTIONS)
        )
        self.kv = rpc.KVStub(self.channel)
        self.leases = rpc.LeaseStub(self.channel)
        self.watches = rpc.WatchStub(self.channel)
        # The stream by which leases are kept, while nobody asks by it.
        self._keeping: Any = None
        # When it last answered, by the loop's clock.
        self.answered = -math.inf

    async def keep_alive(self, request: Any, patience: float) -> Any:
        """Ask by the stream that is open, or by a new one."""
        call, self._keeping = self._keeping, None
        if call is None or call.done():
            call = self.leases.LeaseKeepAlive(metadata=_METADATA)
        try:
            answer = await _within(patience, _ask_by(call, request))
            if answer is grpc.aio.EOF:
                raise EtcdError(f"etcd at {self.endpoint} ended the call")
        except BaseException:
            # What it answers later would be taken for the answer to another request.
            call.cancel()
            raise
        if self._keeping is not None:
            self._keeping.cancel()
        self._keeping = call
        return answer

    async def close(self) -> None:
        """Close the connection."""
        if self._keeping is not None:
            self._keeping.cancel()
        await self.channel.close()


async def _ask_by(call: Any, request: Any) -> Any:
    await call.write(request)
    return await call.read()


async def _within(seconds: float, answer: Coroutine[Any, Any, T]) -> T:
    """Return what comes in this time; where this process was late to look, it may take so much longer to be read."""
    clock = asyncio.get_running_loop().time
    asked, due = asyncio.ensure_future(answer), clock() + seconds
    try:
        await asyncio.wait({asked}, timeout=seconds)
        if not asked.done():
            await asyncio.wait({asked}, timeout=clock() - due)
        if not asked.done():
            raise TimeoutError
        return asked.result()
    finally:
        asked.cancel()


async def _range(request: Any, member: _Member, limits: dict[str, Any]) -> Any:
    return await member.kv.Range(request, **limits)


def end_of(prefix: bytes) -> bytes:
    """Return the key behind all that begin so; prefixes end with no octet 255."""
    return prefix[:-1] + bytes([prefix[-1] + 1])


def _compare(condition: Condition) -> Any:
    equal = rpc.Compare.EQUAL
    match condition:
        case CreatedAt(key, revision):
            return rpc.Compare(key=key, target=rpc.Compare.CREATE, result=equal, create_revision=revision)
        case ChangedAt(key, revision):
            return rpc.Compare(key=key, target=rpc.Compare.MOD, result=equal, mod_revision=revision)
        case UnderLease(key, lease):
            return rpc.Compare(key=key, target=rpc.Compare.LEASE, result=equal, lease=lease)


def _operation(operation: Operation) -> Any:
    match operation:
        case Put(key, value, lease):
            return rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value, lease=lease))
        case Delete(key, is_prefix):
            end = end_of(key) if is_prefix else b""
            return rpc.RequestOp(request_delete_range=rpc.DeleteRangeRequest(key=key, range_end=end))
        case Get(key, keys_only):
            return rpc.RequestOp(request_range=rpc.RangeRequest(key=key, keys_only=keys_only))


def _key_value(found: Any) -> KeyValue:
    return KeyValue(found.key, found.value, found.create_revision, found.mod_revision, found.lease)


def _change(event: Any) -> Change:
    return Change(event.kv.key, None if event.type == rpc.Event.DELETE else _key_value(event.kv))


def _told(member: _Member, error: grpc.aio.AioRpcError) -> str:
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"etcd at {member.endpoint} does not answer"
    details = error.details() or ""
    if error.code() is grpc.StatusCode.UNAVAILABLE and "etcdserver" not in details:
        if found := _TLS_FAILURE.search(details):
            return f"TLS fails with etcd at {member.endpoint} ({found[1]}): look at ca, certificate and key of [fleet]"
        return f"no etcd answers at {member.endpoint}"
    if error.code() is grpc.StatusCode.PERMISSION_DENIED:
        mend = "the user that the certificate names has no role for this: docs/fleet.md#security lists roles"
        return f"etcd at {member.endpoint}: {details}; {mend}"
    return f"etcd at {member.endpoint}: {details or error.code().name}"
