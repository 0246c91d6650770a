"""gRPC between processes on the virtual clock: messages are late, wait where a network is cut, and come in their order.

`Network.channel` stands for `grpc.aio.insecure_channel`. What is sent is handed over as it is, without octets.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import grpc
import grpc.aio

from wayname_lab.fleet.loop import PROCESS, Process, VirtualLoop

# Of the messages that are lost; TCP sends them again after this time, and later.
SENT_AGAIN = (0.2, 1.6)
# Between two messages on the same way, in seconds.
APART = 1e-6


class Refused(Exception):
    """Why a server does not do what it was asked for, and what it says beside."""

    def __init__(self, code: grpc.StatusCode, details: str, trailing: Sequence[tuple[str, bytes]] = ()) -> None:
        super().__init__(details)
        self.code, self.details, self.trailing = code, details, trailing

    def as_error(self) -> grpc.aio.AioRpcError:
        """Return it as a client sees it."""
        none = grpc.aio.Metadata()
        return grpc.aio.AioRpcError(self.code, none, grpc.aio.Metadata(*self.trailing), self.details)


GONE = Refused(grpc.StatusCode.UNAVAILABLE, "Socket closed")
NOBODY = Refused(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses")
LATE = Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")


class Server(Protocol):
    """What answers at an address."""

    is_up: bool

    def ask(self, process: Process, method: str, request: Any, answer: Callable[[Any], None]) -> None:
        """Answer a request, now or later or never; `Refused` is an answer as well."""

    def open(self, stream: Stream) -> None:
        """Take a stream, whose `heard` and `closed` may be set."""


@dataclass(slots=True)
class Way:
    """From a process to a server and back, as a network carries messages now."""

    loop: VirtualLoop
    rng: random.Random
    delay: float = 0.001
    loss: float = 0.0
    is_cut: bool = False
    # What was sent and has not arrived, by its number: which way, and what it does there.
    _under_way: dict[int, tuple[int, Callable[[], object]]] = field(default_factory=dict)
    _sent: int = 0
    # When the last message each way arrives: none overtakes another.
    _last: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def carry(self, direction: int, arrive: Callable[[], object]) -> None:
        """Carry a message to the server (0) or from it (1)."""
        self._sent += 1
        number = self._sent
        self._under_way[number] = direction, arrive
        delay = self.rng.uniform(0.2, 1.0) * self.delay
        while self.rng.random() < self.loss:
            delay += self.rng.uniform(*SENT_AGAIN)
        now = self.loop.true_time
        self._last[direction] = at = max(now + delay, self._last[direction] + APART)
        self.loop.after(at - now, lambda: self._arrives(number))

    def _arrives(self, number: int) -> None:
        if not self.is_cut and (found := self._under_way.pop(number, None)) is not None:
            found[1]()

    def mend(self) -> None:
        """Carry everything well again, and what is under way at once."""
        self.is_cut, self.loss, self.delay, self._last = False, 0.0, 0.001, [0.0, 0.0]
        under_way, self._under_way = self._under_way, {}
        for direction, arrive in under_way.values():
            self.carry(direction, arrive)


class Network:
    """Servers by address, and a way to each from each process."""

    def __init__(self, loop: VirtualLoop, rng: random.Random) -> None:
        self.servers: dict[str, Server] = {}
        # Looks at each request when it leaves.
        self.sent: Callable[[Process, str, Any], None] = lambda _process, _method, _request: None
        self.streams: set[Stream] = set()
        self._loop, self._rng = loop, rng
        self._ways: dict[tuple[Process, str], Way] = {}

    def way(self, process: Process, address: str) -> Way:
        """Return the way between a process and a server."""
        key = process, address
        if key not in self._ways:
            self._ways[key] = Way(self._loop, self._rng)
        return self._ways[key]

    def ways(self, process: Process) -> list[Way]:
        """Return all ways of a process."""
        return [self.way(process, address) for address in self.servers]

    def channel(self, address: str, *_options: object, **_more: object) -> Channel:
        """Open a channel of the process that asks."""
        process = PROCESS.get()
        assert process is not None, "channels are of processes"
        return Channel(self, process, address)

    def dies(self, process: Process) -> None:
        """Close what a process has open, as its kernel does, and carry nothing of it any more."""
        for stream in [each for each in self.streams if each.process is process]:
            stream.cancel()
        process.is_dead = True

    async def unary(self, process: Process, address: str, method: str, request: Any, patience: float | None) -> Any:
        """Ask a server once."""
        if process.is_dead:
            raise GONE.as_error()
        self.sent(process, method, request)
        way, server = self.way(process, address), self.servers[address]
        answered: asyncio.Future[Any] = self._loop.create_future()

        def hear(answer: Any) -> None:
            if not answered.done() and not process.is_dead:
                answered.set_result(answer)

        def arrive() -> None:
            if not server.is_up:
                way.carry(1, lambda: hear(NOBODY))
            # Who has given up says so, and that comes right behind: a server may have begun all the same.
            elif not answered.done() or self._rng.random() < 0.5:
                server.ask(process, method, request, lambda answer: way.carry(1, lambda: hear(answer)))

        way.carry(0, arrive)
        try:
            async with asyncio.timeout(patience):
                answer = await answered
        except TimeoutError:
            raise LATE.as_error() from None
        if isinstance(answer, Refused):
            raise answer.as_error()
        return answer


@dataclass(eq=False, slots=True)
class Channel:
    """As of gRPC, as far as clients of etcd and of switches need it."""

    network: Network
    process: Process
    address: str

    def unary_unary(self, method: str, *_how: object, **_more: object) -> Callable[..., Any]:
        """As of gRPC."""

        async def call(request: Any, **how: Any) -> Any:
            return await self.network.unary(self.process, self.address, method, request, how.get("timeout"))

        return call

    def unary_stream(self, method: str, *_how: object, **_more: object) -> Callable[..., AsyncIterator[Any]]:
        """As of gRPC; here the whole answer comes at once."""

        async def call(request: Any, **how: Any) -> AsyncIterator[Any]:
            for each in await self.network.unary(self.process, self.address, method, request, how.get("timeout")):
                yield each

        return call

    def stream_stream(self, method: str, *_how: object, **_more: object) -> Callable[..., Stream]:
        """As of gRPC."""

        def call(timeout: float | None = None, **_rest: object) -> Stream:
            return Stream(self, method, timeout)

        return call

    async def close(self) -> None:
        """As of gRPC: what is open ends."""
        for stream in [each for each in self.network.streams if each.channel is self]:
            stream.cancel()


class Stream:
    """A call with messages both ways: the client's `write`, `read` and `cancel`, the server's `send` and `end`."""

    def __init__(self, channel: Channel, method: str, timeout: float | None) -> None:
        self.channel, self.process, self.method = channel, channel.process, method
        # The server's: what it is told.
        self.heard: Callable[[Any], None] = lambda _message: None
        self.closed: Callable[[], None] = lambda: None
        self._network = channel.network
        self._way = channel.network.way(channel.process, channel.address)
        self._server = channel.network.servers[channel.address]
        self._came: deque[Any] = deque()
        self._reads: asyncio.Future[None] | None = None
        self._ended: Refused | None = None
        self._is_done = False
        self._deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
        if self.process.is_dead:
            self._finish(GONE)
        else:
            self._network.streams.add(self)
            self._way.carry(0, self._open)

    def _open(self) -> None:
        if self._server.is_up:
            self._server.open(self)
        else:
            self.end(NOBODY)

    async def write(self, message: Any) -> None:
        """Send a message to the server."""
        if self._ended is not None:
            raise self._ended.as_error()
        if not self._is_done:
            self._network.sent(self.process, self.method, message)
            self._way.carry(0, lambda: self.heard(message))

    async def read(self) -> Any:
        """Return the next message, or gRPC's end."""
        try:
            async with asyncio.timeout_at(self._deadline):
                while not self._came and not self._is_done:
                    self._reads = asyncio.get_running_loop().create_future()
                    await self._reads
        except TimeoutError:
            self.cancel()
            raise LATE.as_error() from None
        if self._came:
            return self._came.popleft()
        if self._ended is not None:
            raise self._ended.as_error()
        return grpc.aio.EOF

    def cancel(self) -> bool:
        """End it, as the client."""
        if self._is_done:
            return False
        self._is_done = True
        self._network.streams.discard(self)
        if not self.process.is_dead:
            self._way.carry(0, lambda: self.closed())
        if self._reads is not None:
            self._reads.cancel()
        return True

    def done(self) -> bool:
        """Whether it has ended."""
        return self._is_done

    def send(self, message: Any) -> None:
        """Send a message to the client."""
        self._way.carry(1, lambda: self._take(message))

    def end(self, why: Refused) -> None:
        """End it, as the server."""
        self._way.carry(1, lambda: self._finish(why))

    def _take(self, message: Any) -> None:
        if not self._is_done:
            self._came.append(message)
            self._tell()

    def _finish(self, why: Refused) -> None:
        if not self._is_done:
            self._ended, self._is_done = why, True
            self._network.streams.discard(self)
            self._tell()

    def _tell(self) -> None:
        if self._reads is not None and not self._reads.done():
            self._reads.set_result(None)
