"""A controller's part in a fleet: whether it leads its edge, and what it keeps for a successor."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from wayname.config.fleet import Fleet
from wayname.edge.boundary import HostFound, Json, Persist, Severity
from wayname.fleet.directory import Directory
from wayname.fleet.etcd import EtcdError
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.leadership import Leadership, Term
from wayname.fleet.lease import PAUSE, Lease, boot_time
from wayname.fleet.sealing import Seal
from wayname.fleet.state import FleetState

# For what is written down, where packets of others are not to wait for etcd.
SHORT_WAIT = 0.05
# How many leases after a leader looked whether etcd has what it wrote it does so again.
LOOK_AGAIN = 10


class FleetMember:
    """A controller among those of its edge. `run` it, and have it `write_anew`."""

    def __init__(
        self,
        fleet: Fleet,
        lease: Lease,
        report: Callable[[str, Severity, str, str], None],
        changed: Callable[[], None],
        found: Callable[[HostFound], Awaitable[None]],
        stands: bool = True,
    ) -> None:
        """`lease` is its process's. It `stands` for election, or not before the edge is the router of its site."""
        keys = EdgeKeys.of(fleet)
        self._state = FleetState(lease.etcd, keys, Seal.read(fleet.sealing_key), boot_time)
        self._changed = changed
        self._lease, self._report, self._edge = lease, report, fleet.edge
        self.leadership = Leadership(lease, keys, fleet.controller, report, self._leadership_changed)
        self.directory = Directory(lease.etcd, FleetKeys(fleet.prefix), keys, self.leadership, report, found)
        self.leadership.stand(stands)
        # What is to be written down before it leads, which it will soon: it acts for the edge already.
        self.acts_early = False
        self._settling: asyncio.Task[str] | None = None

    async def run(self) -> None:
        """Take part until cancelled."""
        try:
            await self.leadership.run()
        finally:
            if self._settling is not None:
                self._settling.cancel()

    async def withdraw(self) -> None:
        """After its end, have nothing of it there that others would wait for: the lease of its process goes on."""
        await self.leadership.withdraw()
        await self.directory.withdraw()

    def _leadership_changed(self) -> None:
        self.directory.wake()
        self._changed()

    async def load(self, term: Term) -> bool:
        """Begin a term with what the leader before left; return whether that came before the term's end."""
        while self.leadership.term is term:
            with contextlib.suppress(EtcdError):
                await self._state.load()
                self._state.seal_anew()
                await self._settle()
                return True
            await asyncio.sleep(PAUSE)
        return False

    def act_early(self, acts: bool) -> None:
        """Act for the edge before this controller leads; or not any more, and then what it did not write is void."""
        self.acts_early = acts
        if not acts:
            self._state.forget_unwritten()

    async def load_beneath(self) -> None:
        """Take what a leader wrote, beneath what this controller could not write yet."""
        await self._state.load(keep_unwritten=self.acts_early)

    def follow(self) -> AsyncIterator[None]:
        """Go by what another controller that leads writes, until this one leads."""
        return self._state.follow(lambda: self.leadership.term is None)

    def read(self) -> dict[str, Json]:
        """Return what a controller that begins now has to know."""
        return self._state.read()

    def note(self, remembers: Sequence[Persist]) -> None:
        """Keep what is written with the next values of a term, unless another controller leads before."""
        self._state.put(*remembers)

    async def write_down(self, remembers: Sequence[Persist]) -> str:
        """Have etcd take what a successor must know; return why it does not, if so."""
        if self.leadership.term is None and remembers and not self.acts_early:
            # Who does not lead has nothing to say of the edge; the leader has.
            return ""
        trouble = self._state.put(*remembers)
        if not self.acts_early:
            return await self._settle()
        # Another edge takes one for dead that waits for etcd and says nothing: so it does not wait for long.
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle())
        done, _ = await asyncio.wait({self._settling}, timeout=SHORT_WAIT)
        return self._settling.result() if done else trouble

    async def _settle(self) -> str:
        return await self._state.settle(self.leadership.term if self.leadership.may_write() else None)

    async def write_anew(self) -> None:
        """Have etcd know all again where it was restored from an older snapshot, and the term goes on."""
        while True:
            await asyncio.sleep(LOOK_AGAIN * self._lease.seconds)
            with contextlib.suppress(EtcdError):
                if self.leadership.may_write() and await self._state.has_to_write_anew():
                    self.directory.publish_anew()
                    text = "etcd lacks what was written, as one restored from an older snapshot: all is written anew"
                    self._report("fleet.restored", Severity.WARNING, self._edge, text)
                    await self._settle()

    @property
    def unwritten(self) -> int:
        """How many values etcd lacks that it is to have."""
        return self._state.unwritten
