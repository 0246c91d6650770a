"""What the leader of an edge has etcd write, one request after the other."""

from __future__ import annotations

from wayname.fleet.etcd import ChangedAt, Etcd, EtcdError, Get, KeyValue, Operation, Put
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
        # Whether that was found to be gone.
        self._undone = False

    async def write(self, term: Term, *operations: Operation) -> bool:
        """Return whether it was done; if not, one that had no answer was, and it may be tried again."""
        before = self._revision
        conditions = *term.conditions(self._leader), ChangedAt(self._last, before)
        done = await self._etcd.transact(conditions, *operations, Put(self._last, b""))
        if done.succeeded:
            self._revision = done.revision
            return True
        self._revision = _changed(await self._etcd.get(self._last))
        self._undone |= self._revision < before
        if self._revision == before:
            raise NotLeadingError("another controller leads the edge")
        return False

    async def were_undone(self) -> bool:
        """Whether etcd lacks some that it carried out, as one that was restored from an older snapshot."""
        known = self._revision
        [found] = (await self._etcd.transact([], Get(self._last, keys_only=True))).got
        return self._undone or _changed(found) < known

    def begin_anew(self) -> None:
        """Know nothing of what was written."""
        self._revision, self._undone = 0, False


def _changed(found: KeyValue | None) -> int:
    return found.changed if found else 0
