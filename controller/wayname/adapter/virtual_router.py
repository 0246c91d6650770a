"""Two edges for one site: whether this one is its router, and how it becomes that (VRRP, RFC 9568).

Each edge has a switch and a controller; `[fleet]` names both as one edge. The backup has the same sessions on its
switch, as the active one writes them to etcd. Who is active for packets is for VRRP to say, which needs no etcd; who
is active stands for election, and writes what a successor has to know once it is elected.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Protocol

from wayname.edge.boundary import Json, Severity, VrrpRole, VrrpRoleWanted
from wayname.fleet.etcd import EtcdError
from wayname.fleet.leadership import Term
from wayname.fleet.lease import PAUSE
from wayname.fleet.member import FleetMember

# How long who takes over asks etcd for what was written last.
LAST_WORDS = 0.3
# What is written within so many seconds is taken over together; then nothing is for so many times as long as that took.
TOGETHER = 0.2
RESTED = 20
# The member that tells of changes may be cut off: after so long another one is asked.
LOOK_AGAIN = 5.0


class Rebuilt(Protocol):
    """The controller as this sees it."""

    async def rebuild(self) -> None:
        """Have a new edge go on from what is written down, with the role of now."""

    async def let_go(self) -> None:
        """Have the edge tell the other one to take over."""

    async def share_keys(self) -> None:
        """Write the private keys of the edge that this machine lacks, and have etcd keep those that it lacks."""

    def report(self, kind: str, severity: Severity, subject: str, text: str) -> None:
        """Record an event."""


class VirtualRouter:
    """This edge's part in it. `run` and `follow` it; `role` says how that stands."""

    def __init__(self, edge: str, member: FleetMember, controller: Rebuilt, clock: Callable[[], float]) -> None:
        self.role = VrrpRole.BACKUP
        # Set when the edge was made of what etcd has.
        self.ready = asyncio.Event()
        self._edge = edge
        self._member = member
        self._controller = controller
        self._clock = clock
        self._wanted: VrrpRoleWanted | None = None
        self._term: Term | None = None
        # Whether the edge was made of less than is known, and when it may be made anew.
        self._is_outdated = False
        self._rebuild_at = 0.0
        self._built_of: Mapping[str, Json] = {}
        self._wake = asyncio.Event()
        self._follows = asyncio.Event()
        self._follows.set()

    def want(self, wanted: VrrpRoleWanted) -> None:
        """Take another role as soon as may be."""
        if wanted.role is not self.role:
            self._wanted = wanted
            self._wake.set()

    def leadership_changed(self) -> None:
        """A term has begun or ended."""
        self._wake.set()

    async def follow(self) -> None:
        """Keep up with what the active edge writes, while this one does not lead."""
        while True:
            await self._follows.wait()
            try:
                await self._member.load_beneath()
                self._outdate()
                while self._follows.is_set():
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(LOOK_AGAIN):
                            async for _ in self._member.follow():
                                self._outdate()
                            break
            except EtcdError:
                await asyncio.sleep(PAUSE)

    async def run(self) -> None:
        """Take part until cancelled."""
        while not self._is_outdated:
            await self._woken(None)
        await self._controller.share_keys()
        await self._rebuild()
        self.ready.set()
        while True:
            if self._wanted is not None:
                await self._change(self._wanted)
            elif self._member.leadership.term is not self._term:
                await self._take_note_of_term()
            elif not self._is_behind:
                await self._woken(None)
            elif (wait := self._rebuild_at - self._clock()) > 0:
                await self._woken(wait)
            else:
                await self._rebuild()

    @property
    def _is_behind(self) -> bool:
        return self._is_outdated and self.role is VrrpRole.BACKUP

    async def _change(self, wanted: VrrpRoleWanted) -> None:
        """Be the router, or let the other edge be: packets first, and then who may write for the edge."""
        is_active = wanted.role is VrrpRole.ACTIVE
        self._member.act_early(is_active)
        with contextlib.suppress(EtcdError, TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._member.load_beneath()
        self.role = wanted.role
        self._wanted = None
        await self._rebuild()
        self._controller.report(
            f"vrrp.{wanted.role}", Severity.WARNING, self._edge, f"{_WORDS[is_active]}: {wanted.why}"
        )
        self._member.leadership.stand(is_active)
        if not is_active:
            with contextlib.suppress(EtcdError):
                await self._member.leadership.resign()

    async def _take_note_of_term(self) -> None:
        leadership = self._member.leadership
        self._term = term = leadership.term
        if term is None:
            self._follows.set()
            if leadership.was_taken_away and self.role is VrrpRole.ACTIVE:
                await self._controller.let_go()
            return
        self._follows.clear()
        while term is leadership.term:
            with contextlib.suppress(EtcdError):
                await self._member.load_beneath()
                await self._controller.share_keys()
                if self._member.read() != self._built_of and leadership.lacks_state:
                    await self._rebuild()
                leadership.took_up(term)
                return
            await asyncio.sleep(PAUSE)

    async def _rebuild(self) -> None:
        began = self._clock()
        self._is_outdated = False
        self._built_of = self._member.read()
        await self._controller.rebuild()
        ended = self._clock()
        self._rebuild_at = ended + max(TOGETHER, RESTED * (ended - began))

    def _outdate(self) -> None:
        if not self._is_behind:
            self._rebuild_at = max(self._rebuild_at, self._clock() + TOGETHER)
        self._is_outdated = True
        self._wake.set()

    async def _woken(self, seconds: float | None) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()


_WORDS = {True: "this edge is the router of the site", False: "the other edge is the router of the site"}
