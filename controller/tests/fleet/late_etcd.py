"""An etcd that gives up on what comes to it all the same."""

from __future__ import annotations

from collections.abc import Iterable

from wayname.fleet.etcd import Condition, Etcd, EtcdError, Operation, Outcome


class Late(Etcd):
    """Gives up on a transaction that comes to etcd later."""

    withholds = False

    async def transact(self, conditions: Iterable[Condition], *operations: Operation) -> Outcome:
        if self.withholds:
            self.withheld = list(conditions), operations
            raise EtcdError("etcd does not answer")
        return await super().transact(conditions, *operations)
