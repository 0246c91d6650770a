"""Keeps two sites at work for a day on the virtual clock while faults happen, and says what did not come through.

Hosts use one connection all day. Links are cut, controllers pause, controllers and switches are killed, when a seed
says so. A minute after each fault that connection must go on, and both edges' switches must hold what they held. The
memory of all of it, which is one process, must be flat from the second hour on.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from bench.shim6.report import table
from bench.soak.records import Life
from wayname_lab.load import load_lab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab

LAB = Path(__file__).with_name("day.toml")
HOUR = 3600.0
FAULTS_AN_HOUR = 12
SETTLES = 120.0
COMES_BACK = 60.0
WARM_UP = 120.0  # minutes
# Hosts wait for longer than any fault lasts, with what TCP adds to it.
GIVES_UP = 600
CLIENT, SERVER = "a1", "b1"
EDGES = ("a", "b")
LASTS = (1.0, 60.0)
LEARNED = ("fdb", "neighbours", "bindings", "routers")

# An edge, a table's number, and the match of an entry.
Kept = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that begins, and ends some virtual seconds later."""

    kind: str
    what: str
    begin: Callable[[], None]
    end: Callable[[], None]


@dataclass(slots=True)
class Day:
    """A lab under faults, and what did not come through."""

    lab: VirtualLab
    rng: random.Random
    life: Life = field(default_factory=lambda: Life("the whole lab", 0.0, WARM_UP))
    happened: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    answered: int = 0

    def begin(self) -> set[Kept]:
        """Start the lab and its traffic; return what the edges' switches hold when everything has converged."""
        lab = self.lab
        lab.run_for(2)
        to = str(lab.plan.hosts[SERVER].address.ip)
        lab.command(SERVER, "tcp_serve", port=5001, service="echo", timeout=GIVES_UP)
        lab.command(CLIENT, "tcp_request", to=to, port=5001, interval=5, report=5, timeout=GIVES_UP)
        lab.run_for(SETTLES)
        return set(self._kept())

    def run(self, hours: int) -> None:
        """Let hours pass, and print a line for each."""
        lab = self.lab
        kept = self.begin()
        click.echo(f"{len(kept)} entries on the edges' switches")
        for hour in range(1, hours + 1):
            began, frames = time.monotonic(), lab.trace.frames
            end = hour * HOUR
            for moment in sorted(self.rng.uniform(lab.now, end - HOUR / 20) for _ in range(FAULTS_AN_HOUR)):
                lab.run_until(max(lab.now, moment))
                self.happens(self._draw(), kept)
            lab.run_until(end)
            self._look_at_events()
            self.life.sample("/proc/self", hour * 60.0)
            size = self.life.samples[-1].kibibytes / 1024
            click.echo(
                f"hour {hour:2}: {time.monotonic() - began:5.1f} s, {lab.trace.frames - frames} frames, {size:.1f} MiB"
            )

    def _draw(self) -> Fault:
        lab = self.lab
        router, link = self.rng.choice(sorted(lab.switches)), self.rng.choice(lab.plan.lab.links).name
        controller, switch = lab.controllers[router], lab.switches[router]
        stall = round(self.rng.uniform(*LASTS) / 10 * SECOND)
        return self.rng.choice(
            (
                Fault("link cut", link, lambda: lab.cut(link), lambda: lab.restore(link)),
                Fault("controller killed", router, controller.kill, controller.start),
                Fault("switch killed", router, switch.kill, switch.start),
                Fault("controller paused", router, lambda: controller.stall(stall), lambda: None),
            )
        )

    def happens(self, fault: Fault, kept: set[Kept]) -> None:
        """Let a fault happen, and look at what it left."""
        fault.begin()
        self.lab.run_for(self.rng.uniform(*LASTS))
        fault.end()
        self.lab.run_for(COMES_BACK / 2)
        self._look_at_events()
        before = self.answered
        self.lab.run_for(COMES_BACK / 2)
        self._look_at_events()
        self.happened[fault.kind] += 1
        where = f"{self.lab.now / HOUR:.2f} h, {fault.kind} {fault.what}"
        if self.answered == before:
            self.missed.append(f"{where}: the connection does not go on")
        if lacking := kept - set(self._kept()):
            self.missed.append(f"{where}: {len(lacking)} entries are missing, such as {sorted(lacking)[:2]}")

    def _kept(self) -> Iterator[Kept]:
        for edge in EDGES:
            switch = self.lab.switches[edge]
            learned = {each.id for each in switch.schema.tables if each.alias in LEARNED}
            for entity in switch.entities():
                entry = entity.table_entry
                if entity.HasField("table_entry") and not entry.is_default_action and entry.table_id not in learned:
                    yield edge, entry.table_id, " ".join(str(match) for match in entry.match)

    def _look_at_events(self) -> None:
        """Count what was told since, and forget it: a day of it would be the leak."""
        for _, event in self.lab.events:
            self.told[event.kind] += 1
        for host, said in self.lab.host_events:
            if host == CLIENT and said["event"] == "requests":
                self.answered += said["answered"]
            elif host == CLIENT and said["event"] in ("requests_done", "tcp_done"):
                self.missed.append(f"{self.lab.now / HOUR:.2f} h: the connection ended: {said}")
        self.lab.events.clear()
        self.lab.host_events.clear()


@click.command()
@click.option("--hours", default=24, show_default=True, help="Virtual ones.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same day for the same seed.")
def main(hours: int, seed: int) -> None:
    """Let faults happen to two sites for a day that takes some minutes."""
    day = Day(VirtualLab(load_lab(LAB), seed), random.Random(seed))
    day.run(hours)
    click.echo("\n".join(table(("fault", "times"), sorted(day.happened.items()))))
    click.echo("events: " + ", ".join(f"{kind} {count}" for kind, count in day.told.most_common()))
    growth = day.life.growth
    click.echo(f"requests answered: {day.answered}; memory from the second hour: {growth or 0:+.2%}")
    if missed := [*day.missed, *day.life.faults()]:
        click.echo("\n".join(["MISSED:", *missed]))
        sys.exit(1)
    click.echo(f"everything came through, seed {seed}")


if __name__ == "__main__":
    main()
