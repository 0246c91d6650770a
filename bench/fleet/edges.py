"""Controllers of many edges in one process, and what they cost: `python -m bench.fleet.edges`, which prints JSON.

Each edge has a controller as it runs live, with etcd and a switch over gRPC. What happens at an edge is simulated:
sessions are values that a successor has to know, and a host that moves is another record in the directory.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from ipaddress import IPv6Address
from pathlib import Path

import click

from bench.spread import Spread
from wayname.adapter.controller import Controller
from wayname.adapter.garbage_collection import short_collections
from wayname.edge.boundary import Persist, PublishHost
from wayname.fleet.etcd import Etcd
from wayname.fleet.keys import FleetKeys
from wayname_lab.fleet.controllers import configuration, program, shared_program

PREFIX = "wayname"
# What a Shim6 session has in etcd, and what a host with two prefixes has in the directory, in octets (docs/fleet.md).
SESSION_OCTETS, HOST_OCTETS = 400, 241
# Sessions are written a part after the other, as they begin.
AT_ONCE = 50
PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Figures:
    """What one process with so many edges came to."""

    edges: int
    # Octets of memory and processor seconds.
    resident_before: int
    resident: int
    converged: float  # seconds from nothing until all edges lead and have written to their switch
    converging: float  # processor seconds for that
    sessions: int
    written: float  # seconds until etcd had all sessions
    idle: float  # processor seconds a second while nothing happens
    moves: float  # a second
    seen: tuple[float, float, float]  # seconds, median, 99th percentile and longest, until who watches has a move
    unseen: int
    moving: float  # processor seconds a second


def resident() -> int:
    """Return how much memory this process has, in octets."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def spent() -> float:
    """Return the processor seconds of this process."""
    return time.process_time()


class Edges:
    """All of them, in this process."""

    def __init__(
        self, count: int, endpoints: tuple[str, ...], switch: str, folder: Path, seed: int, lease: int
    ) -> None:
        self._rng = random.Random(seed)
        self._endpoints = endpoints
        self._configs = [
            configuration(folder, "only", endpoints, f"edge{number}", switch, number + 1, lease)
            for number in range(count)
        ]
        self._controllers: list[Controller] = []

    async def measure(self, sessions: int, seconds: float, moves: int, told: Callable[[str], None]) -> Figures:
        """Run them all; between phases whoever reads what is told looks at etcd."""
        program()
        before, began, cpu = resident(), time.monotonic(), spent()
        running: list[asyncio.Task[None]] = []
        try:
            async with asyncio.timeout(PATIENCE):
                for config in self._configs:
                    controller = Controller(config, rng=random.Random(self._rng.random()))
                    self._controllers.append(controller)
                    running.append(asyncio.create_task(controller.run()))
                    await asyncio.sleep(0)
                while not all(each.reconciled and each.may_write for each in self._controllers):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                converged, converging = time.monotonic() - began, spent() - cpu
                wrote = time.monotonic()
                await asyncio.gather(*(self._write_sessions(each, sessions) for each in self._controllers))
                written = time.monotonic() - wrote
            told("idle")
            cpu, since = spent(), time.monotonic()
            await asyncio.sleep(seconds)
            idle = (spent() - cpu) / (time.monotonic() - since)
            told("moves")
            cpu, since = spent(), time.monotonic()
            latencies, unseen = await self._move(moves, seconds)
            moving = (spent() - cpu) / (time.monotonic() - since)
            told("end")
            seen = Spread.of(latencies or [seconds])
            return Figures(
                edges=len(self._configs),
                resident_before=before,
                resident=resident(),
                converged=converged,
                converging=converging,
                sessions=sessions * len(self._configs),
                written=written,
                idle=idle,
                moves=len(latencies) / seconds,
                seen=(seen.median, seen.ninety_ninth, seen.worst),
                unseen=unseen,
                moving=moving,
            )
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

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

    async def _move(self, rate: int, seconds: float) -> tuple[list[float], int]:
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
            address = IPv6Address((0x20010DB8 << 96) | edge << 64 | number)
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
@click.option("--edges", type=int, required=True)
@click.option("--endpoint", "endpoints", multiple=True, required=True)
@click.option("--switch", required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--sessions", type=int, required=True, help="Of each edge.")
@click.option("--seconds", type=float, required=True)
@click.option("--moves", type=int, required=True, help="A second.")
@click.option("--seed", type=int, required=True)
@click.option("--lease", type=int, required=True, help="In seconds.")
def main(
    edges: int,
    endpoints: tuple[str, ...],
    switch: str,
    folder: Path,
    sessions: int,
    seconds: float,
    moves: int,
    seed: int,
    lease: int,
) -> None:
    """Measure."""
    with shared_program(), short_collections():
        measured = Edges(edges, endpoints, switch, folder, seed, lease).measure(
            sessions, seconds, moves, lambda phase: print(json.dumps({"phase": phase}), flush=True)
        )
        try:
            figures = asyncio.run(measured)
        except TimeoutError:
            sys.exit(f"{edges} edges had not converged, with their sessions, after {PATIENCE:g} s")
    print(json.dumps({"figures": asdict(figures)}), flush=True)


if __name__ == "__main__":
    main()
