"""The API's server against clients that keep it waiting: silent ones, slow ones, and very many."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from wayname.api import connection
from wayname.api.audit import Audit
from wayname.api.listeners import listen_unix, open_listeners
from wayname.api.server import serve
from wayname.config.api import ApiConfig
from wayname.config.api_address import UnixAddress, default_address, parse_address

# Overall: a test that takes as long has failed.
PATIENCE = 30.0
MOST = 16
LARGE = 32 * 2**20
NEVER = b"GET /never HTTP/1.1\r\nHost: api\r\n\r\n"

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """An API that reads a body, and answers with a word, with much, or never."""
    while (await receive()).get("more_body"):
        continue
    if scope["path"] == "/never":
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await asyncio.Event().wait()
    body = bytes(LARGE) if scope["path"] == "/large" else b"word"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "api"


@pytest.fixture
async def served(path: Path) -> AsyncIterator[None]:
    listeners = open_listeners(ApiConfig(socket=f"unix:{path}"))
    audit = Audit(lambda *_: None, time.monotonic)
    task = asyncio.create_task(serve(answer, listeners, MOST, audit, lambda: None))
    yield
    task.cancel()
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(asyncio.CancelledError):
            await task
    assert not await asyncio.to_thread(path.exists)


@contextlib.asynccontextmanager
async def client(path: Path, octets: bytes = b"") -> AsyncIterator[Client]:
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_unix_connection(path)
        try:
            writer.write(octets)
            yield reader, writer
        finally:
            writer.transport.abort()


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What still comes until the server ends the connection."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def asks(path: Path, target: str = "/") -> bytes:
    """An answer, on a connection of its own."""
    request = f"GET {target} HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n".encode()
    async with client(path, request) as (reader, _):
        return await ended(reader)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.05)


@pytest.mark.usefixtures("served", "impatient")
@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: api\r\n",
        b"POST / HTTP/1.1\r\nHost: api\r\nContent-Length: 100\r\n\r\nbegun",
        b"GET /large HTTP/1.1\r\nHost: api\r\n\r\n",
    ],
    ids=["nothing", "half a head", "half a body", "an answer that is not read"],
)
async def test_who_keeps_it_waiting_is_cut_off(path: Path, octets: bytes) -> None:
    # It reads nothing, so that only the other end can have ended it.
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.connect(str(path))
        waiting.sendall(octets)
        hung_up = select.poll()
        hung_up.register(waiting, 0)
        assert await asyncio.to_thread(hung_up.poll, PATIENCE * 1000)
    assert (await asks(path)).endswith(b"word")


@pytest.mark.usefixtures("served", "impatient")
async def test_a_head_that_comes_octet_by_octet_is_cut_off(path: Path) -> None:
    async with client(path, b"GET / HTTP/1.1\r\nX: ") as (reader, writer):
        ending = asyncio.create_task(ended(reader))
        while not ending.done():
            writer.write(b"y")
            await asyncio.wait({ending}, timeout=0.01)
        assert await ending == b""


@pytest.mark.usefixtures("served", "impatient")
async def test_an_answer_that_takes_long_is_none_of_the_clients_doing(path: Path) -> None:
    async with client(path, NEVER) as (never, _):
        await never.readuntil(b"begun")
        async with client(path) as (silent, _):
            await ended(silent)
        assert not never.at_eof()


@pytest.mark.usefixtures("served")
async def test_a_connection_is_used_again_and_again(path: Path) -> None:
    async with client(path) as (reader, writer):
        for _ in range(3):
            writer.write(b"POST / HTTP/1.1\r\nHost: api\r\nContent-Length: 1\r\n\r\nx")
            assert (await reader.readuntil(b"word")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.usefixtures("served")
async def test_a_thousand_silent_connections_deafen_nobody(path: Path) -> None:
    with capture_logs() as lines:
        async with contextlib.AsyncExitStack() as stack:
            clients = []
            for number in range(200):
                clients.append(await stack.enter_async_context(client(path)))
                if number % 50 == 49:
                    assert (await asks(path)).endswith(b"word")
            for reader, _ in clients[: -MOST // 4]:
                assert await ended(reader) == b""
    assert 1 <= len(lines) < 100
    assert {line["kind"] for line in lines} == {"api.crowded"}


@pytest.mark.usefixtures("served")
async def test_those_that_are_answered_stay_and_who_comes_is_refused(path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        # As many as there may be of one peer.
        clients = [await stack.enter_async_context(client(path, NEVER)) for _ in range(MOST // 4)]
        for reader, _ in clients:
            await reader.readuntil(b"begun")
        assert await asks(path) == b""
        assert not any(reader.at_eof() for reader, _ in clients)
        clients[0][1].transport.abort()
        while not await asks(path):
            continue


def test_the_socket_is_its_owners_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        with listen_unix(UnixAddress(path)):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_by_default_it_is_a_socket_in_a_folder_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert str(default_address()) == "unix:/run/wayname/api"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_address() == UnixAddress(tmp_path / ".local" / "state" / "wayname" / "api")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    address = default_address()
    assert parse_address(str(address)) == address
    with listen_unix(address):
        assert stat.S_IMODE(address.path.parent.stat().st_mode) == 0o700
