"""What a fleet costs by its number of edges, with real etcd servers: `python -m bench.fleet`, `--quick` in short."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen

import click

from bench.fleet.edges import Figures
from bench.fleet.servers import servers
from bench.shim6.report import table
from wayname_lab.etcd import EtcdCluster, missing_for_etcd
from wayname_lab.programs import python

SIZES, QUICK_SIZES = (10, 30, 100, 300), (2, 4)
SESSIONS, QUICK_SESSIONS = 333, 20
SECONDS, QUICK_SECONDS = 20.0, 2.0
MOVES, QUICK_MOVES = 200, 20
MIB = 2**20
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

    @property
    def row(self) -> tuple[str, ...]:
        """It, in a line."""
        each, (idle, moves, end) = self.figures, self.etcd
        idling, asked = moves.since(idle)
        moving, _ = end.since(moves)
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
            f"{each.moves:.0f}",
            *(f"{1e3 * seen:.0f}" for seen in each.seen),
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


def measure(edges: int, sessions: int, seconds: float, moves: int, seed: int, lease: int) -> Measured | None:
    """Start etcd with nothing in it, and so many edges; return nothing if they do not come through, and say why."""
    with servers() as running:
        words = [python(), "-m", "bench.fleet.edges", "--edges", str(edges), "--switch", running.switches]
        words += ["--folder", str(running.folder), "--sessions", str(sessions), "--seconds", str(seconds)]
        words += ["--moves", str(moves), "--seed", str(seed), "--lease", str(lease)]
        words += [word for each in running.etcd.endpoints for word in ("--endpoint", each)]
        loads: list[EtcdLoad] = []
        figures: dict[str, Any] = {}
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                said = json.loads(line)
                if "phase" in said:
                    loads.append(etcd_load(running.etcd))
                else:
                    figures = said["figures"]
        if process.returncode != 0 or len(loads) != 3:
            return None
        idle, moving, end = loads
        return Measured(Figures(**figures), (idle, moving, end), os.getloadavg()[0])


@click.command()
@click.option("--quick", is_flag=True, help="Few edges, for a short time.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws which hosts move.")
@click.option("--edges", type=int, multiple=True, help="How many; may be given more than once.")
@click.option("--sessions", type=int, help="Of each edge.")
@click.option("--moves", type=int, help="A second, of all edges.")
@click.option("--seconds", type=float, help="Of each phase.")
@click.option("--lease", type=int, default=1, show_default=True, help="`[fleet] lease`, in seconds.")
def main(
    quick: bool,
    seed: int,
    edges: tuple[int, ...],
    sessions: int | None,
    moves: int | None,
    seconds: float | None,
    lease: int,
) -> None:
    """Measure, and print; status 1 if a size does not come through."""
    if reason := missing_for_etcd():
        sys.exit(reason)
    sessions = sessions or (QUICK_SESSIONS if quick else SESSIONS)
    moves, seconds = moves or (QUICK_MOVES if quick else MOVES), seconds or (QUICK_SECONDS if quick else SECONDS)
    rows: list[tuple[str, ...]] = []
    sizes = edges or (QUICK_SIZES if quick else SIZES)
    for count in sizes:
        measured = measure(count, sessions, seconds, moves, seed, lease)
        if measured is None:
            # More would not come through either.
            break
        rows.append(measured.row)
    click.echo(
        f"seed {seed}, leases of {lease} s, {moves} moves a second wanted, {seconds:g} s each, {os.cpu_count()} cores"
    )
    click.echo("\n".join(table(HEAD, rows)))
    if len(rows) < len(sizes):
        click.echo(f"MISSED: {sizes[len(rows)]} edges did not come through, at a load of {os.getloadavg()[0]:.1f}")
        sys.exit(1)


if __name__ == "__main__":
    main()
