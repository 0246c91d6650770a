"""Who controls an edge: elected by a lease of etcd, fenced by the switch itself.

A controller leads while the key `leader` of its edge is under its lease. The revision at which that key was made is the
P4Runtime election id, so a switch refuses whoever led before, and remembers that over its own restarts. A leader stops
writing before its lease can have ended, by a clock that goes on while the process or the machine is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from wayname.edge.boundary import Severity
from wayname.fleet.etcd import CreatedAt, Delete, Etcd, EtcdError, Get, KeyValue, Put
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.sealing import FORM, refusal

# Of the time that etcd grants: how often it is asked for more, how long an answer may take, and how long before its end
# nothing is written any more. A write that is under way has that long to arrive.
RENEWALS = 5
PATIENCE = 1 / 4
MARGIN = 1 / 5
# After etcd did not answer.
PAUSE = 0.2
# Election ids have 128 bits: the epoch, and the revision.
EPOCH_SHIFT = 64
TAKEN_AWAY = "its key in etcd was taken away"


class FormError(Exception):
    """Somebody newer leads this edge, in one line."""


def boot_time() -> float:
    """The seconds since the machine started, those that it slept too, which CLOCK_MONOTONIC leaves out."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(slots=True)
class Term:
    """The time in which a controller leads an edge."""

    election_id: int
    revision: int
    lease: int
    # Whether somebody else may have led since this controller did.
    is_anew: bool
    # When, by the leader's clock, it stops writing.
    until: float
    # It gives its key away: nothing is written any more, whether etcd answered to that or not.
    is_over: bool = False


class Leadership:
    """Has a controller lead its edge, or wait until it may. `run` it; `elected` and `may_write` say how that stands."""

    def __init__(
        self,
        etcd: Etcd,
        keys: EdgeKeys,
        controller: str,
        lease: int,
        report: Callable[[str, Severity, str, str], None],
        changed: Callable[[], None],
        clock: Callable[[], float] = boot_time,
    ) -> None:
        self.term: Term | None = None
        self._etcd = etcd
        self._keys = keys
        self._controller = controller
        self._lease = lease
        self._report = report
        # Called when a term begins or ends, and when writing is allowed again.
        self._changed = changed
        self._clock = clock
        self._begun = asyncio.Event()
        self._stands = asyncio.Event()
        self._stands.set()
        # A random name of the last term here: of the last one anywhere, if nobody else was elected since.
        self._last_term = b""
        # Why nothing is changed here, and what was reported last.
        self._said = self._about = ""

    def may_write(self) -> bool:
        """Whether this controller leads, by its own clock."""
        return self.term is not None and not self.term.is_over and self._clock() < self.term.until

    def why_not(self) -> str:
        """Say why nothing may be changed here now; an empty text if it may."""
        if self.may_write():
            return ""
        edge = self._keys.edge
        if self.term is not None:
            return f"etcd does not answer, so edge {edge} stays as it is until it does ({self._said})"
        return f"this controller does not lead edge {edge}: {self._said or 'it is not elected yet'}"

    def stand(self, is_candidate: bool) -> None:
        """Stand for election, or not any more; a term that has begun goes on until it is given away."""
        if is_candidate:
            self._stands.set()
        else:
            self._stands.clear()
            self._said = "the other edge is the router of the site" if self.term is None else self._said

    @property
    def was_taken_away(self) -> bool:
        """Whether the last term ended since somebody took the key: so an edge is drained."""
        return self.term is None and self._said == TAKEN_AWAY

    async def elected(self) -> Term:
        """Wait until this controller leads."""
        while self.term is None:
            await self._begun.wait()
        return self.term

    async def run(self) -> None:
        """Campaign and lead until cancelled; then let go, so that a successor need not wait for the lease's end."""
        try:
            while True:
                term = await self._campaign()
                self.term, self._said, self._about = term, "", ""
                self._begun.set()
                self._report("fleet.leads", Severity.INFO, self._keys.edge, f"{self._controller} leads the edge")
                self._changed()
                why = await self._lead(term)
                self._end(term, why)
                if why == TAKEN_AWAY:
                    # Others are to lead; if there is nobody, this one does again.
                    await asyncio.sleep(self._lease)
        finally:
            if self.term is not None:
                lease = self.term.lease
                self._end(self.term, "it ends")
                with contextlib.suppress(EtcdError):
                    await self._etcd.revoke(lease)

    async def outbid(self, highest: int) -> None:
        """The switch has heard a higher election id than this term's, though nobody else leads: begin a new epoch."""
        term = self.term
        if term is None or highest <= term.election_id:
            return
        epoch = Put(self._keys.epoch, str((highest >> EPOCH_SHIFT) + 1).encode())
        with contextlib.suppress(EtcdError):
            await self._give_away(term, epoch)

    async def resign(self) -> None:
        """Let somebody else lead."""
        if term := self.term:
            await self._give_away(term)

    async def _give_away(self, term: Term, *more: Put) -> None:
        term.is_over = True
        # Who does not lead any more changes nothing.
        await self._etcd.transact([CreatedAt(self._keys.leader, term.revision)], *more, Delete(self._keys.leader))

    def _end(self, term: Term, why: str) -> None:
        self.term = None
        self._begun.clear()
        self._said, self._about = why, "fleet.ended"
        self._report("fleet.ended", Severity.WARNING, self._keys.edge, f"{self._controller} leads no more: {why}")
        self._changed()

    async def _campaign(self) -> Term:
        while True:
            await self._stands.wait()
            try:
                revision, found = await self._look()
                if found is None:
                    term = await self._try()
                    if term is not None:
                        return term
                    continue
                self._wait_behind(found)
                await self._changes(revision, self._lease)
            except EtcdError as error:
                self._say("fleet.unreachable", Severity.WARNING, str(error), f"no election: {error}")
                await asyncio.sleep(PAUSE)

    async def _try(self) -> Term | None:
        """Ask to lead, where nobody does."""
        asked = self._clock()
        # An election of which no answer comes may have been won: after that nothing here is known to be the newest.
        name = secrets.token_hex(8).encode()
        lease, granted = await self._etcd.grant(self._lease)
        value = json.dumps({"form": FORM, "controller": self._controller}).encode()
        done = await self._etcd.transact(
            [CreatedAt(self._keys.leader, 0)],
            Get(self._keys.epoch),
            Get(self._keys.last_leader),
            Put(self._keys.last_leader, name),
            Put(self._keys.leader, value, lease),
        )
        if not done.succeeded:
            await self._etcd.revoke(lease)
            return None
        epoch, last = done.got
        election_id = (int(epoch.value) if epoch else 0) << EPOCH_SHIFT | done.revision
        is_anew = last is None or last.value != self._last_term
        self._last_term = name
        return Term(election_id, done.revision, lease, is_anew, asked + granted * (1 - MARGIN))

    def _wait_behind(self, found: KeyValue) -> None:
        try:
            leader = json.loads(found.value)
            form, name = int(leader["form"]), str(leader["controller"])
        except (ValueError, TypeError, KeyError):
            form, name = FORM, "somebody else"
        if form > FORM:
            raise FormError(refusal(self._keys.leader.decode(), form))
        text = f"{name} leads the edge, {self._controller} waits"
        self._say(f"fleet.standby {name}", Severity.INFO, text, text)

    async def _look(self) -> tuple[int, KeyValue | None]:
        """Return who leads, and at which revision that was so: etcd may have forgotten the one at which it began."""
        revision, found = await self._etcd.below(self._keys.leader)
        return revision, found[0] if found else None

    async def _changes(self, revision: int, seconds: float) -> None:
        """Wait for another leader's key than at a revision, or for some seconds: who tells of it may be cut off."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                async for _ in self._etcd.watch(self._keys.leader, revision + 1):
                    return

    async def _lead(self, term: Term) -> str:
        """Keep the lease until the term ends; return why it did."""
        renewing = asyncio.create_task(self._renew(term))
        watching = asyncio.create_task(self._watch(term))
        try:
            done, _ = await asyncio.wait((renewing, watching), return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for task in (renewing, watching):
                task.cancel()
            await asyncio.gather(renewing, watching, return_exceptions=True)

    async def _renew(self, term: Term) -> str:
        granted = float(self._lease)
        while not term.is_over:
            asked = self._clock()
            try:
                granted = await self._etcd.keep_alive(term.lease, granted * PATIENCE)
            except EtcdError as error:
                if self._clock() >= term.until:
                    text = f"changes wait until etcd answers, packets are forwarded: {error}"
                    self._say("fleet.held", Severity.WARNING, str(error), text)
                await asyncio.sleep(min(PAUSE, self._lease / RENEWALS))
                continue
            if not granted:
                return "its lease has ended"
            held, term.until = asked >= term.until, asked + granted * (1 - MARGIN)
            if self._about:
                self._said = self._about = ""
                self._report("fleet.resumed", Severity.INFO, self._keys.edge, "etcd answers, and changes go on")
            if held:
                self._changed()
            await asyncio.sleep(granted / RENEWALS)
        return TAKEN_AWAY

    async def _watch(self, term: Term) -> str:
        """Return when the key is somebody else's, or gone while the lease lives: so a leader is drained."""
        while True:
            try:
                revision, found = await self._look()
                if found is None or found.created != term.revision:
                    return TAKEN_AWAY
                await self._changes(revision, 10 * self._lease)
            except EtcdError:
                await asyncio.sleep(PAUSE)

    def _say(self, about: str, severity: Severity, why: str, text: str) -> None:
        """Note why nothing is changed here, and report it unless the last report was about the same."""
        self._said = why
        if about != self._about:
            self._about = about
            self._report(about.partition(" ")[0], severity, self._keys.edge, text)
