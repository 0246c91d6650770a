"""Runs an `Edge` on the wall clock: keeps the connection, feeds it, and carries out what it says."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from finsy import P4Schema

from wayname.adapter.connection import Connection, SwitchError
from wayname.adapter.dns_transport import DnsTransport
from wayname.adapter.events import EventRing, RecordedEvent
from wayname.adapter.input_queue import InputQueue
from wayname.adapter.leading import Leading
from wayname.adapter.linux_feed import LinuxFeed
from wayname.adapter.memory import Memory
from wayname.adapter.modifier_searches import ModifierSearches
from wayname.adapter.reloads import Reload, Reloads
from wayname.adapter.switch_sessions import Origin, SwitchSessions
from wayname.adapter.switch_writer import SwitchWriter
from wayname.adapter.virtual_router import VirtualRouter
from wayname.composition.backup_edge import BackupEdge
from wayname.composition.edge import Edge
from wayname.composition.protocols import load_keys
from wayname.config.backup import as_backup
from wayname.config.encapsulation.changes import Changes
from wayname.config.load import RESTARTED_FOR, changed_keys
from wayname.config.model import Config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import (
    CancelDnsQuery,
    Captured,
    CloseCapture,
    Command,
    DnsQuery,
    DnsResponse,
    Event,
    FindHost,
    FindModifier,
    HostFound,
    Input,
    KernelChanges,
    LearnedFromProviders,
    LetGo,
    ModifierFound,
    OpenCapture,
    Output,
    PacketOut,
    Persist,
    PublishHost,
    Severity,
    SwitchDown,
    SwitchUp,
    VrrpRole,
    VrrpRoleWanted,
    Write,
)
from wayname.edge.provider_prefixes.manager import learned_before
from wayname.fleet.key_files import fetch, to_keep
from wayname.fleet.leadership import FormError, Term
from wayname.fleet.lease import Lease
from wayname.fleet.member import FleetMember
from wayname.fleet.sealing import SealError
from wayname.identity.key_files import KeyFileError, edge_key
from wayname.pipeline.entries import Readable, everything
from wayname.pipeline.program import load_program

# What was found beside the switch stays true when the switch comes back.
FOUND = (ModifierFound, DnsResponse, HostFound, KernelChanges)
# In a tuple, since a union would be made anew for each output.
TO_SWITCH = (PacketOut, Write)


class RefusedChangeError(Exception):
    """Why nothing can be changed now, in one line."""


class ReloadError(Exception):
    """Why a configuration cannot take the place of the one that runs, in one line."""


class Controller:
    """A running controller. `run` it; meanwhile others may look at `edge`, `events`, `connected`, and `read`."""

    def __init__(
        self,
        config: Config,
        *,
        replace_pipeline: bool = False,
        rng: random.Random | None = None,
        on_event: Callable[[RecordedEvent], None] | None = None,
        on_captured: Callable[[Captured], None] | None = None,
        lease: Lease | None = None,
        schema: P4Schema | None = None,
    ) -> None:
        """In a fleet, `lease` is that of this process, which runs it. `schema` is what the switch's program says."""
        self.schema = schema or load_program(config.switch)
        self._rng = rng or random.SystemRandom()
        self.fleet = self._fleet_member(config, lease)
        # Where the site has another edge beside this one: each has a switch of its own, which nobody else controls.
        self.virtual_router = self._virtual_router(config)
        self._leading = Leading(None if self.virtual_router else self.fleet, self._take_up)
        self._memory = Memory(config, self.fleet, self.report)
        config = self._as_learned(config)
        self.changes = Changes.load(config)
        self.config = replace(config, encapsulation=self.changes.read())
        self.edge = self._make_edge(self.config)
        self._searches = ModifierSearches(self._found)
        self._questions = DnsTransport(self._found)
        self.events = EventRing(config.controller.events)
        self.sessions = 0
        # Whether what follows from the configuration has been written since the switch is there.
        self.reconciled = False
        self._on_event = on_event
        self._on_captured = on_captured
        self._inputs: InputQueue[Origin] = InputQueue()
        self._switch = SwitchSessions(
            config.switch, self.schema, self._leading, self._inputs, self._record, replace_pipeline=replace_pipeline
        )
        linux = config.linux
        self._linux = (
            LinuxFeed(lambda: self.config, self._heard_kernel, self._record) if linux and linux.routes else None
        )
        self._writer = SwitchWriter(self._leading, self._tell_edge, self._switch.lose)
        self._reloads = Reloads(self._inputs.wake)
        self._captures: dict[int, OpenCapture] = {}

    @property
    def connected(self) -> bool:
        """Whether the switch is there and listens to us."""
        return self._writer.connection is not None

    @property
    def writes(self) -> int:
        """Updates that were sent to the switch."""
        return self._writer.writes

    @property
    def failed_writes(self) -> int:
        """Updates that it refused."""
        return self._writer.failed_writes

    @property
    def lost(self) -> Mapping[tuple[int, int], int]:
        """By class and port, packets for which there was no room here."""
        return self._inputs.lost

    @property
    def now(self) -> float:
        """The time of the edge's clock, in seconds."""
        return asyncio.get_running_loop().time()

    async def run(self) -> None:
        """Control the switch until cancelled; raise `SwitchError` for what trying again does not mend."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep_connected())
                group.create_task(self._drive())
                group.create_task(self._searches.run())
                group.create_task(self._questions.run())
                if self.fleet:
                    group.create_task(self.fleet.run())
                    group.create_task(self.fleet.write_anew())
                    group.create_task(self.fleet.directory.run())
                if self.virtual_router:
                    group.create_task(self.virtual_router.follow())
                    group.create_task(self.virtual_router.run())
                if self._linux:
                    group.create_task(self._linux.run())
        except ExceptionGroup as errors:
            lasting = errors.subgroup((SwitchError, FormError, KeyFileError, SealError))
            raise (lasting or errors).exceptions[0] from None
        finally:
            self._memory.close()

    def _fleet_member(self, config: Config, lease: Lease | None) -> FleetMember | None:
        if config.fleet is None:
            return None
        assert lease is not None, "whoever runs controllers of a fleet runs the lease of their process"
        stands = config.vrrp is None
        return FleetMember(config.fleet, lease, self.report, self._leadership_changed, self._found, stands=stands)

    def _virtual_router(self, config: Config) -> VirtualRouter | None:
        if config.fleet is None or config.vrrp is None or self.fleet is None:
            return None
        return VirtualRouter(config.fleet.edge, self.fleet, self, lambda: self.now)

    async def rebuild(self) -> None:
        """Have a new edge go on from what is written down."""
        await self._reloads.until_none()
        await self._reloads.begin(self._as_learned(self.config), self.changes, anew=True)

    async def let_go(self) -> None:
        """Have the edge tell the other edge of the site to take over."""
        await self._put_and_tell(LetGo())

    async def share_keys(self) -> None:
        """Take private keys of the edge from etcd that are not here, and bring it those that it has not."""
        fetch(self.config.key_files, self._memory.read())
        # Those that were made just now, or were there before the fleet was.
        await self._memory.write_down(list(to_keep(self.config.key_files, self._memory.read())))

    async def read(self, entities: Sequence[Readable]) -> list[Readable]:
        """Read entities, counters among them, from the switch."""
        connection = self._writer.connection
        if connection is None:
            raise SwitchError(f"the switch at {self.config.switch.address} is not connected; `wayname events` says why")
        return await connection.read(entities)

    async def command(self, command: Command) -> asyncio.Event:
        """Have the edge do something; the event that comes back is set when it is done.

        Raise `RefusedChangeError` where nothing can be changed now.
        """
        if (why := self.why_no_changes()) and not isinstance(command, CloseCapture):
            raise RefusedChangeError(why)
        return await self._put_and_tell(command)

    def why_no_changes(self) -> str:
        """Say why nothing can be changed now, or nothing."""
        if self._leading.is_taking_up:
            return "this controller leads since just now, and has yet to read what the one before left; ask again"
        return self.fleet.leadership.why_not() if self.fleet else ""

    async def _put_and_tell(self, input: Command | KernelChanges) -> asyncio.Event:
        done = asyncio.Event()
        await self._inputs.put(input, done)
        return done

    async def reload(self, config: Config) -> list[str]:
        """Go on by another configuration; return which of its sections changed, once the difference is written.

        To the edge of the new configuration the switch is as to a controller that was started again: what both want
        stays, and only the difference is written. Raise `ReloadError`, without effect, for what needs a restart.
        """
        if self._leading.leads and not self.may_write:
            raise ReloadError(self.why_no_changes())
        await self._reloads.until_none()
        if config.again and config.prefix_sources:
            config = config.again(self.edge.provider_prefixes.learned)
        changes = self.changes.over(config)
        config = replace(config, encapsulation=changes.read())
        changed = changed_keys(self.config, config)
        if fixed := [key for key in changed if {key, key.partition(".")[0]} & RESTARTED_FOR]:
            raise ReloadError(f"{', '.join(fixed)} cannot change while the controller runs: restart it, or undo that")
        if not changed:
            return []
        await self._reloads.begin(config, changes)
        return changed

    def _renumber(self, learned: LearnedFromProviders) -> None:
        """Go on by the same configuration with what providers say now; a reload by somebody comes first, and has it."""
        if self.config.again is None or self._reloads.are_waiting:
            return
        try:
            config = self.config.again(learned.learned)
            changes = self.changes.over(config)
            config = replace(config, encapsulation=changes.read())
        except ConfigError as error:
            self._refuse_prefixes("; ".join(error.lines))
            return
        self._reloads.begin(config, changes).add_done_callback(self._renumbered)

    def _renumbered(self, done: asyncio.Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            self._refuse_prefixes(str(error))

    def _refuse_prefixes(self, why: str) -> None:
        self.report("prefix.refused", Severity.ERROR, "providers", f"{why}; the prefixes from before stay in use")

    def _make_edge(self, config: Config, before: Edge | None = None) -> Edge:
        # What the next controller must know is about sessions, identities and pinholes only.
        self._memory.open(config)
        remembered = self._memory.read()
        wanted = config.identities
        key = edge_key(wanted.key, wanted.bits) if wanted else None
        arguments = self.schema, self._rng, remembered, key, load_keys(config)
        if self.virtual_router and self.virtual_router.role is VrrpRole.BACKUP:
            return BackupEdge(as_backup(config), *arguments, before=before, role=VrrpRole.BACKUP)
        return Edge(config, *arguments, before=before)

    async def _carry_out_reload(self, reload: Reload) -> None:
        """Put a new edge in the place of the old one, all of whose writes are on the switch."""
        entities = await self._writer.read(everything())
        try:
            # Nothing was written down since the last output of the old one, so it begins with all that that one knew.
            edge = self._make_edge(reload.config, None if reload.anew else self.edge)
        except Exception as error:
            if not reload.done.done():
                reload.done.set_exception(error)
            return
        edge.liveness.go_on(self.edge.liveness)
        now = asyncio.get_running_loop().time()
        if self.edge.kernel:
            # Before the switch is looked at, as at the start.
            edge.receive(self.edge.kernel.restated(), now)
        self.edge, self.config, self.changes = edge, reload.config, reload.changes
        if self.fleet:
            self.fleet.directory.begin_anew()
        if entities is not None:
            self.edge.receive(SwitchUp(entities, time.time() - now, resumed=True), now)
        for capture in self._captures.values():
            self.edge.receive(capture, now)

    def _tell_edge(self, input: Input) -> None:
        self.edge.receive(input, self.now)

    async def _found(self, found: ModifierFound | DnsResponse | HostFound) -> None:
        await self._inputs.put(found, None)

    async def _heard_kernel(self, changes: KernelChanges) -> None:
        """Have the edge take what the kernel said; the next part comes when this one is on the switch."""
        await (await self._put_and_tell(changes)).wait()

    async def _keep_connected(self) -> None:
        # What is on the switch and not wanted goes: so first it must be known what is wanted.
        if self._linux:
            await self._linux.ready.wait()
        if self.virtual_router:
            await self.virtual_router.ready.wait()
        await self._switch.run()

    async def _take_up(self, term: Term) -> bool:
        """Go on from what the leader before wrote down; return whether that could be read."""
        assert self.fleet is not None
        if not await self.fleet.load(term):
            return False
        fetch(self.config.key_files, self._memory.read())
        await self.rebuild()
        await self.share_keys()
        return True

    @property
    def may_write(self) -> bool:
        """Whether this controller may change what is on the switch."""
        return self._leading.may_write

    def _leadership_changed(self) -> None:
        """A term has begun or ended, or changes go on."""
        if self.virtual_router:
            self.virtual_router.leadership_changed()
            return
        if self._leading.is_overtaken and self._switch.is_open:
            self._writer.lose(SwitchError(self.why_no_changes() or "this controller was elected anew"))
        self._inputs.wake()

    def _as_learned(self, config: Config) -> Config:
        """Return a configuration with what providers said: it holds while no controller is there."""
        remembered = self._memory.read()
        if config.again is None or not config.prefix_sources or not remembered:
            return config
        return config.again(learned_before(config, remembered, time.time()))

    async def _drive(self) -> None:
        """Feed the edge and carry out what it says."""
        loop = asyncio.get_running_loop()
        while True:
            due = await self._wait_for_input()
            reload = self._reloads.take()
            if reload is not None:
                await self._carry_out_reload(reload)
            await self._writer.catch_up()
            batch = self._inputs.take(newcomers=self.may_write)
            for input, origin in batch:
                if isinstance(input, SwitchUp | SwitchDown):
                    self._writer.begin(origin if isinstance(origin, Connection) else None)
                    self.sessions += isinstance(input, SwitchUp)
                    self.reconciled = False
                    if self.virtual_router and isinstance(input, SwitchDown):
                        self.virtual_router.want(VrrpRoleWanted(VrrpRole.BACKUP, input.reason))
                elif isinstance(input, OpenCapture):
                    self._captures[input.number] = input
                elif isinstance(input, CloseCapture):
                    self._captures.pop(input.number, None)
                # What an earlier session said last is no longer true.
                if origin is self._writer.connection or isinstance(origin, asyncio.Event) or isinstance(input, FOUND):
                    self.edge.receive(input, loop.time())
            # What an input made due meanwhile is so in the next turn.
            if due is not None and due <= loop.time() and self._leading.leads:
                self.edge.handle_timer(loop.time())
            # The API and the watchdog have their turns while a million entries are compared.
            for _ in iter(self.edge.compare_some, False):
                await asyncio.sleep(0)
            while outputs := self.edge.take_outputs():
                with self.edge.faults.contained("output Remember", loop.time()):
                    remembers = [output for output in outputs if isinstance(output, Persist)]
                    await self._memory.write_down(remembers, lasts=self._leading.leads)
                self._writer.begin_turn()
                for output in outputs:
                    with self.edge.faults.contained(f"output {type(output).__name__}", loop.time()):
                        await self._carry_out(output)
            self.reconciled = self.connected
            if reload is not None and not reload.done.done():
                reload.done.set_result(None)
            for _, origin in batch:
                if isinstance(origin, asyncio.Event):
                    origin.set()

    async def _wait_for_input(self) -> float | None:
        """Wait for the next input, or until a timer is due; return when one is."""
        due = self.edge.next_timer() if self._leading.leads else None
        # To wake costs less than a timeout does, which cancels the task.
        alarm = None if due is None else asyncio.get_running_loop().call_at(due, self._inputs.wake)
        try:
            await self._inputs.wait()
        finally:
            if alarm is not None:
                alarm.cancel()
        return due

    async def _carry_out(self, output: Output) -> None:
        if isinstance(output, Persist):
            return
        if isinstance(output, TO_SWITCH):
            await self._writer.carry_out(output)
            return
        if isinstance(output, Event):
            self._record(output)
            return
        if isinstance(output, VrrpRoleWanted):
            if self.virtual_router:
                self.virtual_router.want(output)
            return
        if not self._leading.has_led:
            # Who has never led does nothing for the edge.
            return
        if isinstance(output, LearnedFromProviders):
            self._renumber(output)
            return
        if isinstance(output, FindModifier):
            self._searches.ask(output)
            return
        if isinstance(output, DnsQuery | CancelDnsQuery):
            self._questions.ask(output)
            return
        if isinstance(output, PublishHost | FindHost):
            if self.fleet:
                self.fleet.directory.ask(output)
            return
        if isinstance(output, Captured) and self._on_captured:
            self._on_captured(output)

    def report(self, kind: str, severity: Severity, subject: str, text: str) -> None:
        """Record an event of the controller itself."""
        self._record(Event(self.now, kind, severity, subject, text))

    def _record(self, event: Event) -> None:
        recorded = self.events.append(event)
        if self._on_event:
            self._on_event(recorded)
