"""What the controller tells systemd, and when."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from wayname.cli.service_manager import ServiceManager, watchdog_period


@pytest.mark.parametrize("abstract", [False, True])
async def test_who_started_it_hears_that_it_is_ready_and_lives(
    abstract: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{tmp_path}/notify"
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(f"\0{name}" if abstract else name)
    heard.setblocking(False)
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}" if abstract else name)
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    telling = asyncio.create_task(ServiceManager().keep_told())
    loop = asyncio.get_running_loop()
    assert [await loop.sock_recv(heard, 99) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
    telling.cancel()


async def test_without_a_service_manager_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    await ServiceManager().keep_told()


def test_a_watchdog_of_another_process_is_not_this_one_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert watchdog_period() == 0
