"""Follows a kernel by netlink: all that it has, then each change; all again when changes were lost."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from wayname.adapter.kernel_backlog import DATAGRAM, KernelBacklog
from wayname.adapter.netlink_socket import listen, open_in
from wayname.edge.boundary import Event, KernelChanges, Severity
from wayname.netlink.messages import DUMPS, Decoder, Kind, Message, Route, dump_request, ends_dump

RETRY = 1.0
# What comes while one part is dealt with.
RECEIVE_BUFFER = 64 << 20
# Messages in one turn: few enough that a next hop that fails meanwhile is heard of soon.
MOST_AT_ONCE = 1000
# How long a route that went may take to come back: BIRD replaces a route by taking it away first, and FRR says that it
# has told all its routes (RFC 4724, section 2) before it has, so that its neighbour takes away what it had kept.
LINGER = 0.05
# How often all is asked for when routes go meanwhile, with a pause; and for how long what came of it is put up with.
TRIES = 10
PAUSE = 0.2
UNSURE_FOR = 10.0

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
        self.namespace = namespace
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
                    listen(events, RECEIVE_BUFFER)
                    said = self._say(said, "")
                    with contextlib.closing(KernelBacklog(events)) as backlog:
                        await self._follow(backlog)
                    continue
            except OSError as error:
                if error.errno in _AGAIN:
                    self._event(Severity.WARNING, "overflow", "netlink told more than was read; all is read again")
                    continue
                where = f"namespace {self.namespace}" if self.namespace else "this namespace"
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
        self._record(Event(now, f"kernel.{kind}", severity, self.namespace or "netlink", text))

    async def _open(self) -> socket.socket:
        """Open a socket in the namespace: a thread of its own enters it, and ends."""
        with ThreadPoolExecutor(1) as thread:
            return await asyncio.get_running_loop().run_in_executor(thread, open_in, self.namespace)

    async def _follow(self, backlog: KernelBacklog) -> None:
        """Follow the kernel, until all should be read again."""
        is_sure = await self._read_all(backlog)
        self.ready.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if is_sure else UNSURE_FOR):
                while True:
                    await backlog.wait()
                    messages = self._changes(backlog)
                    if _may_come_back(messages):
                        await asyncio.sleep(LINGER)
                        messages += self._changes(backlog)
                    if messages:
                        await self._told(KernelChanges(messages))

    async def _read_all(self, backlog: KernelBacklog) -> bool:
        """Tell all that the kernel has; whether that is sure to be all.

        The kernel goes through its routes and continues where it was by counting them. If others go meanwhile it
        leaves out as many, and says nothing. So what it tells counts if no route went; changes are told as ever.
        """
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(PAUSE)
            with await self._open() as asked:
                answers = await self._answers(asked)
            # What is heard meanwhile is older or newer than the answers; at the end the newest of each is what counts.
            backlog.read()
            heard = list(iter(lambda: self._changes(backlog), []))
            is_sure = not any(isinstance(each, Route) and each.is_gone for messages in heard for each in messages)
            if is_sure or attempt == TRIES - 1:
                # What may have holes takes nothing away.
                await self._tell_all(answers, is_sure or not self.ready.is_set())
            for messages in heard:
                await self._told(KernelChanges(messages))
            if is_sure:
                return True
        return False

    async def _answers(self, asked: socket.socket) -> list[bytes]:
        """Return what the kernel answers as it is: the sooner it is through, the less changes meanwhile."""
        loop = asyncio.get_running_loop()
        answers = []
        for sequence, kind in enumerate(DUMPS, 1):
            await loop.sock_sendall(asked, dump_request(kind, sequence))
            is_done = False
            while not is_done:
                answers.append(await loop.sock_recv(asked, DATAGRAM))
                is_done = ends_dump(answers[-1])
        return answers

    async def _tell_all(self, answers: Iterable[bytes], are_whole: bool) -> None:
        await self._told(KernelChanges((), begins=are_whole))
        for answer in answers:
            await self._told(KernelChanges(list(self._read(answer))))
        await self._told(KernelChanges((), ends=are_whole))

    def _changes(self, backlog: KernelBacklog) -> list[Message]:
        """Return what came, as much as is dealt with in one turn."""
        messages: list[Message] = []
        while len(messages) < MOST_AT_ONCE and (octets := backlog.take()) is not None:
            messages += self._read(octets)
        return messages

    def _read(self, octets: bytes) -> Iterator[Message]:
        return (each for each in self._decoder.decode(octets) if not isinstance(each, Kind))


def _may_come_back(messages: Sequence[Message]) -> bool:
    """Whether routes went, by no link's or neighbour's failure, and not so many that each wait would count."""
    are_few_routes = len(messages) < MOST_AT_ONCE and all(isinstance(each, Route) for each in messages)
    return are_few_routes and any(isinstance(each, Route) and each.is_gone for each in messages)
