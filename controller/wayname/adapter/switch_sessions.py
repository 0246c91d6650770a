"""Connects to the switch, again whenever the session ends, and passes on what it says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeAlias

from finsy import P4Schema

from wayname.adapter.connection import Arbitrated, Connection, NotLeadingError, Refused, SwitchError
from wayname.adapter.input_queue import InputQueue
from wayname.adapter.leading import Leading
from wayname.config.model import SwitchConfig
from wayname.edge.boundary import Event, Severity, SwitchDown, SwitchUp
from wayname.fleet.leadership import Term
from wayname.pipeline.entries import everything

# A switch that was restarted is found within a tenth of a second; one that stays away is asked once a second.
FIRST_WAIT = 0.1
LONGEST_WAIT = 1.0
OPEN_SECONDS = 5.0
# A switch that restarts is back until then, and nobody has to start it.
RESTART_SECONDS = 5.0

# Where an input came from: a session, somebody who waits until it is dealt with, or nobody.
Origin: TypeAlias = Connection | asyncio.Event | None


class SwitchSessions:
    """One session at a time. What the switch says is put into `inputs`, with the session that it came by."""

    def __init__(
        self,
        config: SwitchConfig,
        schema: P4Schema,
        leading: Leading,
        inputs: InputQueue[Origin],
        record: Callable[[Event], None],
        *,
        replace_pipeline: bool,
    ) -> None:
        self._config = config
        self._schema = schema
        self._leading = leading
        self._inputs = inputs
        self._record = record
        self._replace_pipeline = replace_pipeline
        # A write that fails as a whole ends the session: what the switch then holds has to be read again.
        self._session: asyncio.Timeout | None = None
        # Why it was ended, or what a timeout means.
        self._trouble = SwitchError("")
        # Kinds of messages that the switch refused since the P4Runtime stream began, each told once.
        self._refused: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether there is one, if only to wait in it until the switch listens to this controller."""
        return self._session is not None

    def lose(self, error: SwitchError) -> None:
        """End the session: what the switch holds has to be read again."""
        self._trouble = error
        if self._session is not None:
            self._session.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> None:
        """Keep one until cancelled; raise `SwitchError` for what trying again does not mend."""
        wait, said = FIRST_WAIT, ""
        address, restarts_until = self._config.address, 0.0
        while True:
            term = await self._leading.elected()
            # Timers go on as well.
            self._inputs.wake()
            connection = self._connection(term)
            self._trouble = SwitchError(f"no answer from {address} in {OPEN_SECONDS:g} s; is it a switch?")
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    await connection.open()
                if connection.is_primary:
                    wait, said = FIRST_WAIT, ""
                async with asyncio.timeout(None) as self._session:
                    if term is not self._leading.term:
                        raise NotLeadingError
                    await self._serve(connection)
            except NotLeadingError:
                # It ended or waits between two messages; whoever leads goes on.
                said = ""
            except (SwitchError, TimeoutError) as error:
                if isinstance(error, SwitchError) and error.lasting:
                    raise
                text, now = str(error) or str(self._trouble), asyncio.get_running_loop().time()
                if self._trouble.away or (isinstance(error, SwitchError) and error.away):
                    if self._session is not None:
                        restarts_until = now + RESTART_SECONDS
                        text = f"the switch at {address} ended the session, as when it restarts; it is asked again"
                    elif now < restarts_until:
                        text = said
                if text != said:
                    await self._inputs.put(SwitchDown(text), None)
                said = text
            finally:
                self._session = None
                await connection.close()
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, LONGEST_WAIT)

    def _connection(self, term: Term | None) -> Connection:
        if term is None:
            return Connection(self._config, self._schema)
        leading = self._leading
        return Connection(
            self._config, self._schema, term.election_id, lambda: leading.term is term and leading.may_write
        )

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
            self._event("switch.refuses", Severity.ERROR, refused.text, message=refused.kind)

    async def _take_over(self, connection: Connection) -> None:
        if not connection.is_primary:
            address = self._config.address
            text = f"the switch at {address} listens to another controller; this one waits until that one stops"
            await self._inputs.put(SwitchDown(text), None)
            await self._leading.outbid(connection.highest_election_id)
            return
        if await connection.secure_pipeline(self._replace_pipeline):
            self._event("pipeline.set", Severity.INFO, f"set the program {self._schema.name} {self._schema.version}")
        # Replaced once, whatever comes later is somebody's decision.
        self._replace_pipeline = False
        epoch = time.time() - asyncio.get_running_loop().time()
        await self._inputs.put(SwitchUp(await connection.read(everything()), epoch), connection)

    def _event(self, kind: str, severity: Severity, text: str, **details: str) -> None:
        now = asyncio.get_running_loop().time()
        self._record(Event(now, kind, severity, self._config.address, text, details))
