"""The directory of a fleet: at each address of a host, what proves its locators and what its edge is reached by.

    form (1)  octets of the edge that speaks for the host

The leader of an edge writes it, under its process's lease. Whoever begins a session reads the one key that it needs,
and whoever finds nothing in time does as with hosts of no fleet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import IPv6Address
from itertools import islice

from wayname.edge.boundary import FindHost, HostFound, PublishHost, Severity
from wayname.fleet.etcd import (
    CHANGES_AT_ONCE,
    ChangedAt,
    Delete,
    Etcd,
    EtcdError,
    Get,
    KeyValue,
    Put,
    RefusedError,
)
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.leader_writes import LeaderWrites, NotLeadingError
from wayname.fleet.leadership import Leadership, Term
from wayname.fleet.lease import PAUSE
from wayname.fleet.sealing import refusal

# Of values here. An older controller has nothing of a newer one's but that.
FORM = 1
# The longest Shim6 message has 2048 octets, and what tells of a host fits into one.
MOST_OCTETS = 2112
# As long as somebody who has sent I1 waits before the next one. Packets go on meanwhile, between the identities.
PATIENCE = 4.0
# After etcd refused what is to be published. Where nobody answered in time, `PAUSE` after that.
LOOK_AGAIN = 5.0
_MEND = "; its role needs the prefixes of its hosts, see `Security` in docs/fleet.md"


class Directory:
    """Publishes hosts of this edge while it leads, and finds others'. `run` it."""

    def __init__(
        self,
        etcd: Etcd,
        keys: FleetKeys,
        edge: EdgeKeys,
        leadership: Leadership,
        report: Callable[[str, Severity, str, str], None],
        found: Callable[[HostFound], Awaitable[None]],
    ) -> None:
        """`found` hears of each answer."""
        self._etcd = etcd
        self._keys = keys
        self._edge = edge
        self._leadership = leadership
        self._report = report
        self._found = found
        self._questions: asyncio.Queue[FindHost] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._wanted: dict[IPv6Address, bytes] = {}
        # What etcd has of it since a term, or what it may have where no answer came.
        self._published: dict[IPv6Address, bytes] = {}
        self._unanswered: set[IPv6Address] = set()
        # Of which etcd may not have what is wanted: a move costs the same however many hosts there are.
        self._due: dict[IPv6Address, None] = {}
        self._term: Term | None = None
        self._writes = LeaderWrites(etcd, edge.leader, edge.published)
        self._trouble = ""

    def ask(self, wish: PublishHost | FindHost) -> None:
        """Publish a host, or find one; the edge bounds how many."""
        match wish:
            case FindHost():
                self._questions.put_nowait(wish)
            case PublishHost(address, None):
                self._wanted.pop(address, None)
                self._note(address)
            case PublishHost(address, bytes() as octets):
                self._wanted[address] = bytes([FORM]) + octets
                self._note(address)

    def _note(self, address: IPv6Address) -> None:
        """Have etcd take what is wanted of a host, unless it has."""
        if self._published.get(address) == self._wanted.get(address) and address not in self._unanswered:
            self._due.pop(address, None)
        else:
            self._due[address] = None
            self._changed.set()

    def begin_anew(self) -> None:
        """Another edge takes the place of the one here, and tells of its hosts at once."""
        self._due |= dict.fromkeys([*self._wanted, *self._published])
        self._wanted = {}

    def publish_anew(self) -> None:
        """Etcd may lack what it was told."""
        self._due |= dict.fromkeys([*self._wanted, *self._published])
        self._changed.set()

    def wake(self) -> None:
        """A term has begun or ended, or etcd answers again."""
        self._changed.set()

    async def run(self) -> None:
        """Publish and find until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._publish())
            while True:
                group.create_task(self._find(await self._questions.get()))

    async def _publish(self) -> None:
        patience = LOOK_AGAIN
        while True:
            try:
                async with asyncio.timeout(patience):
                    await self._changed.wait()
            except TimeoutError:
                pass
            self._changed.clear()
            trouble, patience = "", LOOK_AGAIN
            try:
                await self._settle()
            except EtcdError as error:
                patience, mend = (LOOK_AGAIN, _MEND) if isinstance(error, RefusedError) else (PAUSE, "")
                trouble = f"{error}{mend}; sessions begin by messages"
            if trouble != self._trouble:
                self._trouble = trouble
                kind, severity = ("unpublished", Severity.WARNING) if trouble else ("published", Severity.INFO)
                text = trouble or "the hosts of the edge are in the directory"
                self._report(f"directory.{kind}", severity, self._edge.edge, text)

    async def _settle(self) -> None:
        """Have etcd know all hosts of this edge, and none that is not here any more."""
        if self._leadership.term is not self._term:
            await self.withdraw()
        while (term := self._leadership.term) is not None and self._leadership.may_write():
            if term is not self._term:
                await self.withdraw()
                self._term = term
                self._due = dict.fromkeys(self._wanted)
            some = {each: self._wanted.get(each) for each in islice(self._due, CHANGES_AT_ONCE)}
            if not some or not await self._write(term, some):
                return

    async def _write(self, term: Term, values: Mapping[IPv6Address, bytes | None]) -> bool:
        """Have etcd take values of hosts; return whether this controller still leads."""
        operations = (
            Delete(self._keys.host(each)) if value is None else Put(self._keys.host(each), value, term.lease.number)
            for each, value in values.items()
        )
        # If no answer comes etcd may have it or not, so that it is written again, or deleted.
        self._published |= {each: value for each, value in values.items() if value is not None}
        self._unanswered |= values.keys()
        try:
            if not await self._writes.write(term, *operations):
                return True
        except NotLeadingError:
            return False
        for each, value in values.items():
            self._unanswered.discard(each)
            if value is None:
                self._published.pop(each, None)
            self._note(each)
        return True

    async def withdraw(self) -> None:
        """Have etcd forget what the last term published: the lease goes on, and whoever leads now has other hosts."""
        term = self._term
        while term is not None and self._published and not term.lease.has_ended:
            some = list(self._published)[:CHANGES_AT_ONCE]
            got = (await self._etcd.transact([], *(Get(self._keys.host(each)) for each in some))).got
            # What somebody else wrote there meanwhile stays.
            own = [
                found
                for each, found in zip(some, got, strict=True)
                if found
                and found.lease == term.lease.number
                and (found.value == self._published[each] or each in self._unanswered)
            ]
            unchanged = [ChangedAt(each.key, each.changed) for each in own]
            if not own or (await self._etcd.transact(unchanged, *(Delete(each.key) for each in own))).succeeded:
                for each in some:
                    del self._published[each]
        self._term, self._published, self._unanswered = None, {}, set()

    async def _find(self, question: FindHost) -> None:
        mine = question.asked_for
        if not self._leadership.may_write():
            # While etcd is away nobody waits for it.
            found = HostFound(question, None, "no answer")
        elif mine not in self._published or mine in self._due:
            # The other edge would not find us.
            found = HostFound(question, None, "unpublished")
        else:
            found = await self._read(question)
        await self._found(found)

    async def _read(self, question: FindHost) -> HostFound:
        key = self._keys.host(question.address)
        try:
            async with asyncio.timeout(PATIENCE):
                found = await self._get(key)
        except TimeoutError:
            return HostFound(question, None, "no answer")
        if found is None:
            return HostFound(question, None, "absent")
        form = found.value[0] if found.value else 0
        if form != FORM:
            text = f"{refusal(key.decode(), form, FORM)}; the session begins by messages"
            return HostFound(question, None, "newer", text)
        if len(found.value) > MOST_OCTETS:
            return HostFound(question, None, "too long")
        return HostFound(question, found.value[1:])

    async def _get(self, key: bytes) -> KeyValue | None:
        while True:
            try:
                return await self._etcd.get(key)
            except EtcdError:
                await asyncio.sleep(PAUSE)
