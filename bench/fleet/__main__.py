"""What a fleet costs by its number of edges, with real etcd servers: `python -m bench.fleet`, `--quick` in short."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import click

from bench.fleet.edges import Figures
from bench.fleet.edges_process import Scene, edges_process
from bench.fleet.measured import HEAD, EtcdLoad, Measured, draw
from bench.fleet.servers import hand_out, servers
from bench.shim6.report import table
from wayname_lab.etcd import EtcdCluster, missing_for_etcd

SIZES, QUICK_SIZES = (10, 30, 100, 300), (2, 4)
SESSIONS, QUICK_SESSIONS = 333, 20
SECONDS, QUICK_SECONDS = 20.0, 2.0
MOVES, QUICK_MOVES = 200, 20
# What a process tells that has done so.
PHASES = ("idle", "moves", "end")


def etcd_load(cluster: EtcdCluster) -> EtcdLoad:
    """Ask all members what they have spent."""
    sums = [0.0] * 6
    names = (
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "etcd_mvcc_db_total_size_in_bytes",
        "grpc_server_started_total",
        "etcd_debugging_mvcc_watcher_total",
        "etcd_debugging_mvcc_events_total",
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
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the figure; none is drawn without it.")
@click.option("--lease", type=int, default=1, show_default=True, help="`[fleet] lease`, in seconds.")
def main(
    quick: bool,
    seed: int,
    edges: tuple[int, ...],
    sessions: int | None,
    moves: int | None,
    seconds: float | None,
    processes: int,
    out: Path | None,
    lease: int,
) -> None:
    """Measure, and print; status 1 if a size does not come through, or a goal is missed."""
    if reason := missing_for_etcd():
        sys.exit(reason)
    sessions = sessions or (QUICK_SESSIONS if quick else SESSIONS)
    moves, seconds = moves or (QUICK_MOVES if quick else MOVES), seconds or (QUICK_SECONDS if quick else SECONDS)
    scene = Scene(processes, sessions, seconds, moves, seed, lease)
    found: list[Measured] = []
    sizes = edges or (QUICK_SIZES if quick else SIZES)
    for count in sizes:
        measured = measure(scene, count)
        if measured is None:
            # More would not come through either.
            break
        found.append(measured)
    click.echo(
        f"seed {seed}, {processes} processes of edges, leases of {lease} s, {moves} moves a second wanted,"
        f" {seconds:g} s each, {os.cpu_count()} cores"
    )
    click.echo("\n".join(table(HEAD, [each.row for each in found])))
    verdicts = [line for each in found for line in each.verdicts]
    for line in verdicts:
        click.echo(line)
    if out is not None and found:
        click.echo(f"drawn: {draw(found, out)}")
    if len(found) < len(sizes):
        click.echo(f"MISSED: {sizes[len(found)]} edges did not come through, at a load of {os.getloadavg()[0]:.1f}")
    sys.exit(len(found) < len(sizes) or any(line.startswith("MISSED") for line in verdicts))


if __name__ == "__main__":
    main()
