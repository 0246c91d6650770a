"""The lease of a process in etcd: all that it leads and publishes stands under one, which one stream keeps.

So a process asks etcd as often for a hundred edges as for one. Who leads by it stops writing before it can have ended,
by a clock that goes on while the process or the machine is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from wayname.config.fleet import Fleet
from wayname.fleet.etcd import Etcd, EtcdError
from wayname.fleet.group_commit import GroupCommit

# Of the time that etcd grants: how often it is asked for more, how long an answer may take, and how long before its end
# nothing is written any more. A write that is under way has that long to arrive.
RENEWALS = 5
PATIENCE = 1 / 4
MARGIN = 1 / 5
# After etcd did not answer.
PAUSE = 0.2


def boot_time() -> float:
    """The seconds since the machine started, those that it slept too, which CLOCK_MONOTONIC leaves out."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(slots=True, eq=False)
class Granted:
    """A lease as etcd granted it."""

    number: int
    seconds: float
    # When, by the clock of its process, nothing is written any more.
    until: float
    # Why changes wait: etcd did not answer until then. Empty as long as they go on.
    trouble: str = ""
    has_ended: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self) -> None:
        """Wake who waits for changes."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def changes(self) -> None:
        """Wait until it has ended, or changes wait for etcd, or go on again."""
        await self._changed.wait()


class Lease:
    """The one of this process. `run` it and `end` it; who stands for election asks for it by `hold`."""

    def __init__(self, etcd: Etcd, seconds: int, clock: Callable[[], float] = boot_time) -> None:
        self.etcd = etcd
        self.seconds = seconds
        self.clock = clock
        self._granted: Granted | None = None
        self._begun = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    @classmethod
    def of(cls, fleet: Fleet) -> Lease:
        """Return the one of a process whose configuration this is."""
        return cls(GroupCommit.of(fleet), fleet.lease)

    def is_of(self, lease: int) -> bool:
        """Whether a key that stands under a lease is of this process."""
        granted = self._granted
        return granted is not None and not granted.has_ended and granted.number == lease

    async def hold(self) -> Granted:
        """Return the lease that lives, or have a new one granted."""
        async with self._one_at_a_time:
            granted = self._granted
            while granted is not None and not granted.has_ended and self.clock() >= granted.until:
                # It may have ended: `run` finds out.
                await granted.changes()
            if granted is None or granted.has_ended:
                asked = self.clock()
                number, seconds = await self.etcd.grant(self.seconds)
                granted = self._granted = Granted(number, seconds, asked + seconds * (1 - MARGIN))
                self._begun.set()
            return granted

    async def run(self) -> None:
        """Keep it until cancelled."""
        while True:
            await self._begun.wait()
            self._begun.clear()
            assert self._granted is not None
            await self._keep(self._granted)

    async def _keep(self, granted: Granted) -> None:
        await asyncio.sleep(granted.seconds / RENEWALS)
        while True:
            asked = self.clock()
            try:
                seconds = await self.etcd.keep_alive(granted.number, granted.seconds * PATIENCE)
            except EtcdError as error:
                if self.clock() >= granted.until:
                    is_new, granted.trouble = not granted.trouble, str(error)
                    if is_new:
                        granted.tell()
                await asyncio.sleep(min(PAUSE, self.seconds / RENEWALS))
                continue
            if not seconds:
                granted.has_ended = True
                granted.tell()
                return
            waited = granted.trouble or self.clock() >= granted.until
            granted.seconds, granted.until, granted.trouble = seconds, asked + seconds * (1 - MARGIN), ""
            if waited:
                granted.tell()
            await asyncio.sleep(granted.seconds / RENEWALS)

    async def end(self) -> None:
        """Give it back, so that successors need not wait for its end, and let go of etcd."""
        granted = self._granted
        if granted is not None and not granted.has_ended:
            granted.has_ended = True
            granted.tell()
            with contextlib.suppress(EtcdError):
                await self.etcd.revoke(granted.number)
        await self.etcd.close()
