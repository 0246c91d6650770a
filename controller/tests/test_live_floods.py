"""Floods of a live switch by a host's port, as fast as it takes them: what its controller and others see of it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from floods import Attacker, Flood
from test_adapter import SWITCH, event, running
from test_punt_floods import LAN, ROUTER, SITE
from wire_host import WireHost

from wayname.adapter import Controller
from wayname.composition.configuration import parse_config
from wayname.wire.mac import Mac

PORTS = (1, 2, 4, 5)
ROUTER_MACS = {vlan: f"02:00:00:01:00:{vlan:02x}" for vlan in (10, 100, 200)}
FRAMES = 4096
SECONDS = 5.0
# Longer between probes than by default: hosts, controller and flood share a machine that may be busy with other work.
PROBE = 1.0
PATIENCE = 60


class Flooder:
    """A process that floods a port when it is told to."""

    def __init__(self, path: Path, floods: list[Flood], rate: float) -> None:
        command = [sys.executable, str(Path(__file__).parent / "flooder.py"), str(path), str(SECONDS), str(rate)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        for number in range(FRAMES):
            for flood in floods:
                frame = flood(number).encode()
                self._process.stdin.write(len(frame).to_bytes(2) + frame)
        self._process.stdin.write(bytes(2))
        self._process.stdin.flush()

    async def run(self) -> int:
        """Flood, and return how many frames were sent."""
        assert self._process.stdin is not None and self._process.stdout is not None
        assert await asyncio.to_thread(self._process.stdout.readline) == b"ready\n"
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return int(await asyncio.to_thread(self._process.stdout.readline))

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def live_switch(folder: Path) -> Iterator[int]:
    """A switch with a wire for each port; its P4Runtime port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    wires = [part for number in PORTS for part in ("-i", f"{number}@wire:{folder}/{number}")]
    address = f"127.0.0.1:{port}"
    command = [str(SWITCH), "--cpu-port", "510", "--device-id", "1", "--grpc-server-addr", address, *wires]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


@contextlib.asynccontextmanager
async def answering(*hosts: WireHost) -> AsyncIterator[None]:
    """Hosts that answer meanwhile."""
    tasks = [asyncio.create_task(host.run()) for host in hosts]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def floods_of(kind: str) -> list[Flood]:
    attacker = Attacker("02:00:00:00:00:11", "2001:db8:1::11", Mac.parse(ROUTER_MACS[10]))
    return {
        "advertisements and pings": [attacker.advertisements("2001:db8:1::11", ROUTER), attacker.pings(ROUTER)],
        "everything": [
            attacker.forged_advertisements(LAN, ROUTER),
            attacker.solicitations(ROUTER, LAN),
            attacker.router_solicitations(),
            attacker.forged_pings(ROUTER),
            attacker.forged_probes("2001:db8:100::2"),
            attacker.scan(LAN, forged=True),
            attacker.dhcpv6(),
        ],
    }[kind]


@pytest.mark.parametrize("rate", [40_000, 0], ids=["40,000 a second", "at any rate"])
@pytest.mark.parametrize("kind", ["advertisements and pings", "everything"])
async def test_next_hops_stay_up_and_others_are_answered(tmp_path: Path, kind: str, rate: float) -> None:
    other = WireHost(tmp_path / "2", "02:00:00:00:00:13", "2001:db8:1::13", ROUTER_MACS[10])
    first = WireHost(tmp_path / "4", "02:00:00:00:00:64", "2001:db8:100::1", ROUTER_MACS[100])
    second = WireHost(tmp_path / "5", "02:00:00:00:00:c8", "2001:db8:200::1", ROUTER_MACS[200])
    flooder = Flooder(tmp_path / "1", floods_of(kind), rate)
    try:
        async with asyncio.timeout(PATIENCE), answering(other, first, second):
            with live_switch(tmp_path) as port:
                config = parse_config(f'[switch]\naddress = "127.0.0.1:{port}"\n[timing]\nprobe = {PROBE}\n' + SITE)
                async with running(Controller(config)) as controller:
                    await event(controller, "nexthop.up")
                    await other.ping(ROUTER)
                    before = controller.events.last
                    flooding = asyncio.create_task(flooder.run())
                    other.forget()
                    while not flooding.done():
                        await other.ping_once(ROUTER)
                    sent = await flooding
                    # However slow the machine is, what was asked before this has been answered, or never will be.
                    asked = other.asked
                    await other.ping(ROUTER)
                    answered = min(other.answered, asked)
                    kinds = [each.event.kind for each in controller.events.since(before)]
    finally:
        flooder.end()
    print(f"{kind}: {sent / SECONDS:,.0f} frames a second; {answered} of {asked} pings of another host were answered")
    assert "nexthop.down" not in kinds
    assert sent > FRAMES
    assert answered * 2 >= asked
