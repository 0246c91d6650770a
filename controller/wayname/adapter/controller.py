"""Runs an `Edge` on the wall clock: keeps the connection, feeds it, and carries out what it says."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from wayname.adapter.connection import Arbitrated, Connection, Refused, SwitchError
from wayname.adapter.dns_transport import DnsTransport
from wayname.adapter.events import EventRing, RecordedEvent
from wayname.adapter.input_queue import InputQueue
from wayname.adapter.modifier_searches import ModifierSearches
from wayname.adapter.state_file import StateFile
from wayname.composition.edge import Edge
from wayname.composition.protocols import PROTOCOLS, load_keys
from wayname.config.encapsulation.changes import Changes
from wayname.config.model import Config
from wayname.edge.boundary import (
    CancelDnsQuery,
    Captured,
    Command,
    DnsQuery,
    DnsResponse,
    Event,
    FindModifier,
    ModifierFound,
    Output,
    PacketOut,
    Persist,
    Severity,
    SwitchDown,
    SwitchUp,
    Write,
)
from wayname.identity.key_files import edge_key
from wayname.pipeline.entries import Readable, everything
from wayname.pipeline.program import load_program

# A switch that was restarted is found within a tenth of a second; one that stays away is asked once a second.
FIRST_WAIT = 0.1
LONGEST_WAIT = 1.0
OPEN_SECONDS = 5.0
# What was found beside the switch stays true when the switch comes back.
FOUND = (ModifierFound, DnsResponse)


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
    ) -> None:
        self.changes = Changes.load(config)
        self.config = config = replace(config, encapsulation=self.changes.read())
        self.schema = load_program(config.switch)
        # What the next controller must know is about sessions and identities only.
        lasting = config.identities or any(protocol.is_configured(config) for protocol in PROTOCOLS)
        self._memory = StateFile(config.controller.state) if lasting else None
        remembered = self._memory.read() if self._memory else {}
        wanted = config.identities
        key = edge_key(wanted.key, wanted.bits) if wanted else None
        self.edge = Edge(config, self.schema, rng or random.SystemRandom(), remembered, key, load_keys(config))
        self._searches = ModifierSearches(self._found)
        self._questions = DnsTransport(self._found)
        self.events = EventRing(config.controller.events)
        self.sessions = 0
        self.writes = 0
        self.failed_writes = 0
        self._replace_pipeline = replace_pipeline
        self._on_event = on_event
        self._on_captured = on_captured
        self._inputs: InputQueue[Connection | asyncio.Event | None] = InputQueue()
        self._active: Connection | None = None
        # A write that fails as a whole ends the session: what the switch then holds has to be read again.
        self._session: asyncio.Timeout | None = None
        self._trouble = ""
        self._unwritten = ""
        # Kinds of messages of which was told in this session that the switch refuses them.
        self._refused: set[str] = set()

    @property
    def connected(self) -> bool:
        """Whether the switch is there and listens to us."""
        return self._active is not None

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
        except ExceptionGroup as errors:
            lasting = errors.subgroup(SwitchError)
            raise (lasting or errors).exceptions[0] from None
        finally:
            if self._memory:
                self._memory.close()

    async def read(self, entities: Sequence[Readable]) -> list[Readable]:
        """Read entities, counters among them, from the switch."""
        if self._active is None:
            raise SwitchError(f"the switch at {self.config.switch.address} is not connected; `wayname events` says why")
        return await self._active.read(entities)

    async def command(self, command: Command) -> asyncio.Event:
        """Have the edge do something; the event that comes back is set when it is done."""
        done = asyncio.Event()
        await self._inputs.put(command, done)
        return done

    async def _found(self, found: ModifierFound | DnsResponse) -> None:
        await self._inputs.put(found, None)

    async def _keep_connected(self) -> None:
        wait, said = FIRST_WAIT, ""
        while True:
            connection = Connection(self.config.switch, self.schema)
            self._trouble = f"no answer from {self.config.switch.address} in {OPEN_SECONDS:g} s; is it a switch?"
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    await connection.open()
                if connection.is_primary:
                    wait, said = FIRST_WAIT, ""
                async with asyncio.timeout(None) as self._session:
                    await self._serve(connection)
            except (SwitchError, TimeoutError) as error:
                if isinstance(error, SwitchError) and error.lasting:
                    raise
                text = str(error) or self._trouble
                if text != said:
                    await self._inputs.put(SwitchDown(text), None)
                said = text
            finally:
                self._session = None
                await connection.close()
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, LONGEST_WAIT)

    async def _serve(self, connection: Connection) -> None:
        """Pass on what the switch says, from when it listens to us until the session ends."""
        self._refused.clear()
        await self._take_over(connection)
        async for said in connection.receive():
            match said:
                case Arbitrated():
                    await self._take_over(connection)
                case Refused():
                    self._note_refused(said)
                case _:
                    await self._inputs.put(said, connection)

    def _note_refused(self, refused: Refused) -> None:
        """Tell that the switch refused what was sent; of one kind once until the switch comes back."""
        if refused.kind not in self._refused:
            self._refused.add(refused.kind)
            now, address = asyncio.get_running_loop().time(), self.config.switch.address
            self._record(Event(now, "switch.refuses", Severity.ERROR, address, refused.text))

    async def _take_over(self, connection: Connection) -> None:
        if not connection.is_primary:
            address = self.config.switch.address
            text = f"the switch at {address} listens to another controller; this one waits until that one stops"
            await self._inputs.put(SwitchDown(text), None)
            return
        if await connection.secure_pipeline(self._replace_pipeline):
            loop = asyncio.get_running_loop()
            text = f"set the program {self.schema.name} {self.schema.version}"
            self._record(Event(loop.time(), "pipeline.set", Severity.INFO, self.config.switch.address, text))
        # Replaced once, whatever comes later is somebody's decision.
        self._replace_pipeline = False
        epoch = time.time() - asyncio.get_running_loop().time()
        await self._inputs.put(SwitchUp(await connection.read(everything()), epoch), connection)

    async def _drive(self) -> None:
        """Feed the edge and carry out what it says."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wait_for_input()
            batch = self._inputs.take()
            for input, origin in batch:
                if isinstance(input, SwitchUp | SwitchDown):
                    self._active = origin if isinstance(origin, Connection) else None
                    self.sessions += isinstance(input, SwitchUp)
                # What an earlier session said last is no longer true.
                if origin is self._active or isinstance(origin, asyncio.Event) or isinstance(input, FOUND):
                    self.edge.receive(input, loop.time())
            due = self.edge.next_timer()
            if due is not None and due <= loop.time():
                self.edge.handle_timer(loop.time())
            while outputs := self.edge.take_outputs():
                with self.edge.faults.contained("output Remember", loop.time()):
                    self._write_down([output for output in outputs if isinstance(output, Persist)])
                for output in outputs:
                    with self.edge.faults.contained(f"output {type(output).__name__}", loop.time()):
                        await self._carry_out(output)
            for _, origin in batch:
                if isinstance(origin, asyncio.Event):
                    origin.set()
            # Who reads from the switch has a turn as well, however much waits here.
            await asyncio.sleep(0)

    async def _wait_for_input(self) -> None:
        """Wait for the next input, or until a timer is due."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self.edge.next_timer()):
                await self._inputs.wait()

    async def _carry_out(self, output: Output) -> None:
        if isinstance(output, Persist):
            return
        if isinstance(output, Event):
            self._record(output)
            return
        if isinstance(output, FindModifier):
            self._searches.ask(output)
            return
        if isinstance(output, DnsQuery | CancelDnsQuery):
            self._questions.ask(output)
            return
        if isinstance(output, Captured):
            if self._on_captured:
                self._on_captured(output)
            return
        if self._active is None:
            return
        try:
            if isinstance(output, PacketOut):
                await self._active.send(output)
            elif isinstance(output, Write):
                self.writes += len(output.updates)
                for failed in await self._active.write(output):
                    self.failed_writes += 1
                    self.edge.receive(failed, asyncio.get_running_loop().time())
        except SwitchError as error:
            self._active, self._trouble = None, str(error)
            if self._session is not None:
                self._session.reschedule(asyncio.get_running_loop().time())

    def _write_down(self, remembers: Sequence[Persist]) -> None:
        """Write down what the next controller must know, before anything is done that it would have to know of."""
        if self._memory and remembers:
            self._note_unwritten(self._memory.put(*remembers))

    def _note_unwritten(self, trouble: str) -> None:
        """Tell once that nothing can be written down, and once that it can again."""
        if trouble != self._unwritten:
            self._unwritten = trouble
            severity, text = (Severity.WARNING, trouble) if trouble else (Severity.INFO, "is written again")
            at, file = asyncio.get_running_loop().time(), str(self.config.controller.state)
            self._record(Event(at, "state.unwritten" if trouble else "state.written", severity, file, text))

    def _record(self, event: Event) -> None:
        recorded = self.events.append(event)
        if self._on_event:
            self._on_event(recorded)
