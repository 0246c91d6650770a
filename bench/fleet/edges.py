"""A process that stands for many edges, and what they cost: `python -m bench.fleet.edges`, which prints JSON.

Edges run as `wayname up` runs those of `[fleet] edges`, with their configuration in etcd and a switch over gRPC. What
happens at an edge is simulated: sessions are values that a successor has to know, and a host that moves is another
record in the directory.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from ipaddress import IPv6Address
from pathlib import Path

import click

from bench.fleet.servers import KEY, PREFIX
from wayname.adapter.controller import Controller
from wayname.adapter.garbage_collection import short_collections
from wayname.cli.many_edges import Edges
from wayname.composition.configuration import load_config
from wayname.edge.boundary import Persist, PublishHost
from wayname.fleet.etcd import Etcd
from wayname.fleet.keys import FleetKeys
from wayname.fleet.lease import Lease
from wayname.logs.setup import set_up_logs
from wayname.pipeline.program import own_schema

FILE = """
[fleet]
endpoints = {endpoints}
edges = {edges}
controller = "from-{name}"
sealing_key = "{key}"
lease = {lease}
"""
# What a Shim6 session has in etcd, and what a host with two prefixes has in the directory, in octets (docs/fleet.md).
SESSION_OCTETS, HOST_OCTETS = 400, 241
# Sessions are written a part after the other, as they begin.
AT_ONCE = 50
PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Figures:
    """What a process with so many edges came to, or several."""

    edges: int
    # Octets of memory and processor seconds.
    resident_before: int
    resident: int
    converged: float  # seconds from nothing until all edges lead and have written to their switch
    converging: float  # processor seconds for that
    sessions: int
    written: float  # seconds until etcd had all sessions
    idle: float  # processor seconds a second while nothing happens
    seen: list[float]  # seconds until who watches has a move, of each move
    unseen: int
    moving: float  # processor seconds a second
    probes: float  # of next hops a second, while hosts move
    reconnects: int  # how often an edge had to begin with its switch again: none does while nothing fails

    @classmethod
    def of(cls, processes: Sequence[Figures]) -> Figures:
        """Sum up processes of one fleet: what one has to wait for, all have."""

        def total(what: Callable[[Figures], float]) -> float:
            return sum(map(what, processes))

        return cls(
            edges=sum(each.edges for each in processes),
            resident_before=sum(each.resident_before for each in processes),
            resident=sum(each.resident for each in processes),
            converged=max(each.converged for each in processes),
            converging=total(lambda each: each.converging),
            sessions=sum(each.sessions for each in processes),
            written=max(each.written for each in processes),
            idle=total(lambda each: each.idle),
            seen=[seconds for each in processes for seconds in each.seen],
            unseen=sum(each.unseen for each in processes),
            moving=total(lambda each: each.moving),
            probes=total(lambda each: each.probes),
            reconnects=sum(each.reconnects for each in processes),
        )


def resident() -> int:
    """Return how much memory this process has, in octets."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def spent() -> float:
    """Return the processor seconds of this process."""
    return time.process_time()


class Fleet:
    """Those of this process."""

    def __init__(self, numbers: range, endpoints: tuple[str, ...], folder: Path, seed: int, lease: int) -> None:
        self._rng = random.Random(seed)
        self._endpoints = endpoints
        self._numbers = numbers
        self._file = folder / f"edges-{numbers.start}.toml"
        self._names = [f"edge{number}" for number in numbers]
        fleet = FILE.format(
            endpoints=json.dumps(endpoints),
            edges=json.dumps(self._names),
            name=f"{numbers.start}",
            key=KEY,
            lease=lease,
        )
        self._file.write_text(fleet)
        self._controllers: list[Controller] = []

    async def measure(
        self, sessions: int, seconds: float, moves: float, told: Callable[[str], Awaitable[None]]
    ) -> Figures:
        """Run them all; between phases whoever reads what is told looks at etcd."""
        config = load_config(self._file)
        assert config.fleet is not None
        lease = Lease.of(config.fleet)
        edges = Edges(config, self._file, lease, lambda _config: lambda: None)
        running: list[asyncio.Task[None]] = []
        try:
            own_schema()
            before, began, cpu = resident(), time.monotonic(), spent()
            running += [asyncio.create_task(each.run()) for each in (lease, edges)]
            async with asyncio.timeout(PATIENCE):
                while not self._all_lead(edges):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                converged, converging = time.monotonic() - began, spent() - cpu
                self._controllers = [edges.running[each].controller for each in self._names]
                wrote = time.monotonic()
                await asyncio.gather(*(self._write_sessions(each, sessions) for each in self._controllers))
                written = time.monotonic() - wrote
            await told("idle")
            cpu, since = spent(), time.monotonic()
            await asyncio.sleep(seconds)
            idle = (spent() - cpu) / (time.monotonic() - since)
            await told("moves")
            cpu, since = spent(), time.monotonic()
            probes = self._probes()
            latencies, unseen = await self._move(moves, seconds)
            took = time.monotonic() - since
            moving, probes = (spent() - cpu) / took, (self._probes() - probes) / took
            await told("end")
            return Figures(
                edges=len(self._names),
                resident_before=before,
                resident=resident(),
                converged=converged,
                converging=converging,
                sessions=sessions * len(self._names),
                written=written,
                idle=idle,
                seen=latencies,
                unseen=unseen,
                moving=moving,
                probes=probes,
                reconnects=sum(each.sessions - 1 for each in self._controllers),
            )
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await lease.end()

    def _all_lead(self, edges: Edges) -> bool:
        return all(
            (edge := edges.running.get(each)) is not None and edge.controller.reconciled and edge.controller.may_write
            for each in self._names
        )

    def _probes(self) -> float:
        return sum(each.edge.liveness.probes for each in self._controllers)

    async def _write_sessions(self, controller: Controller, count: int) -> None:
        assert controller.fleet is not None
        for at in range(0, count, AT_ONCE):
            some = [
                Persist(f"session {number}", self._rng.randbytes(SESSION_OCTETS // 2).hex())
                for number in range(at, min(at + AT_ONCE, count))
            ]
            await controller.fleet.write_down(some)
        while controller.fleet.unwritten:
            await asyncio.sleep(0.1)
            await controller.fleet.write_down([])

    async def _move(self, rate: float, seconds: float) -> tuple[list[float], int]:
        """Have hosts move, so many a second; return how long each took until who watches had it."""
        etcd = Etcd(self._endpoints)
        begun: dict[bytes, float] = {}
        latencies: list[float] = []
        revision, _ = await etcd.below(f"{PREFIX}/directory/".encode())
        watching = asyncio.create_task(self._watch(etcd, revision, begun, latencies))
        began = time.monotonic()
        for number in range(round(rate * seconds)):
            due = began + number / rate
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            edge = self._rng.randrange(len(self._controllers))
            fleet = self._controllers[edge].fleet
            assert fleet is not None
            # A host that moves again before it was seen would be seen once.
            address = IPv6Address((0x20010DB8 << 96) | self._numbers[edge] << 64 | number)
            begun[FleetKeys(PREFIX).host(address)] = max(due, began)
            fleet.directory.ask(PublishHost(address, self._rng.randbytes(HOST_OCTETS)))
        end = time.monotonic() + PATIENCE
        while begun and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await etcd.close()
        return latencies, len(begun)

    async def _watch(self, etcd: Etcd, revision: int, begun: dict[bytes, float], latencies: list[float]) -> None:
        async for changes in etcd.watch(f"{PREFIX}/directory/".encode(), revision + 1, is_prefix=True):
            now = time.monotonic()
            for change in changes:
                if (since := begun.pop(change.key, None)) is not None:
                    latencies.append(now - since)


@click.command()
@click.option("--first", type=int, required=True, help="The number of the first one.")
@click.option("--edges", type=int, required=True)
@click.option("--endpoint", "endpoints", multiple=True, required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--sessions", type=int, required=True, help="Of each edge.")
@click.option("--seconds", type=float, required=True)
@click.option("--moves", type=float, required=True, help="A second.")
@click.option("--seed", type=int, required=True)
@click.option("--lease", type=int, required=True, help="In seconds.")
def main(
    first: int,
    edges: int,
    endpoints: tuple[str, ...],
    folder: Path,
    sessions: int,
    seconds: float,
    moves: float,
    seed: int,
    lease: int,
) -> None:
    """Measure; each phase begins when a line comes in, since other processes have theirs."""

    async def told(phase: str) -> None:
        print(json.dumps({"phase": phase}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)

    set_up_logs("error", "json")
    with short_collections():
        fleet = Fleet(range(first, first + edges), endpoints, folder, seed, lease)
        try:
            figures = asyncio.run(fleet.measure(sessions, seconds, moves, told))
        except TimeoutError:
            sys.exit(f"{edges} edges had not converged, with their sessions, after {PATIENCE:g} s")
    print(json.dumps({"figures": asdict(figures)}), flush=True)


if __name__ == "__main__":
    main()
