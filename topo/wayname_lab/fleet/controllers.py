"""Controllers of one edge, as they run live, each in a process of its own on the virtual clock."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from ipaddress import IPv6Network
from pathlib import Path
from unittest import mock

from finsy import P4Schema

from wayname.adapter.controller import Controller, RefusedChangeError
from wayname.adapter.events import RecordedEvent
from wayname.composition.configuration import parse_config
from wayname.config.model import Config, SwitchConfig
from wayname.config.simple_security import Pinhole
from wayname.edge.boundary import SetPinhole
from wayname.fleet.etcd import EtcdError
from wayname.pipeline.program import load_program
from wayname_lab.fleet.loop import PROCESS, Process, VirtualLoop
from wayname_lab.fleet.network import Network
from wayname_lab.fleet.rules import Rules

SWITCH = "127.0.0.1:9559"
EDGE = "berlin"
# What the clock of a wall shows when the virtual one begins.
BEGINS = 1_700_000_000.0
CONFIG = """
[switch]
address = "{switch}"
device_id = {device}
[fleet]
endpoints = [{endpoints}]
edge = "{edge}"
controller = "{name}"
sealing_key = "fleet.key"
lease = {lease}
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 100
[[interface]]
vlan = 10
addresses = ["fd12:3456:789a:10::1/64"]
[[interface]]
vlan = 100
addresses = ["2001:db8:0:1::1/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/48"
via = ["2001:db8:0:1::2"]
[[nptv6]]
inside = "fd12:3456:789a::/48"
"""
# Whoever operates the edge opens some of these and closes them again.
PINHOLES = [Pinhole(IPv6Network(f"fd12:3456:789a:10::{number:x}/128")) for number in range(1, 13)]
# Seconds between two wishes, by a controller's own clock.
WISHES = (0.05, 0.5)


@cache
def program() -> P4Schema:
    """Return what all switches run."""
    return load_program(SwitchConfig())


@contextmanager
def shared_program() -> Iterator[None]:
    """Have controllers of a process load their program once: that takes longer than all the rest."""
    with mock.patch("wayname.adapter.controller.load_program", lambda _config: program()):
        yield


@contextmanager
def virtual_machines(network: Network) -> Iterator[None]:
    """Have whatever runs in a process reach servers by a network, and its machine's clocks be virtual."""

    def clock(*_which: int) -> float:
        process = PROCESS.get()
        return process.clock() if process else 0.0

    with (
        shared_program(),
        mock.patch("grpc.aio.insecure_channel", network.channel),
        mock.patch.object(time, "clock_gettime", clock),
        mock.patch.object(time, "time", lambda: BEGINS + clock()),
    ):
        yield


@cache
def configuration(
    folder: Path,
    name: str,
    endpoints: tuple[str, ...],
    edge: str = EDGE,
    switch: str = SWITCH,
    device: int = 1,
    lease: int = 1,
) -> Config:
    """Return the configuration of a controller; the folder has the sealing key."""
    members = ", ".join(f'"{each}"' for each in endpoints)
    text = CONFIG.format(switch=switch, device=device, endpoints=members, edge=edge, name=name, lease=lease)
    return parse_config(text, name, folder)


class Machine:
    """A machine with a controller, and somebody who asks that for changes; `running` while it runs."""

    def __init__(
        self, loop: VirtualLoop, network: Network, rng: random.Random, rules: Rules, config: Config, rate: float
    ) -> None:
        assert config.fleet is not None
        self.name = config.fleet.controller
        self.told: list[RecordedEvent] = []
        self.process: Process | None = None
        self.controller: Controller | None = None
        self._loop, self._network, self._rng, self._rules = loop, network, rng, rules
        self._config, self._rate = config, rate
        self._task: asyncio.Task[None] | None = None

    @property
    def leads(self) -> bool:
        """Whether its controller leads and has all on the switch."""
        controller = self.controller
        return controller is not None and controller.may_write and controller.reconciled

    def start(self) -> None:
        """Start the controller."""
        self.process = Process(self._loop, self.name, self._rate)
        self._task = self.process.start(self._run())

    async def kill(self) -> None:
        """Kill it: its connections are closed, and it gives nothing back."""
        if self.process is not None:
            self._network.dies(self.process)
            await self.end()

    async def lose_power(self) -> None:
        """Have its machine die: nobody hears that its connections are gone."""
        if self.process is not None:
            self.process.is_dead = True
            await self.end()

    async def end(self) -> None:
        """End it, as by SIGTERM."""
        process, task = self.process, self._task
        assert process is not None and task is not None
        process.go_on()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        self.process = self.controller = self._task = None

    def resign(self) -> None:
        """Have it let another one lead, by its API."""
        if self.process is not None and self.controller is not None:
            self.process.start(self._resign(self.controller))

    async def _resign(self, controller: Controller) -> None:
        with contextlib.suppress(EtcdError):
            assert controller.fleet is not None
            await controller.fleet.leadership.resign()

    async def _run(self) -> None:
        process = self.process
        try:
            async with asyncio.TaskGroup() as group:
                self.controller = Controller(
                    self._config, rng=random.Random(self._rng.random()), on_event=self.told.append
                )
                group.create_task(self._operate(self.controller))
                group.create_task(self.controller.run())
        except Exception as error:
            if process is self.process and process is not None and not process.is_dead:
                self._rules.breaks(f"{self.name} ended: {error!r}")

    async def _operate(self, controller: Controller) -> None:
        assert controller.fleet is not None
        while True:
            await asyncio.sleep(self._rng.uniform(*WISHES))
            pinhole = self._rng.choice(PINHOLES)
            opened = pinhole not in controller.edge.simple_security.pinholes
            if controller.why_no_changes():
                continue
            self._rules.asked(pinhole)
            with contextlib.suppress(RefusedChangeError):
                done = await controller.command(SetPinhole(pinhole, opened))
                await done.wait()
                # What etcd does not have yet may be lost, and is told as such.
                if not controller.fleet.unwritten and controller.may_write:
                    self._rules.answered(self.name, pinhole, opened, controller.edge.simple_security.pinholes)
