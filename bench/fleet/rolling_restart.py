"""How long edges have no leader while controllers are restarted one by one: `python -m bench.fleet.rolling_restart`.

Two processes of `wayname up` stand for all edges. The one that waits is restarted first, and then the one that leads.
Switches are simulated, and a session is a value that a successor has to know.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from bench.fleet.__main__ import QUICK_SESSIONS, SESSIONS
from bench.fleet.edges import SESSION_OCTETS
from bench.fleet.servers import KEY, PREFIX, Servers, hand_out, servers, tables
from bench.shim6.report import table
from bench.spread import Spread
from wayname.fleet.etcd import CHANGES_AT_ONCE, Etcd, Put
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.sealing import Seal
from wayname_lab.etcd import missing_for_etcd
from wayname_lab.programs import python

SIZES, QUICK_SIZES = (10, 30, 100), (2,)
PATIENCE = 300.0
FILE = """
[api]
socket = "unix:{folder}/{name}.api"
[controller]
log_format = "json"
[fleet]
endpoints = {endpoints}
edges = {edges}
controller = "{name}"
sealing_key = "{key}"
prefix = "{prefix}"
lease = {lease}
"""
HEAD = ("edges", "sessions", "both restarted, s", "without a leader: median, s", "99 %", "worst", "load")


@dataclass(frozen=True, slots=True)
class Restarted:
    """What a rolling restart came to."""

    edges: int
    sessions: int
    took: float  # seconds for both processes
    without: Spread  # seconds of each edge, from the leader's end until another one has the switch
    load: float

    @property
    def row(self) -> tuple[str, ...]:
        """It, in a line."""
        without = (self.without.median, self.without.ninety_ninth, self.without.worst)
        times = (self.took, *without, self.load)
        return (str(self.edges), str(self.sessions), *(f"{each:.1f}" for each in times))


class Process:
    """A process of `wayname up`, and its log."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._log = file.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start with a log of its own."""
        with self._log.open("wb") as log:
            words = [python(), "-m", "wayname", "up", "--config", str(self._file)]
            self._process = subprocess.Popen(words, stderr=log, stdout=subprocess.DEVNULL)

    def told(self, kind: str, since: datetime) -> dict[str, datetime]:
        """Return when it told of a kind of event for the first time since then, by edge."""
        found: dict[str, datetime] = {}
        for line in self._log.read_text().splitlines(True):
            if line.endswith("\n") and (event := json.loads(line))["kind"] == kind and "edge" in event:
                at = datetime.fromisoformat(event["time"])
                if at >= since:
                    found.setdefault(event["edge"], at)
        return found

    def end(self) -> None:
        """Have it let go of all it leads, and wait for its end."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(PATIENCE)
            self._process = None

    def kill(self) -> None:
        """End it without a word, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not after {PATIENCE:g} s")
        time.sleep(0.2)


async def fill(running: Servers, edges: list[str], sessions: int, rng: random.Random) -> None:
    """Write sessions of edges as leaders would have."""
    etcd, seal = Etcd(running.etcd.endpoints), Seal.read(running.folder / KEY)
    for edge in edges:
        puts = []
        for number in range(sessions):
            name = f"session {number}"
            place = EdgeKeys(PREFIX, edge).state + seal.name(name).encode()
            value = json.dumps([name, rng.randbytes(SESSION_OCTETS // 2).hex()])
            puts.append(Put(place, seal.close(place, value.encode())))
        for at in range(0, sessions, CHANGES_AT_ONCE):
            await etcd.transact([], *puts[at : at + CHANGES_AT_ONCE])
    await etcd.close()


async def lost(endpoints: list[str], edges: list[str], sessions: int) -> int:
    """Return how many sessions etcd has no more."""
    etcd = Etcd(endpoints)
    found = [len((await etcd.below(EdgeKeys(PREFIX, edge).state))[1]) for edge in edges]
    await etcd.close()
    return sum(max(sessions - each, 0) for each in found)


def restart(count: int, sessions: int, lease: int, seed: int) -> Restarted:
    """Restart both processes of so many edges, one after the other."""
    with ExitStack() as cleanup:
        running = cleanup.enter_context(servers())
        folder, endpoints = running.folder, running.etcd.endpoints
        edges = list(tables(running.switches, count))
        asyncio.run(hand_out(running, count))
        asyncio.run(fill(running, edges, sessions, random.Random(seed)))
        processes: dict[str, Process] = {}
        for name in ("leading", "waiting"):
            file = folder / f"{name}.toml"
            fleet = {"endpoints": json.dumps(endpoints), "edges": json.dumps(edges), "prefix": PREFIX, "lease": lease}
            file.write_text(FILE.format(folder=folder, name=name, key=KEY, **fleet))
            processes[name] = Process(file)
            cleanup.callback(processes[name].kill)
        leading, waiting = processes["leading"], processes["waiting"]
        start(leading, "switch.up", count)
        start(waiting, "fleet.standby", count)
        began = time.monotonic()
        waiting.end()
        start(waiting, "fleet.standby", count)
        ended = datetime.now(UTC)
        leading.end()
        start(leading, "fleet.standby", count)
        until(lambda: len(waiting.told("switch.up", ended)) == count, "the switches of all edges")
        took = time.monotonic() - began
        without = [(at - ended).total_seconds() for at in waiting.told("switch.up", ended).values()]
        if gone := asyncio.run(lost(endpoints, edges, sessions)):
            raise ValueError(f"{gone} sessions are not in etcd any more")
        return Restarted(count, sessions * count, took, Spread.of(without), os.getloadavg()[0])


def start(process: Process, kind: str, edges: int) -> None:
    """Start a process, and wait until all edges told of something."""
    since = datetime.now(UTC)
    process.start()
    until(lambda: len(process.told(kind, since)) == edges, f"{kind} of all edges")


@click.command()
@click.option("--quick", is_flag=True, help="Few edges.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws what sessions are.")
@click.option("--edges", type=int, multiple=True, help="How many; may be given more than once.")
@click.option("--sessions", type=int, help="Of each edge.")
@click.option("--lease", type=int, default=1, show_default=True, help="`[fleet] lease`, in seconds.")
def main(quick: bool, seed: int, edges: tuple[int, ...], sessions: int | None, lease: int) -> None:
    """Measure, and print; status 1 if a size does not come through."""
    if reason := missing_for_etcd():
        sys.exit(reason)
    rows: list[tuple[str, ...]] = []
    why = ""
    for count in edges or (QUICK_SIZES if quick else SIZES):
        try:
            rows.append(restart(count, sessions or (QUICK_SESSIONS if quick else SESSIONS), lease, seed).row)
        except (TimeoutError, ValueError, subprocess.TimeoutExpired) as error:
            # More would not come through either.
            why = f"MISSED: {count} edges: {error}, at a load of {os.getloadavg()[0]:.1f}"
            break
    click.echo(f"a rolling restart, seed {seed}, leases of {lease} s, {os.cpu_count()} cores")
    click.echo("\n".join(table(HEAD, rows)))
    if why:
        click.echo(why)
        sys.exit(1)


if __name__ == "__main__":
    main()
