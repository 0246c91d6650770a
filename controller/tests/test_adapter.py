"""The controller against the real switch program, over gRPC and wires."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from wayname.adapter import Controller
from wayname.config import parse_config
from wayname.pipeline.program import REPOSITORY

SWITCH = REPOSITORY / "switch" / "target" / "release" / "wayname-switch"

CONFIG = """
[switch]
address = "127.0.0.1:{port}"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
addresses = ["2001:db8:2::1/64"]
"""


class SwitchProcess:
    """A switch with two wires, at an address that stays the same when it starts anew."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        wires = [part for n in (1, 2) for part in ("-i", f"{n}@wire:{self.folder}/{n}")]
        address = f"127.0.0.1:{self.port}"
        command = [SWITCH, "--cpu-port", "510", "--device-id", "1", "--grpc-server-addr", address, *wires]
        return subprocess.Popen([str(part) for part in command], stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[SwitchProcess]:
    process = SwitchProcess(tmp_path)
    yield process
    process.kill()


async def test_connects_and_writes(switch: SwitchProcess) -> None:
    controller = Controller(parse_config(CONFIG.format(port=switch.port)))
    running = asyncio.create_task(controller.run())
    async with asyncio.timeout(10):
        while not any(each.event.kind == "switch.up" for each in controller.events.since(0)):
            await controller.events.wait(controller.events.last)
    for each in controller.events.since(0):
        print(each)
    running.cancel()
