"""What hosts of the soak do, run inside a namespace: `serve ADDRESS`, or `use ADDRESS`. It needs Python alone.

A client holds one connection for as long as it lives, and once a second opens a new one, asks by UDP, and pings. Each
second it writes what came of that as a line of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import cast

PORT = 7
PATIENCE = 1.0
# Seconds of silence after which a server asks whether its client is still there, and between three such questions.
# Flows of a switch that was killed may go by another provider: what their server held would meet a later connection
# with the same port.
IDLE, BETWEEN, QUESTIONS = 20, 10, 3
ECHO_REQUEST, ECHO_REPLY = 128, 129


class Echo(asyncio.DatagramProtocol):
    """Returns what comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """Send it back."""
        self.transport.sendto(data, address)


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """Let the kernel ask whether the other end is still there, and end the connection if it is not."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, IDLE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, BETWEEN)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, QUESTIONS)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


async def serve(at: str) -> None:
    """Return what comes by TCP and UDP to an address, for ever."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        keep_alive(writer)
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    await asyncio.get_running_loop().create_datagram_endpoint(Echo, local_addr=(at, PORT))
    async with await asyncio.start_server(echo, at, PORT) as server:
        await server.serve_forever()


class Client:
    """A host that uses another one all the time."""

    def __init__(self, to: str) -> None:
        self.to = to
        self.connection = self.echoed = 0
        self.ended = ""

    async def hold(self) -> None:
        """Hold a connection, with a line each fifth of a second; open another when it ends."""
        while True:
            writer = None
            try:
                reader, writer = await asyncio.open_connection(self.to, PORT)
                self.connection += 1
                told = asyncio.create_task(self._tell(writer))
                try:
                    while await reader.readline():
                        self.echoed += 1
                    self.ended = "closed by the peer"
                finally:
                    told.cancel()
            except OSError as error:
                self.ended = error.strerror or type(error).__name__
            if writer is not None:
                writer.close()
            await asyncio.sleep(0.5)

    async def _tell(self, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"line\n")
            await writer.drain()
            await asyncio.sleep(0.2)

    async def connects(self) -> bool:
        """Whether a new connection gets an answer."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            async with asyncio.timeout(PATIENCE):
                reader, writer = await asyncio.open_connection(self.to, PORT)
                try:
                    writer.write(b"word")
                    return await reader.readexactly(4) == b"word"
                finally:
                    writer.close()
        return False

    async def asks(self) -> bool:
        """Whether a datagram is answered."""
        return await self._answered(socket.SOCK_DGRAM, 0, b"question", lambda answer: answer == b"question")

    async def pings(self) -> bool:
        """Whether an echo request is answered."""
        request = struct.pack(">BBHHH", ECHO_REQUEST, 0, 0, os.getpid() & 0xFFFF, self.echoed & 0xFFFF)
        return await self._answered(
            socket.SOCK_RAW,
            socket.IPPROTO_ICMPV6,
            request,
            lambda answer: answer[:1] == bytes((ECHO_REPLY,)) and answer[4:] == request[4:],
        )

    async def _answered(self, kind: int, protocol: int, request: bytes, is_answer: Callable[[bytes], bool]) -> bool:
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET6, kind, protocol) as asking, contextlib.suppress(OSError):
            asking.setblocking(False)
            asking.connect((self.to, PORT if kind == socket.SOCK_DGRAM else 0))
            async with asyncio.timeout(PATIENCE):
                await loop.sock_sendall(asking, request)
                while not is_answer(await loop.sock_recv(asking, 2048)):
                    pass
                return True
        return False

    async def report(self) -> None:
        """Try all of it once a second, and say what came of it."""
        while True:
            began = time.monotonic()
            tcp, udp, ping = await asyncio.gather(self.connects(), self.asks(), self.pings())
            tried = {"began": began, "tcp": tcp, "udp": udp, "ping": ping}
            held = {"connection": self.connection, "echoed": self.echoed, "ended": self.ended}
            print(json.dumps(tried | held), flush=True)
            await asyncio.sleep(max(0.0, began + 1 - time.monotonic()))


async def use(to: str) -> None:
    """Be a client."""
    client = Client(to)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(client.hold())
        tasks.create_task(client.report())


def main(*words: str) -> None:
    """Be one of the two."""
    asyncio.run(serve(words[1]) if words[0] == "serve" else use(words[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
