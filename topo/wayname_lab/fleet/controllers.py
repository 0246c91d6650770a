"""Controllers as they run live, on the virtual clock: each process has one for each edge, and one lease for all."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from wayname.fleet.lease import Lease
from wayname.pipeline.program import load_program
from wayname_lab.fleet.loop import PROCESS, Process, VirtualLoop
from wayname_lab.fleet.network import Network
from wayname_lab.fleet.rules import Rules
from wayname_lab.fleet.switch import KeptSwitch

# Edges by name, and where their switches are.
EDGES = {"berlin": "127.0.0.1:9559", "hamburg": "127.0.0.2:9559"}
EDGE = "berlin"
SWITCH = EDGES[EDGE]
# What the clock of a wall shows when the virtual one begins.
BEGINS = 1_700_000_000.0
FLEET = """
[fleet]
endpoints = [{endpoints}]
edge = "{edge}"
controller = "{name}"
sealing_key = "fleet.key"
"""
TABLES = """
[switch]
address = "{switch}"
device_id = {device}
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
    """Return what all switches run: to load it takes longer than all the rest."""
    return load_program(SwitchConfig())


@contextmanager
def virtual_machines(network: Network) -> Iterator[None]:
    """Have whatever runs in a process reach servers by a network, and its machine's clocks be virtual."""

    def clock(*_which: int) -> float:
        process = PROCESS.get()
        return process.clock() if process else 0.0

    with (
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
) -> Config:
    """Return the configuration of a controller; the folder has the sealing key."""
    members = ", ".join(f'"{each}"' for each in endpoints)
    fleet = FLEET.format(endpoints=members, edge=edge, name=name)
    return parse_config(fleet + TABLES.format(switch=switch, device=device), name, folder)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a fleet: its switch, where that is, and what must hold."""

    name: str
    address: str
    device: int
    switch: KeptSwitch
    rules: Rules


class Machine:
    """A machine with a process that has a controller of each edge, and somebody who asks those for changes."""

    def __init__(
        self,
        loop: VirtualLoop,
        network: Network,
        rng: random.Random,
        edges: Sequence[Edge],
        configs: Mapping[str, Config],
        rate: float,
    ) -> None:
        fleet = configs[edges[0].name].fleet
        assert fleet is not None
        self.name = fleet.controller
        self.told: list[RecordedEvent] = []
        self.process: Process | None = None
        # By the names of edges, while it runs.
        self.controllers: dict[str, Controller] = {}
        self._loop, self._network, self._rng, self._edges = loop, network, rng, edges
        self._fleet, self._configs, self._rate = fleet, configs, rate
        self._task: asyncio.Task[None] | None = None

    @property
    def controller(self) -> Controller | None:
        """The controller of the first edge, while it runs."""
        return self.controllers.get(self._edges[0].name)

    @property
    def leads(self) -> bool:
        """Whether the controller of the first edge leads and has all on the switch."""
        return self.leads_edge(self._edges[0].name)

    def leads_edge(self, name: str) -> bool:
        """Whether the controller of an edge leads and has all on the switch."""
        controller = self.controllers.get(name)
        return controller is not None and controller.may_write and controller.reconciled

    def start(self) -> None:
        """Start the process."""
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
        self.process = self._task = None
        self.controllers = {}

    def resign(self, edge: str | None = None) -> None:
        """Have it let another one lead an edge, the first one if none is named, by its API."""
        controller = self.controllers.get(edge or self._edges[0].name)
        if self.process is not None and controller is not None:
            self.process.start(self._resign(controller))

    async def _resign(self, controller: Controller) -> None:
        with contextlib.suppress(EtcdError):
            assert controller.fleet is not None
            await controller.fleet.leadership.resign()

    async def _run(self) -> None:
        process = self.process
        lease = Lease.of(self._fleet)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(lease.run())
                for edge in self._edges:
                    rng = random.Random(self._rng.random())
                    controller = Controller(
                        self._configs[edge.name], rng=rng, on_event=self.told.append, lease=lease, schema=program()
                    )
                    self.controllers[edge.name] = controller
                    group.create_task(self._operate(controller, edge.rules))
                    group.create_task(controller.run())
        except Exception as error:
            if process is self.process and process is not None and not process.is_dead:
                self._edges[0].rules.breaks(f"{self.name} ended: {error!r}")
        finally:
            await lease.end()

    async def _operate(self, controller: Controller, rules: Rules) -> None:
        assert controller.fleet is not None
        while True:
            await asyncio.sleep(self._rng.uniform(*WISHES))
            pinhole = self._rng.choice(PINHOLES)
            opened = pinhole not in controller.edge.simple_security.pinholes
            if controller.why_no_changes():
                continue
            wish = rules.asked(pinhole)
            with contextlib.suppress(RefusedChangeError):
                done = await controller.command(SetPinhole(pinhole, opened))
                await done.wait()
                # What etcd does not have yet may be lost, and is told as such.
                if not controller.fleet.unwritten and controller.may_write:
                    rules.answered(self.name, wish, opened, controller.edge.simple_security.pinholes)
