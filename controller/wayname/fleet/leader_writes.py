"""What the leader of an edge has etcd write, one request after the other."""

from __future__ import annotations

from wayname.fleet.etcd import ChangedAt, CreatedAt, Etcd, EtcdError, Operation, Put
from wayname.fleet.leadership import Term


class NotLeadingError(EtcdError):
    """Another controller leads the edge."""


class LeaderWrites:
    """Writes of one kind, each void if another controller leads by then, or once a later one was carried out.

    A request of which no answer came may be under way still, so each changes a key, and has etcd take it only if that
    key was changed last by the one before.
    """

    def __init__(self, etcd: Etcd, leader: bytes, last: bytes) -> None:
        """`last` is the key that each write changes."""
        self._etcd = etcd
        self._leader = leader
        self._last = last
        # Of etcd, at which this controller wrote last, as far as it knows.
        self._revision = 0

    async def write(self, term: Term, *operations: Operation) -> bool:
        """Return whether it was done; if not, one that had no answer was, and it may be tried again."""
        before = self._revision
        conditions = CreatedAt(self._leader, term.revision), ChangedAt(self._last, before)
        done = await self._etcd.transact(conditions, *operations, Put(self._last, b""))
        if done.succeeded:
            self._revision = done.revision
            return True
        found = await self._etcd.get(self._last)
        self._revision = found.changed if found else 0
        if self._revision == before:
            raise NotLeadingError("another controller leads the edge")
        return False
