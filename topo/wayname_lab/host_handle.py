"""A host's process: commands go in as JSON lines, events come out as JSON lines; docs/host.md lists both."""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import Any

from wayname_lab.load import LabError

Event = dict[str, Any]
Take = Callable[[str, Event], None]


class HostHandle:
    """A host that runs beside the lab."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, take: Take) -> None:
        self.name = name
        self.has_address = False
        self._process = process
        self._take = take
        self._answers: deque[tuple[str, asyncio.Future[int]]] = deque()
        self._reader = asyncio.create_task(self._read(), name=f"host {name}")

    async def start(self, command: dict[str, Any]) -> int:
        """Let the host begin something; return the flow's number."""
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._answers.append((command["command"], answer))
        self._write(command)
        return await answer

    def stop(self, flow: int) -> None:
        """Let the host end a flow."""
        self._write({"command": "stop", "flow": flow})

    async def close(self) -> None:
        """Stop listening to the host."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    def _write(self, command: dict[str, Any]) -> None:
        if self._process.stdin is not None and self._process.returncode is None:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")

    async def _read(self) -> None:
        if self._process.stdout is None:
            raise LabError(f"host {self.name} was started without its events")
        async for line in self._process.stdout:
            self._handle(json.loads(line))
        for _, answer in self._answers:
            answer.set_exception(LabError(f"host {self.name} has ended"))

    def _handle(self, event: Event) -> None:
        kind = event["event"]
        if kind == "address_added" and not event["address"].startswith("fe80"):
            self.has_address = True
        if kind == "refused" and self._answers:
            self._answers.popleft()[1].set_exception(LabError(f"host {self.name}: {event['text']}"))
        # A connection that a server accepted starts a program too; that one answers no command.
        if kind == "started" and self._answers and self._answers[0][0] == event["app"]:
            self._answers.popleft()[1].set_result(event["flow"])
        self._take(self.name, event)
