"""Who controls an edge: elected by a lease of etcd, fenced by the switch itself.

A controller leads while the key `leader` of its edge is under the lease of its process. The revision at which that key
was made is the P4Runtime election id, so a switch refuses whoever led before, and remembers that over its own restarts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from wayname.edge.boundary import Severity
from wayname.fleet.etcd import Condition, CreatedAt, Delete, EtcdError, Get, KeyValue, Put, UnderLease
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.lease import PAUSE, Granted, Lease
from wayname.fleet.sealing import FORM, refusal

# Election ids have 128 bits: the epoch, and the revision.
EPOCH_SHIFT = 64
TAKEN_AWAY = "its key in etcd was taken away"
# How many leases an earlier self may lead: etcd may grant longer ones than it is asked for, and has all last anew when
# its members elect a leader.
EARLIER_SELF = 3


class FormError(Exception):
    """Somebody newer leads this edge, in one line."""


@dataclass(slots=True)
class Term:
    """The time in which a controller leads an edge."""

    election_id: int
    revision: int
    # That of its process; until when it lets the leader write.
    lease: Granted
    # It gives its key away: nothing is written any more, whether etcd answered to that or not.
    is_over: bool = False
    # Set when etcd answered to that, or did not.
    given_away: asyncio.Event = field(default_factory=asyncio.Event)

    def conditions(self, leader: bytes) -> tuple[Condition, ...]:
        """Under which conditions etcd carries out what this leader asks for; `leader` is the key that it made.

        Restored from a copy, etcd counts its revisions again, and another leader may have the same one.
        """
        return CreatedAt(leader, self.revision), UnderLease(leader, self.lease.number)


class Leadership:
    """Has a controller lead its edge, or wait until it may. `run` it; `elected` and `may_write` say how that stands."""

    def __init__(
        self,
        lease: Lease,
        keys: EdgeKeys,
        controller: str,
        report: Callable[[str, Severity, str, str], None],
        changed: Callable[[], None],
    ) -> None:
        self.term: Term | None = None
        # Whether somebody else may have led since the edge took up what was left: a term can end before it does so.
        self.lacks_state = False
        self._lease = lease
        self._etcd = lease.etcd
        self._keys = keys
        self._controller = controller
        self._report = report
        # Called when a term begins or ends, and when writing is allowed again.
        self._changed = changed
        self._begun = asyncio.Event()
        self._stands = asyncio.Event()
        self._stands.set()
        # A random name of the last term here: of the last one anywhere, if nobody else was elected since.
        self._last_term = b""
        # Why nothing is changed here, and what was reported last.
        self._said = self._about = ""
        # Behind which leader this one waits, by the revision of its key, and since when.
        self._behind, self._behind_since = 0, 0.0

    def may_write(self) -> bool:
        """Whether this controller leads, by its own clock."""
        term = self.term
        if term is None or term.is_over or term.lease.has_ended:
            return False
        return self._lease.clock() < term.lease.until

    def why_not(self) -> str:
        """Say why nothing may be changed here now; an empty text if it may."""
        if self.may_write():
            return ""
        edge = self._keys.edge
        if (term := self.term) is not None:
            if term.is_over:
                return f"this controller gives edge {edge} away, and another one is to lead it"
            if term.lease.has_ended:
                return f"this controller's lease in etcd has ended, and edge {edge} stays as it is until one is elected"
            if term.lease.trouble:
                return f"etcd does not answer, so edge {edge} stays as it is until it does ({term.lease.trouble})"
            # Nobody knows yet why: etcd may be late, or this process, as after it was stopped.
            return f"etcd has yet to confirm the lease by which this controller leads edge {edge}"
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

    def took_up(self, term: Term) -> None:
        """The edge has what was left before a term; where that is over, somebody else may have led meanwhile."""
        if term is self.term:
            self.lacks_state = False

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
                    await self._let_go(term)
                    # Others are to lead; if there is nobody, this one does again.
                    await asyncio.sleep(self._lease.seconds)
        finally:
            if (last := self.term) is not None:
                self._end(last, "it ends")
                with contextlib.suppress(EtcdError):
                    await self._give_away(last)

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
        try:
            # Who does not lead any more changes nothing.
            await self._etcd.transact(term.conditions(self._keys.leader), *more, Delete(self._keys.leader))
        finally:
            term.given_away.set()

    async def _let_go(self, term: Term) -> None:
        """Have etcd know that the key is given away: the lease goes on, and nobody else could lead."""
        while not term.lease.has_ended:
            with contextlib.suppress(EtcdError):
                await self._give_away(term)
                return
            await asyncio.sleep(PAUSE)

    async def withdraw(self) -> None:
        """Have no key of this process there, where no term is: its lease goes on, and nobody else could lead."""
        await self._etcd.transact([], Delete(self._keys.waiting_by(self._controller)))
        _, found = await self._look()
        if found is not None and self._lease.is_of(found.lease):
            await self._delete(found)

    async def _delete(self, found: KeyValue) -> None:
        await self._etcd.transact([CreatedAt(self._keys.leader, found.created)], Delete(self._keys.leader))

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
                elif self._lease.is_of(found.lease):
                    # Of an election of which no answer came: its revision is not known to be the newest here.
                    await self._delete(found)
                else:
                    self._wait_behind(found)
                    async for _ in self._looks(revision, found, self._lease.seconds):
                        self._wait_behind(found)
            except EtcdError as error:
                self._behind = 0
                self._say("fleet.unreachable", Severity.WARNING, str(error), f"no election: {error}")
                await asyncio.sleep(PAUSE)

    async def _try(self) -> Term | None:
        """Ask to lead, where nobody does."""
        # An election of which no answer comes may have been won: after that nothing here is known to be the newest.
        name = secrets.token_hex(8).encode()
        lease = await self._lease.hold()
        value = json.dumps({"form": FORM, "controller": self._controller}).encode()
        done = await self._etcd.transact(
            [CreatedAt(self._keys.leader, 0)],
            Get(self._keys.epoch),
            Get(self._keys.last_leader),
            Put(self._keys.last_leader, name),
            Put(self._keys.leader, value, lease.number),
        )
        if not done.succeeded:
            return None
        epoch, last = done.got
        election_id = (int(epoch.value) if epoch else 0) << EPOCH_SHIFT | done.revision
        self.lacks_state |= last is None or last.value != self._last_term
        self._last_term = name
        return Term(election_id, done.revision, lease)

    def _wait_behind(self, found: KeyValue) -> None:
        try:
            leader = json.loads(found.value)
            form, name = int(leader["form"]), str(leader["controller"])
        except (ValueError, TypeError, KeyError):
            form, name = FORM, "somebody else"
        if form > FORM:
            raise FormError(refusal(self._keys.leader.decode(), form))
        now = self._lease.clock()
        if found.created != self._behind:
            self._behind, self._behind_since = found.created, now
        if name != self._controller:
            text = f"{name} leads the edge, {self._controller} waits"
        elif now < self._behind_since + EARLIER_SELF * self._lease.seconds:
            text = f"{name} waits: its earlier self leads the edge until its lease ends, or another one has its name"
        else:
            text = f"another {name} leads the edge, this {name} waits: give each a [fleet] controller of its own"
            self._say(f"fleet.duplicate {name}", Severity.WARNING, text, text)
            return
        self._say(f"fleet.standby {name}", Severity.INFO, text, text)

    async def _look(self) -> tuple[int, KeyValue | None]:
        """Return who leads, and at which revision that was so: etcd may have forgotten the one at which it began."""
        revision, found = await self._etcd.below(self._keys.leader)
        return revision, found[0] if found else None

    def _looks(self, revision: int, found: KeyValue, seconds: float) -> AsyncIterator[None]:
        """Look every so many seconds, until there is another leader's key than was found at a revision."""
        return self._etcd.looks(self._keys.leader, revision, found.changed, seconds)

    async def _lead(self, term: Term) -> str:
        """Lead until the term ends; return why it did."""
        tasks = [asyncio.create_task(each(term)) for each in (self._follow_lease, self._watch, self._given_away)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow_lease(self, term: Term) -> str:
        """Tell that changes wait for etcd, and that they go on; return when the lease has ended."""
        lease = term.lease
        while not lease.has_ended:
            if lease.trouble:
                text = f"changes wait until etcd answers, packets are forwarded: {lease.trouble}"
                self._say("fleet.held", Severity.WARNING, lease.trouble, text)
            elif self._about:
                self._said = self._about = ""
                self._report("fleet.resumed", Severity.INFO, self._keys.edge, "etcd answers, and changes go on")
            await lease.changes()
            if not lease.trouble:
                self._changed()
        return "its lease has ended"

    async def _given_away(self, term: Term) -> str:
        await term.given_away.wait()
        return TAKEN_AWAY

    async def _watch(self, term: Term) -> str:
        """Return when the key is somebody else's, or gone while the lease lives: so a leader is drained."""
        while True:
            try:
                revision, found = await self._look()
                if found is None or (found.created, found.lease) != (term.revision, term.lease.number):
                    return TAKEN_AWAY
                async for _ in self._looks(revision, found, 10 * self._lease.seconds):
                    pass
            except EtcdError:
                await asyncio.sleep(PAUSE)

    def _say(self, about: str, severity: Severity, why: str, text: str) -> None:
        """Note why nothing is changed here, and report it unless the last report was about the same."""
        self._said = why
        if about != self._about:
            self._about = about
            self._report(about.partition(" ")[0], severity, self._keys.edge, text)
