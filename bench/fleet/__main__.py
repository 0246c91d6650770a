"""What a fleet costs by its number of edges, with real etcd servers: `python -m bench.fleet`, `--quick` in short."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from urllib.request import urlopen

import click

from bench.fleet.edges import Figures
from bench.fleet.edges_process import Scene, edges_process
from bench.fleet.servers import hand_out, servers
from bench.shim6.report import table
from bench.spread import Spread
from wayname_lab.etcd import EtcdCluster, missing_for_etcd

SIZES, QUICK_SIZES = (10, 30, 100, 300), (2, 4)
SESSIONS, QUICK_SESSIONS = 333, 20
SECONDS, QUICK_SECONDS = 20.0, 2.0
MOVES, QUICK_MOVES = 200, 20
MIB = 2**20
# What a process tells that has done so.
PHASES = ("idle", "moves", "end")
HEAD = (
    "edges",
    "MiB an edge",
    "converged, s",
    "processor for that, s",
    "sessions",
    "in etcd, s",
    "idle: controllers",
    "etcd",
    "asked a second",
    "moves a second",
    "seen: median, ms",
    "99 %",
    "worst",
    "moving: controllers",
    "etcd",
    "etcd, MiB",
    "on disk",
    "load",
)


@dataclass(frozen=True, slots=True)
class EtcdLoad:
    """What all members have spent so far."""

    at: float  # seconds
    processor: float  # seconds
    resident: float  # octets
    database: float
    asked: float  # calls

    def since(self, before: EtcdLoad) -> tuple[float, float]:
        """Return the processor seconds and the calls of each second since."""
        seconds = self.at - before.at
        return (self.processor - before.processor) / seconds, (self.asked - before.asked) / seconds


@dataclass(frozen=True, slots=True)
class Measured:
    """A size of fleet."""

    figures: Figures
    # When nothing happened, when hosts moved, and at the end.
    etcd: tuple[EtcdLoad, EtcdLoad, EtcdLoad]
    load: float
    seconds: float  # of each phase

    @property
    def row(self) -> tuple[str, ...]:
        """It, in a line."""
        each, (idle, moves, end) = self.figures, self.etcd
        idling, asked = moves.since(idle)
        moving, _ = end.since(moves)
        seen = Spread.of(each.seen or [self.seconds])
        return (
            str(each.edges),
            f"{(each.resident - each.resident_before) / each.edges / MIB:.2f}",
            f"{each.converged:.1f}",
            f"{each.converging:.1f}",
            str(each.sessions),
            f"{each.written:.1f}",
            f"{each.idle:.0%}",
            f"{idling:.0%}",
            f"{asked:.0f}",
            f"{len(each.seen) / self.seconds:.0f}",
            *(f"{1e3 * seconds:.0f}" for seconds in (seen.median, seen.ninety_ninth, seen.worst)),
            f"{each.moving:.0%}",
            f"{moving:.0%}",
            f"{end.resident / MIB:.0f}",
            f"{end.database / MIB:.1f}",
            f"{self.load:.1f}",
        )


def etcd_load(cluster: EtcdCluster) -> EtcdLoad:
    """Ask all members what they have spent."""
    sums = [0.0, 0.0, 0.0, 0.0]
    names = (
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "etcd_mvcc_db_total_size_in_bytes",
        "grpc_server_started_total",
    )
    for endpoint in cluster.endpoints:
        with urlopen(f"http://{endpoint}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        for at, name in enumerate(names):
            sums[at] += sum(map(float, re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)))
    return EtcdLoad(time.monotonic(), *sums)


def measure(scene: Scene, edges: int) -> Measured | None:
    """Start etcd with nothing in it, and so many edges; return nothing if they do not come through, and say why."""
    with ExitStack() as cleanup:
        running = cleanup.enter_context(servers())
        asyncio.run(hand_out(running, edges))
        bounds = [1 + edges * number // scene.processes for number in range(scene.processes + 1)]
        processes = [cleanup.enter_context(edges_process(scene, running, range(*some))) for some in pairwise(bounds)]
        loads: list[EtcdLoad] = []
        for _ in PHASES:
            answers = [each.says() for each in processes]
            if not all(answers):
                return None
            loads.append(etcd_load(running.etcd))
            for each in processes:
                each.go_on()
        answers = [each.says() for each in processes]
        if not all(answers):
            return None
        figures = Figures.of([Figures(**each["figures"]) for each in answers])
        idle, moving, end = loads
        return Measured(figures, (idle, moving, end), os.getloadavg()[0], scene.seconds)


@click.command()
@click.option("--quick", is_flag=True, help="Few edges, for a short time.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws which hosts move.")
@click.option("--edges", type=int, multiple=True, help="How many; may be given more than once.")
@click.option("--sessions", type=int, help="Of each edge.")
@click.option("--moves", type=int, help="A second, of all edges.")
@click.option("--seconds", type=float, help="Of each phase.")
@click.option("--processes", type=int, default=1, show_default=True, help="That stand for the edges together.")
@click.option("--lease", type=int, default=1, show_default=True, help="`[fleet] lease`, in seconds.")
def main(
    quick: bool,
    seed: int,
    edges: tuple[int, ...],
    sessions: int | None,
    moves: int | None,
    seconds: float | None,
    processes: int,
    lease: int,
) -> None:
    """Measure, and print; status 1 if a size does not come through."""
    if reason := missing_for_etcd():
        sys.exit(reason)
    sessions = sessions or (QUICK_SESSIONS if quick else SESSIONS)
    moves, seconds = moves or (QUICK_MOVES if quick else MOVES), seconds or (QUICK_SECONDS if quick else SECONDS)
    scene = Scene(processes, sessions, seconds, moves, seed, lease)
    rows: list[tuple[str, ...]] = []
    sizes = edges or (QUICK_SIZES if quick else SIZES)
    for count in sizes:
        measured = measure(scene, count)
        if measured is None:
            # More would not come through either.
            break
        rows.append(measured.row)
    click.echo(
        f"seed {seed}, {processes} processes of edges, leases of {lease} s, {moves} moves a second wanted,"
        f" {seconds:g} s each, {os.cpu_count()} cores"
    )
    click.echo("\n".join(table(HEAD, rows)))
    if len(rows) < len(sizes):
        click.echo(f"MISSED: {sizes[len(rows)]} edges did not come through, at a load of {os.getloadavg()[0]:.1f}")
        sys.exit(1)


if __name__ == "__main__":
    main()
