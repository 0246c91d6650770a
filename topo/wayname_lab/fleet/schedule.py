"""Random faults by seed for the controllers of one edge or two, their switches and their etcd; then all is mended."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aetcd import rpc

from wayname.fleet.etcd import Etcd, EtcdError
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.overview import drain
from wayname.fleet.sealing import Seal
from wayname.fleet.state import FleetState
from wayname.pipeline import simple_security as tables
from wayname_lab.fleet.controllers import EDGES, PINHOLES, Edge, Machine, configuration, virtual_machines
from wayname_lab.fleet.etcd_members import EtcdMembers
from wayname_lab.fleet.loop import Process, VirtualLoop
from wayname_lab.fleet.network import Network
from wayname_lab.fleet.rules import ADMIN, Rules
from wayname_lab.fleet.switch import KeptSwitch, key_of

ETCDS = ("127.0.0.1:2379", "127.0.0.2:2379", "127.0.0.3:2379")
CONTROLLERS = 3
FAULTS, LASTS = 12, 20.0
# Clocks go wrong by as much: more than any real one does.
DRIFT = 0.02
# After the last fault: etcd's election, leases that began anew with it, its look for those that ended, and a controller
# that connects and reads.
HEALS_IN = 8.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a schedule."""

    seed: int
    broken: list[str]
    # How many leaders wrote to the switch, how many wishes were granted.
    leaders: int
    established: int
    faults: list[str]


class Schedule:
    """Controllers of edges while faults that a seed draws happen to them and to what they reach."""

    def __init__(self, seed: int, loop: VirtualLoop, folder: Path, edges: int = 1) -> None:
        self.rng = random.Random(seed)
        self.loop = loop
        self.network = Network(loop, random.Random(self.rng.random()))
        self.etcd = EtcdMembers(loop, self.network, random.Random(self.rng.random()), list(ETCDS))
        self.edges = [
            self._edge(name, address, device) for device, (name, address) in enumerate(list(EDGES.items())[:edges], 1)
        ]
        self.network.sent = self.sent
        self.etcd.looked_at = self.transacted
        self.machines = [
            Machine(
                loop,
                self.network,
                random.Random(self.rng.random()),
                self.edges,
                {
                    each.name: configuration(folder, f"c{number}", ETCDS, each.name, each.address, each.device)
                    for each in self.edges
                },
                self.rng.uniform(1 - DRIFT, 1 + DRIFT),
            )
            for number in range(1, CONTROLLERS + 1)
        ]
        self.admin = Process(loop, ADMIN)
        self.happened: list[str] = []
        self._folder = folder
        self._faults: Mapping[str, Callable[[], Any]] = {
            "etcd cut": self._cut_etcd,
            "switch cut": self._cut_switch,
            "network slow": self._slow,
            "controller killed": self._kill,
            "machine without power": self._lose_power,
            "controller ended": self._end,
            "controller started": self._start,
            "controller stopped": self._stop,
            "controller goes on": self._go_on,
            "member killed": self._kill_member,
            "member started": self._start_member,
            "member parted": self._part,
            "member back": self._mend_member,
            "compacted": self._compact,
            "switch killed": lambda: self._some_edge().switch.kill(),
            "switch started": lambda: self._some_edge().switch.start(),
            "resigned": self._resign,
            "drained": self._drain,
        }

    def _edge(self, name: str, address: str, device: int) -> Edge:
        switch = self.network.servers[address] = KeptSwitch()
        keys = EdgeKeys("wayname", name)
        rules = Rules(lambda: self.loop.true_time, keys, self.etcd.store, switch, device)
        return Edge(name, address, device, switch, rules)

    @property
    def rules(self) -> Rules:
        """What must hold of the first edge."""
        return self.edges[0].rules

    @property
    def broken(self) -> list[str]:
        """What did not hold."""
        return [line for each in self.edges for line in each.rules.broken]

    def sent(self, process: Process, method: str, request: Any) -> None:
        """Look at a request when it leaves."""
        for each in self.edges:
            each.rules.sent(process, method, request)

    def transacted(self, process: Process, request: Any) -> None:
        """Look at a transaction before it is carried out."""
        for each in self.edges:
            each.rules.transacted(process, request)

    async def run(self) -> None:
        """Let it all happen; `broken` says what did not hold."""
        self.loop.set_exception_handler(lambda _loop, context: self.rules.breaks(f"{context}"))
        for machine in self.machines:
            machine.start()
        for _ in range(FAULTS):
            await asyncio.sleep(self.rng.random() * LASTS / FAULTS)
            await self.happens(self.rng.choice(list(self._faults)))
        await self.mend()
        await asyncio.sleep(HEALS_IN)
        await self.look()
        for machine in self.machines:
            await machine.end()

    def let_go(self) -> None:
        """Let nobody stand still who is to end."""
        for machine in self.machines:
            if machine.process is not None:
                machine.process.go_on()

    async def happens(self, fault: str) -> None:
        """Let a fault happen."""
        self.happened.append(f"{self.loop.true_time:.3f} s: {fault}")
        if (done := self._faults[fault]()) is not None:
            await done

    async def mend(self) -> None:
        """End all faults."""
        self.happened.append(f"{self.loop.true_time:.3f} s: all is mended")
        for member in self.etcd.members:
            self.etcd.start(member)
            self.etcd.mend(member)
        for edge in self.edges:
            edge.switch.start()
        for machine in self.machines:
            if machine.process is None:
                machine.start()
            assert machine.process is not None
            for way in self.network.ways(machine.process):
                way.mend()
            machine.process.go_on()

    async def look(self) -> None:
        """Look whether somebody leads, and what was established is known there, in etcd and on the switch."""
        for edge in self.edges:
            leading = [each for each in self.machines if each.leads_edge(edge.name)]
            if len(leading) != 1:
                edge.rules.breaks(f"{len(leading)} lead, {HEALS_IN:g} s after all was mended")
            for machine in leading:
                controller = machine.controllers[edge.name]
                edge.rules.knows(machine.name, controller.edge.simple_security.pinholes)
                there = {each: key_of(tables.pinhole(each).encode(controller.schema)) for each in PINHOLES}
                edge.rules.knows("the switch", [each for each, key in there.items() if key in edge.switch.entities])
            await self.admin.start(self._look_in_etcd(edge))
            for machine in self.machines:
                running = machine.controllers.get(edge.name)
                if running is not None and (faults := running.edge.faults.counts):
                    edge.rules.breaks(f"{machine.name} failed: {dict(faults)}")

    async def _look_in_etcd(self, edge: Edge) -> None:
        keys = EdgeKeys("wayname", edge.name)
        state = FleetState(Etcd(ETCDS), keys, Seal.read(self._folder / "fleet.key"), self.loop.time)
        await state.load()
        kept = state.read()
        edge.rules.knows("etcd", [each for each in PINHOLES if f"pinhole {each.inside} - - -" in kept])

    def _some_edge(self) -> Edge:
        return self.rng.choice(self.edges)

    def _machine(self) -> Machine:
        return self.rng.choice(self.machines)

    def _cut_etcd(self) -> None:
        """Cut a controller off from one member, or from all; or mend that."""
        if (process := self._machine().process) is not None:
            some = self.rng.choice([[each] for each in ETCDS] + [list(ETCDS)])
            for address in some:
                self._toggle(process, address)

    def _cut_switch(self) -> None:
        if (process := self._machine().process) is not None:
            self._toggle(process, self._some_edge().address)

    def _toggle(self, process: Process, address: str) -> None:
        way = self.network.way(process, address)
        if way.is_cut:
            way.mend()
        else:
            way.is_cut = True

    def _slow(self) -> None:
        if (process := self._machine().process) is not None:
            delay, loss = self.rng.choice((0.001, 0.05, 0.6, 2.0)), self.rng.choice((0.0, 0.0, 0.2, 0.6))
            for way in self.network.ways(process):
                way.delay, way.loss = delay, loss

    async def _kill(self) -> None:
        await self._machine().kill()

    async def _lose_power(self) -> None:
        await self._machine().lose_power()

    async def _end(self) -> None:
        if (machine := self._machine()).process is not None:
            await machine.end()

    def _start(self) -> None:
        if (machine := self._machine()).process is None:
            machine.start()

    def _stop(self) -> None:
        if (process := self._machine().process) is not None:
            process.stop()

    def _go_on(self) -> None:
        for machine in self.machines:
            if machine.process is not None:
                machine.process.go_on()

    def _resign(self) -> None:
        self._machine().resign(self._some_edge().name)

    def _kill_member(self) -> None:
        # The one that leads the others, half of the times.
        member = self.rng.choice(self.etcd.members)
        self.etcd.kill((self.etcd.leader or member) if self.rng.random() < 0.5 else member)

    def _start_member(self) -> None:
        for member in self.etcd.members:
            self.etcd.start(member)

    def _part(self) -> None:
        self.etcd.part(self.rng.choice(self.etcd.members))

    def _mend_member(self) -> None:
        for member in self.etcd.members:
            self.etcd.mend(member)

    def _compact(self) -> None:
        store = self.etcd.store
        if store.revision > store.compacted:
            store.compact(rpc.CompactionRequest(revision=store.revision))
        self.etcd.tell()

    async def _drain(self) -> None:
        """As `wayname fleet drain`."""
        await self.admin.start(self._drained(EdgeKeys("wayname", self._some_edge().name)))

    async def _drained(self, keys: EdgeKeys) -> None:
        etcd = Etcd(ETCDS)
        try:
            await drain(etcd, keys)
        except EtcdError:
            pass
        finally:
            await etcd.close()


def play(seed: int, folder: Path, what: Callable[[Schedule], Coroutine[Any, Any, None]], edges: int = 1) -> Schedule:
    """Let something happen to a fleet that a seed draws; the folder has the sealing key `fleet.key`."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualLoop)
        schedule = Schedule(seed, loop, folder, edges)
        with virtual_machines(schedule.network):
            try:
                runner.run(what(schedule))
            finally:
                schedule.let_go()
    return schedule


def run(seed: int, folder: Path) -> Outcome:
    """Run the schedule of a seed: every other one has two edges, and a process for both of them on each machine."""
    schedule = play(seed, folder, Schedule.run, 1 + seed % 2)
    leaders = sum(each.rules.look_at_writes() for each in schedule.edges)
    established = sum(len(each.rules.established) for each in schedule.edges)
    return Outcome(seed, schedule.broken, leaders, established, schedule.happened)
