"""Questions to DNS servers over UDP; the edge itself sends again what is not answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from wayname.edge.boundary import AskNames, NamesAnswered

QUEUED = 1000


class Questions:
    """Sends what it is asked to; `answered` hears of each answer of the very server."""

    def __init__(self, answered: Callable[[NamesAnswered], Awaitable[None]]) -> None:
        self._answered = answered
        self._asked: asyncio.Queue[AskNames] = asyncio.Queue()
        self._answers: asyncio.Queue[bytes] = asyncio.Queue(QUEUED)

    def ask(self, question: AskNames) -> None:
        """Send a message to a server."""
        self._asked.put_nowait(question)

    async def run(self) -> None:
        """Send and listen until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._send())
            group.create_task(self._listen())

    async def _send(self) -> None:
        transports: dict[tuple[str, int], asyncio.DatagramTransport] = {}
        loop = asyncio.get_running_loop()
        try:
            while True:
                question = await self._asked.get()
                server = str(question.server), question.port
                try:
                    if server not in transports:
                        # Connected, so that only this server's answers come; from a port by lot.
                        transports[server], _ = await loop.create_datagram_endpoint(
                            lambda: _Answers(self._answers), remote_addr=server
                        )
                    transports[server].sendto(question.message)
                except OSError:
                    # As good as a message that got lost.
                    continue
        finally:
            for transport in transports.values():
                transport.close()

    async def _listen(self) -> None:
        while True:
            await self._answered(NamesAnswered(await self._answers.get()))


class _Answers(asyncio.DatagramProtocol):
    def __init__(self, answers: asyncio.Queue[bytes]) -> None:
        self._answers = answers

    def datagram_received(self, data: bytes, _address: tuple[object, ...]) -> None:
        if not self._answers.full():
            self._answers.put_nowait(data)
