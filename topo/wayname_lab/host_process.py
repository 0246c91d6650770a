"""A host in Python as a process at the end of a wire: JSON lines in and out, as `wayname-host` has them."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from pathlib import Path
from typing import Protocol

LONGEST_FRAME = 16384
# How soon a wire is looked for again, in seconds.
PAUSE = 0.02
# Frames that are taken before the host does something about them.
AT_ONCE = 64


class DrivenHost(Protocol):
    """A host that somebody else drives; times in nanoseconds."""

    def command(self, line: str) -> int | None:
        """Let the host do something."""

    def events(self) -> list[str]:
        """Return what happened since the last call, as JSON objects."""

    def set_link(self, up: bool, now: int) -> None:
        """Say that the link came or went."""

    def receive(self, frame: bytes, now: int) -> None:
        """Take a frame from the link."""

    def poll(self, now: int) -> list[bytes]:
        """Do everything that can be done now; return the frames that leave."""

    def next_wake(self, now: int) -> int | None:
        """Return when `poll` has something to do even if no frame comes."""


class HostProcess:
    """A host, its wire, its clock and whoever commands it."""

    def __init__(self, host: DrivenHost, wire: Path) -> None:
        self._host = host
        self._path = wire
        self._wire: socket.socket | None = None
        self._lost = asyncio.Event()
        self._wake: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Run until there is nobody left who commands."""
        attached = asyncio.create_task(self._stay_attached(), name="wire")
        try:
            await self._take_commands()
        finally:
            attached.cancel()
            await asyncio.gather(attached, return_exceptions=True)
            self._detach()

    async def _take_commands(self) -> None:
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        self._poll()
        async for line in lines:
            try:
                self._host.command(line.decode())
            except ValueError as error:
                _print(json.dumps({"at_ns": time.monotonic_ns(), "event": "refused", "text": str(error)}))
            self._poll()

    async def _stay_attached(self) -> None:
        """Find the other end of the wire, whenever it is there: it listens."""
        while True:
            wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            wire.setblocking(False)
            try:
                wire.connect(str(self._path))
            except OSError:
                wire.close()
                await asyncio.sleep(PAUSE)
                continue
            self._wire = wire
            self._lost.clear()
            self._host.set_link(True, time.monotonic_ns())
            asyncio.get_running_loop().add_reader(wire, self._take_frames, wire)
            self._poll()
            await self._lost.wait()
            self._detach()
            self._host.set_link(False, time.monotonic_ns())

    def _detach(self) -> None:
        if self._wire is not None:
            asyncio.get_running_loop().remove_reader(self._wire)
            self._wire.close()
            self._wire = None

    def _take_frames(self, wire: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                frame = wire.recv(LONGEST_FRAME)
            except BlockingIOError:
                break
            except OSError:
                frame = b""
            if not frame:
                asyncio.get_running_loop().remove_reader(wire)
                self._lost.set()
                break
            self._host.receive(frame, time.monotonic_ns())
        self._poll()

    def _poll(self) -> None:
        now = time.monotonic_ns()
        for frame in self._host.poll(now):
            self._send(frame)
        for event in self._host.events():
            _print(event)
        if self._wake is not None:
            self._wake.cancel()
        wake = self._host.next_wake(now)
        if wake is not None:
            self._wake = asyncio.get_running_loop().call_later(max(0, wake - now) / 1e9, self._poll)

    def _send(self, frame: bytes) -> None:
        if self._wire is not None:
            try:
                self._wire.send(frame)
            except BlockingIOError:
                return  # the other end reads too slowly: lost, as on a real wire
            except OSError:
                self._lost.set()


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
