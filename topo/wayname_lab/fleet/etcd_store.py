"""What etcd keeps and how it changes: revisions, transactions, leases, compaction.

`test_etcd_model.py` asks real servers for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from aetcd import rpc

from wayname.fleet.etcd import KeyValue
from wayname_lab.fleet.network import Refused

COMPACTED = (grpc.StatusCode.OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted")
FUTURE = (grpc.StatusCode.OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision")
NO_LEASE = (grpc.StatusCode.NOT_FOUND, "etcdserver: requested lease not found")
TWICE = (grpc.StatusCode.INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request")


@dataclass(slots=True)
class Lease:
    """How long it is granted for, and when it ends."""

    seconds: int
    ends: float


@dataclass(frozen=True, slots=True)
class Changed:
    """A key at a revision; without a value it was deleted."""

    revision: int
    key: bytes
    value: KeyValue | None


class EtcdStore:
    """The one truth of all members; `clock` says how late it is."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.revision = 1
        # What was before it is forgotten.
        self.compacted = 0
        self.leases: dict[int, Lease] = {}
        self.values: dict[bytes, KeyValue] = {}
        # What happened since the oldest revision that can be read, and what there was then.
        self._history: list[Changed] = []
        self._oldest: dict[bytes, KeyValue] = {}
        self._granted = 0
        self._clock = clock

    def range(self, request: Any) -> Any:
        """Answer a `RangeRequest`."""
        if request.revision > self.revision:
            raise Refused(*FUTURE)
        if 0 < request.revision < self.compacted:
            raise Refused(*COMPACTED)
        found = _within(self._at(request.revision), request.key, request.range_end)
        limit = request.limit or len(found)
        told = [told_of(each, request.keys_only) for each in found[:limit]]
        header = rpc.ResponseHeader(revision=self.revision)
        return rpc.RangeResponse(header=header, kvs=told, more=len(found) > limit, count=len(found))

    def _at(self, revision: int) -> dict[bytes, KeyValue]:
        if revision in (0, self.revision):
            return self.values
        values = dict(self._oldest)
        for each in self._history:
            if each.revision <= revision:
                _apply(values, each)
        return values

    def transact(self, request: Any) -> Any:
        """Answer a `TxnRequest`: all of it at one revision, or nothing."""
        operations = list(request.success)
        if _writes_twice([*operations, *request.failure]):
            raise Refused(*TWICE)
        succeeded = all(map(self.holds, request.compare))
        at = self.revision + 1
        wanted = operations if succeeded else list(request.failure)
        for each in wanted:
            put = each.request_put
            if each.WhichOneof("request") == "request_put" and put.lease and put.lease not in self.leases:
                raise Refused(*NO_LEASE)
        responses = [self._operate(each, at) for each in wanted]
        return rpc.TxnResponse(
            header=rpc.ResponseHeader(revision=self.revision), succeeded=succeeded, responses=responses
        )

    def _operate(self, operation: Any, at: int) -> Any:
        match operation.WhichOneof("request"):
            case "request_range":
                asked = operation.request_range
                found = _within(self.values, asked.key, asked.range_end)
                told = [told_of(each, asked.keys_only) for each in found]
                return rpc.ResponseOp(response_range=rpc.RangeResponse(kvs=told, count=len(found)))
            case "request_put":
                put = operation.request_put
                before = self.values.get(put.key)
                self._set(
                    Changed(at, put.key, KeyValue(put.key, put.value, before.created if before else at, at, put.lease))
                )
                return rpc.ResponseOp(response_put=rpc.PutResponse())
            case _:
                gone = operation.request_delete_range
                found = _within(self.values, gone.key, gone.range_end)
                for each in found:
                    self._set(Changed(at, each.key, None))
                return rpc.ResponseOp(response_delete_range=rpc.DeleteRangeResponse(deleted=len(found)))

    def grant(self, request: Any) -> Any:
        """Answer a `LeaseGrantRequest`."""
        self._granted += 1
        self.leases[self._granted] = Lease(request.TTL, self._clock() + request.TTL)
        return rpc.LeaseGrantResponse(ID=self._granted, TTL=request.TTL)

    def keep_alive(self, request: Any) -> Any:
        """Answer a `LeaseKeepAliveRequest`: of a lease that is no more, 0 seconds."""
        found = self.leases.get(request.ID)
        if found is not None:
            found.ends = self._clock() + found.seconds
        return rpc.LeaseKeepAliveResponse(ID=request.ID, TTL=found.seconds if found else 0)

    def revoke(self, request: Any) -> Any:
        """Answer a `LeaseRevokeRequest`."""
        if self.leases.pop(request.ID, None) is None:
            raise Refused(*NO_LEASE)
        at = self.revision + 1
        for each in sorted(key for key, value in self.values.items() if value.lease == request.ID):
            self._set(Changed(at, each, None))
        return rpc.LeaseRevokeResponse()

    def compact(self, request: Any) -> Any:
        """Answer a `CompactionRequest`."""
        if request.revision > self.revision:
            raise Refused(*FUTURE)
        if request.revision <= self.compacted:
            raise Refused(*COMPACTED)
        self._oldest = dict(self._at(request.revision))
        # What was put at that revision is there still, and told; a deletion is not.
        at = request.revision
        self._history = [each for each in self._history if each.revision > at or (each.revision == at and each.value)]
        self.compacted = request.revision
        return rpc.CompactionResponse()

    def end_leases(self) -> None:
        """End the leases whose time is over."""
        for lease in [number for number, each in self.leases.items() if each.ends <= self._clock()]:
            self.revoke(rpc.LeaseRevokeRequest(ID=lease))

    def give_leases_anew(self) -> None:
        """Begin all leases anew, as a member does that comes to lead the others."""
        for lease in self.leases.values():
            lease.ends = self._clock() + lease.seconds

    def since(self, revision: int) -> Iterator[Changed]:
        """Return what changed from a revision on."""
        return (each for each in self._history if each.revision >= revision)

    def holds(self, compare: Any) -> bool:
        """Whether a condition of a transaction holds now."""
        found = self.values.get(compare.key)
        if compare.target == rpc.Compare.CREATE:
            return (found.created if found else 0) == int(compare.create_revision)
        if compare.target == rpc.Compare.LEASE:
            return (found.lease if found else 0) == int(compare.lease)
        return (found.changed if found else 0) == int(compare.mod_revision)

    def _set(self, changed: Changed) -> None:
        self.revision = changed.revision
        _apply(self.values, changed)
        self._history.append(changed)


def told_of(found: KeyValue, keys_only: bool = False) -> Any:
    """Return a key as etcd tells of it."""
    return rpc.KeyValue(
        key=found.key,
        value=b"" if keys_only else found.value,
        create_revision=found.created,
        mod_revision=found.changed,
        lease=found.lease,
    )


def is_within(key: bytes, start: bytes, end: bytes) -> bool:
    """Whether a key is in a range; without an end that is one key."""
    return start <= key < end if end else key == start


def _within(values: dict[bytes, KeyValue], start: bytes, end: bytes) -> list[KeyValue]:
    if not end:
        return [values[start]] if start in values else []
    return [values[key] for key in sorted(values) if start <= key < end]


def _apply(values: dict[bytes, KeyValue], changed: Changed) -> None:
    if changed.value is None:
        values.pop(changed.key, None)
    else:
        values[changed.key] = changed.value


def _writes_twice(operations: Sequence[Any]) -> bool:
    """Whether a key is put twice, or put and deleted; deletions may overlap."""
    puts = [each.request_put.key for each in operations if each.WhichOneof("request") == "request_put"]
    deletes = [each.request_delete_range for each in operations if each.WhichOneof("request") == "request_delete_range"]
    return len(set(puts)) < len(puts) or any(
        is_within(key, each.key, each.range_end) for key in puts for each in deletes
    )
