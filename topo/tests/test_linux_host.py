"""The traffic of Linux hosts, where the network is not there yet."""

import asyncio
import errno
import socket
from typing import Any

import pytest

from wayname_lab import linux_host
from wayname_lab.linux_host import LinuxHost, lost_if_unreachable


async def test_a_connection_is_made_as_soon_as_there_is_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = asyncio.open_connection
    answers = [OSError(errno.EHOSTUNREACH, "no way"), OSError(errno.ENETUNREACH, "no way")]

    async def later(*where: Any) -> Any:
        if answers:
            raise answers.pop()
        return await connect(*where)

    monkeypatch.setattr(asyncio, "open_connection", later)
    monkeypatch.setattr(linux_host, "AGAIN", 0)
    arrived: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.set_result(await reader.read())
        writer.close()

    listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    async with await asyncio.start_server(take, sock=listener):
        command = {"command": "tcp_send", "to": "::1", "port": listener.getsockname()[1], "bytes": 1000}
        host = LinuxHost()
        host.carry_out(command)
        assert await arrived == bytes(1000)
        await asyncio.gather(*host.flows.values())


async def test_a_refused_connection_ends_its_flow(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        port = listener.getsockname()[1]
    host = LinuxHost()
    host.carry_out({"command": "tcp_send", "to": "::1", "port": port, "bytes": 1000})
    await asyncio.gather(*host.flows.values())
    assert '"event": "tcp_done"' in capsys.readouterr().out


async def test_a_connection_that_is_stopped_sends_nothing_more() -> None:
    """The receiver gets a reset, not all that the sender's kernel had taken."""
    accepted: asyncio.Future[asyncio.StreamReader] = asyncio.get_running_loop().create_future()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set_result(reader)

    listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    async with await asyncio.start_server(take, sock=listener):
        host = LinuxHost()
        host.carry_out({"command": "tcp_send", "to": "::1", "port": listener.getsockname()[1]})
        reader = await accepted
        await reader.readexactly(1)
        host.carry_out({"command": "stop", "flow": next(iter(host.flows))})
        with pytest.raises(ConnectionResetError):
            await reader.read()


def test_only_a_missing_way_is_a_loss() -> None:
    with lost_if_unreachable():
        raise OSError(errno.EHOSTUNREACH, "no way")
    with pytest.raises(OSError, match="refused"), lost_if_unreachable():
        raise OSError(errno.ECONNREFUSED, "refused")
