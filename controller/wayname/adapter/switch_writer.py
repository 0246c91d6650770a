"""Carries out what the edge wants of its switch, in its order; what could not be written is caught up on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from wayname.adapter.connection import Connection, NotLeadingError, SwitchError
from wayname.adapter.leading import Leading
from wayname.edge.boundary import Input, PacketOut, SwitchUp, Write
from wayname.pipeline.entries import Entity, everything


class SwitchWriter:
    """Writes by the session of now, if there is one. `tell` is for the edge, `lose` ends the session."""

    def __init__(self, leading: Leading, tell: Callable[[Input], None], lose: Callable[[SwitchError], None]) -> None:
        self.writes = 0
        self.failed_writes = 0
        self._leading = leading
        self._tell = tell
        self._lose = lose
        self._connection: Connection | None = None
        # Whether the switch lacks what could not be written.
        self._is_behind = False
        # Whether a write of this turn did not go out; packets behind it would say what is not so.
        self._withheld = False

    @property
    def connection(self) -> Connection | None:
        """The session of now."""
        return self._connection

    def begin(self, connection: Connection | None) -> None:
        """Go on by another session, or by none."""
        self._connection, self._is_behind = connection, False

    def lose(self, error: SwitchError) -> None:
        """End the session with the switch: what that holds has to be read again."""
        self._connection = None
        self._lose(error)

    async def read(self, entities: Sequence[Entity]) -> list[Entity] | None:
        """Read entities for the edge; None where the session ends instead."""
        if self._connection is None:
            return None
        try:
            return await self._connection.read(entities)
        except SwitchError as error:
            self.lose(error)
            return None

    async def catch_up(self) -> None:
        """Write what could not be written, if anything: to the edge the switch is as after a reload."""
        if not self._is_behind or not self._leading.may_write:
            return
        self._is_behind = False
        entities = await self.read(everything())
        if entities is not None:
            self._tell(SwitchUp(entities, time.time() - asyncio.get_running_loop().time(), resumed=True))

    def begin_turn(self) -> None:
        """What follows is of another turn of the edge."""
        self._withheld = False

    async def carry_out(self, output: PacketOut | Write) -> None:
        """Send or write it. Who has never led does nothing for the edge."""
        if self._connection is None or not self._leading.has_led:
            return
        try:
            if isinstance(output, Write):
                await self._write(self._connection, output)
            elif not self._withheld:
                await self._connection.send(output)
        except SwitchError as error:
            self.lose(error)

    async def _write(self, connection: Connection, write: Write) -> None:
        if self._is_behind:
            self._withheld = True
            return
        try:
            refused = await connection.write(write)
        except NotLeadingError:
            self._is_behind = self._withheld = True
            return
        self.writes += len(write.updates)
        for failed in refused:
            self.failed_writes += 1
            self._tell(failed)
