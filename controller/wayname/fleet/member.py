"""A controller's part in a fleet: whether it leads its edge, and what it keeps for a successor."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from wayname.config.fleet import Fleet
from wayname.edge.boundary import Json, Persist, Severity
from wayname.fleet.etcd import Etcd, EtcdError
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.leadership import PAUSE, Leadership, Term, boot_time
from wayname.fleet.sealing import Seal
from wayname.fleet.state import FleetState


class FleetMember:
    """A controller among those of its edge. `run` it."""

    def __init__(
        self,
        fleet: Fleet,
        report: Callable[[str, Severity, str, str], None],
        changed: Callable[[], None],
    ) -> None:
        keys = EdgeKeys.of(fleet)
        self._etcd = Etcd.of(fleet)
        self._state = FleetState(self._etcd, keys, Seal.read(fleet.sealing_key), boot_time)
        self.leadership = Leadership(self._etcd, keys, fleet.controller, fleet.lease, report, changed)

    async def run(self) -> None:
        """Take part until cancelled."""
        try:
            await self.leadership.run()
        finally:
            await self._etcd.close()

    async def load(self, term: Term) -> None:
        """Begin a term with what the leader before left; return early if the term ends meanwhile."""
        while self.leadership.term is term:
            with contextlib.suppress(EtcdError):
                await self._state.load()
                return
            await asyncio.sleep(PAUSE)

    def read(self) -> dict[str, Json]:
        """Return what a controller that begins now has to know."""
        return self._state.read()

    async def write_down(self, remembers: Sequence[Persist]) -> str:
        """Have etcd take what a successor must know; return why it does not, if so."""
        if self.leadership.term is None and remembers:
            # Who does not lead has nothing to say of the edge; the leader has.
            return ""
        self._state.put(*remembers)
        return await self._state.settle(self.leadership.term if self.leadership.may_write() else None)

    @property
    def unwritten(self) -> int:
        """How many values etcd lacks that it is to have."""
        return self._state.unwritten
