"""Questions to DNS servers, each from a port of its own; the edge itself sends again what is not answered.

The operating system chooses the port, at random, and hands on what comes to it from the server's address and port only
(RFC 5452, section 9.2). It is open for as long as the edge waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from wayname.config.names import Transport
from wayname.edge.boundary import CancelDnsQuery, DnsQuery, DnsResponse

# Answers to one question that nobody has looked at yet: whoever sends more guesses.
QUEUED = 16
# Questions under way; more are as good as lost.
MOST = 256
LENGTH_OCTETS = 2


class DnsTransport:
    """Asks what it is asked to; `answered` hears of each answer of the very server at the very port."""

    def __init__(self, answered: Callable[[DnsResponse], Awaitable[None]]) -> None:
        self._answered = answered
        self._wishes: asyncio.Queue[DnsQuery | CancelDnsQuery] = asyncio.Queue()
        self._asked: dict[DnsQuery, asyncio.Task[None]] = {}

    def ask(self, wish: DnsQuery | CancelDnsQuery) -> None:
        """Send a message to a server, or wait no more for its answers."""
        self._wishes.put_nowait(wish)

    async def run(self) -> None:
        """Send and listen until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                match await self._wishes.get():
                    case CancelDnsQuery(question):
                        if (task := self._asked.pop(question, None)) is not None:
                            task.cancel()
                    case DnsQuery() as question if len(self._asked) < MOST:
                        self._asked[question] = group.create_task(self._exchange(question))

    async def _exchange(self, question: DnsQuery) -> None:
        try:
            if question.transport is Transport.UDP:
                await self._by_udp(question)
            else:
                await self._by_tcp(question)
        except (OSError, asyncio.IncompleteReadError):
            # As good as a message that got lost.
            self._asked.pop(question, None)

    async def _by_udp(self, question: DnsQuery) -> None:
        answers: asyncio.Queue[bytes] = asyncio.Queue(QUEUED)
        server = str(question.server), question.port
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(lambda: _Answers(answers), remote_addr=server)
        try:
            transport.sendto(question.message)
            while True:
                await self._answered(DnsResponse(question, await answers.get()))
        finally:
            transport.close()

    async def _by_tcp(self, question: DnsQuery) -> None:
        reader, writer = await asyncio.open_connection(str(question.server), question.port)
        try:
            writer.write(len(question.message).to_bytes(LENGTH_OCTETS) + question.message)
            length = int.from_bytes(await reader.readexactly(LENGTH_OCTETS))
            await self._answered(DnsResponse(question, await reader.readexactly(length)))
        finally:
            writer.close()


class _Answers(asyncio.DatagramProtocol):
    def __init__(self, answers: asyncio.Queue[bytes]) -> None:
        self._answers = answers

    def datagram_received(self, data: bytes, _address: tuple[object, ...]) -> None:
        if not self._answers.full():
            self._answers.put_nowait(data)
