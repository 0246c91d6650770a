"""Follows a kernel by netlink: all that it has, then each change; all again when changes were lost."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from wayname.edge.boundary import Event, KernelChanges, Severity
from wayname.netlink.messages import DUMPS, MULTICAST_GROUPS, Decoder, Kind, Message, dump_request

NAMESPACES = Path("/run/netns")
RETRY = 1.0
# A routing daemon that withdraws a hundred thousand routes at once does not overflow it.
RECEIVE_BUFFER = 64 << 20
DATAGRAM = 1 << 17
# Messages in one turn: few enough that a next hop that fails meanwhile is heard of soon.
MOST_AT_ONCE = 1000

_SO_RCVBUFFORCE = 33
_NETLINK_ADD_MEMBERSHIP, _SOL_NETLINK = 1, 270
_CLONE_NEWNET = 0x40000000
# The kernel changed while it told, or a message was lost: ask again.
_AGAIN = (errno.ENOBUFS, errno.EINTR, errno.EBUSY)


class KernelFeed:
    """Tells `told` what the kernel of a namespace has; it waits until each part is dealt with."""

    def __init__(
        self,
        namespace: str | None,
        told: Callable[[KernelChanges], Awaitable[None]],
        record: Callable[[Event], None],
    ) -> None:
        self._namespace = namespace
        self._told = told
        self._record = record
        self._decoder = Decoder()
        # Whether all was told once, or cannot be: only then is it known what should be on the switch.
        self.ready = asyncio.Event()

    async def run(self) -> None:
        """Follow the kernel until cancelled."""
        said = ""
        while True:
            try:
                with await self._open() as events:
                    _listen(events)
                    said = self._say(said, "")
                    await self._follow(events)
            except OSError as error:
                if error.errno in _AGAIN:
                    self._event(Severity.WARNING, "overflow", "netlink told more than was read; all is read again")
                    continue
                where = f"namespace {self._namespace}" if self._namespace else "this namespace"
                said = self._say(said, f"{where} cannot be followed ({error.strerror}); it is tried again")
                if not self.ready.is_set():
                    await self._told(KernelChanges((), begins=True, ends=True))
                    self.ready.set()
            await asyncio.sleep(RETRY)

    def _say(self, said: str, trouble: str) -> str:
        """Say once that the kernel cannot be followed, and once that it is."""
        if trouble and trouble != said:
            self._event(Severity.WARNING, "away", trouble)
        elif said and not trouble:
            self._event(Severity.INFO, "followed", "the kernel is followed again")
        return trouble

    def _event(self, severity: Severity, kind: str, text: str) -> None:
        now = asyncio.get_running_loop().time()
        self._record(Event(now, f"kernel.{kind}", severity, self._namespace or "netlink", text))

    async def _open(self) -> socket.socket:
        """Open a socket in the namespace: a thread of its own enters it, and ends."""
        with ThreadPoolExecutor(1) as thread:
            return await asyncio.get_running_loop().run_in_executor(thread, _open_in, self._namespace)

    async def _follow(self, events: socket.socket) -> None:
        # What is heard meanwhile is older or newer than the answers; at the end the newest of each is what counts.
        with await self._open() as asked:
            await self._ask_for_all(asked)
        self.ready.set()
        while True:
            messages = await self._changes(events)
            if messages:
                await self._told(KernelChanges(messages))

    async def _ask_for_all(self, asked: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        await self._told(KernelChanges((), begins=True))
        for sequence, kind in enumerate(DUMPS, 1):
            await loop.sock_sendall(asked, dump_request(kind, sequence))
            is_done = False
            while not is_done:
                said = list(self._decoder.decode(await loop.sock_recv(asked, DATAGRAM)))
                is_done = Kind.DONE in said
                await self._told(KernelChanges([each for each in said if not isinstance(each, Kind)]))
        await self._told(KernelChanges((), ends=True))

    async def _changes(self, events: socket.socket) -> list[Message]:
        """Return what waits, after at least one datagram."""
        octets = await asyncio.get_running_loop().sock_recv(events, DATAGRAM)
        messages = list(self._read(octets))
        with contextlib.suppress(BlockingIOError):
            while len(messages) < MOST_AT_ONCE:
                messages.extend(self._read(events.recv(DATAGRAM)))
        return messages

    def _read(self, octets: bytes) -> Iterator[Message]:
        return (each for each in self._decoder.decode(octets) if not isinstance(each, Kind))


def _listen(events: socket.socket) -> None:
    try:
        events.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, RECEIVE_BUFFER)
    except PermissionError:
        # Then it is as large as anybody may have it, and overflows sooner.
        events.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    for group in MULTICAST_GROUPS:
        events.setsockopt(_SOL_NETLINK, _NETLINK_ADD_MEMBERSHIP, group)


def _open_in(namespace: str | None) -> socket.socket:
    if namespace is not None:
        _enter(NAMESPACES / namespace)
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
    opened.bind((0, 0))
    return opened


def _enter(namespace: Path) -> None:
    """Put this thread into a network namespace; Python's own `os.setns` is there from 3.12 on."""
    with namespace.open() as opened:
        if ctypes.CDLL(None, use_errno=True).setns(opened.fileno(), _CLONE_NEWNET):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
