"""Whether a busy machine takes an edge from a controller that lives: `python -m bench.fleet.false_takeovers`.

Two controllers of an edge, three members of etcd and a session with traffic, and nothing fails. Load is what runs
beside it; `--busy` adds processes that never rest.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import click

from wayname_lab.etcd import missing_for_etcd
from wayname_lab.fleet_lab import SECOND, FleetLab, with_session
from wayname_lab.programs import python

LOOK = 1.0  # seconds
NAMES = {"a-controller": "the first", SECOND: "the second"}
TOLD = {"fleet.leads", "fleet.standby", "fleet.ended", "fleet.held", "fleet.resumed", "fleet.unreachable"}


@dataclass(frozen=True, slots=True)
class Hour:
    """What happened, and what was told of the fleet meanwhile."""

    seconds: float
    loads: list[float]
    told: dict[str, Counter[str]]
    answers: list[tuple[float, int]]

    @property
    def takeovers(self) -> int:
        """How often a controller began to lead."""
        return sum(each["fleet.leads"] for each in self.told.values())

    @property
    def lost(self) -> int:
        """How many pings had no answer."""
        numbers = {number for _, number in self.answers}
        return max(numbers) - min(numbers) + 1 - len(numbers)

    @property
    def silence(self) -> float:
        """The longest time without an answer, in seconds."""
        return max(later - earlier for (earlier, _), (later, _) in pairwise(sorted(self.answers)))


def told(lab: FleetLab) -> dict[str, Counter[str]]:
    """Count what each controller has said of the fleet."""
    return {each: Counter(kind for kind in lab.kinds(each) if kind in TOLD) for each in NAMES}


async def watch(minutes: float) -> Hour:
    """Have the lab run for so long."""
    async with with_session("two-sites") as lab:
        await asyncio.sleep(LOOK)
        before, seen, began = told(lab), len(lab.replies), time.monotonic()
        loads = []
        while time.monotonic() < began + minutes * 60:
            await asyncio.sleep(LOOK)
            loads.append(os.getloadavg()[0])
        since = {each: count - before[each] for each, count in told(lab).items()}
        return Hour(time.monotonic() - began, loads, since, lab.replies[seen:])


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Have so many processes compute."""
    command = [python(), "-c", "while True: pass"]
    running = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


@click.command()
@click.option("--minutes", type=float, default=60.0, show_default=True)
@click.option("--busy", "processes", type=int, default=0, show_default=True, help="Processes that compute beside it.")
def main(minutes: float, processes: int) -> None:
    """Watch, and print; status 1 if the edge went to another controller, or a ping was lost."""
    if reason := missing_for_etcd():
        sys.exit(reason)
    with busy(processes):
        hour = asyncio.run(watch(minutes))
    loads = sorted(hour.loads)
    low, middle, high = (loads[int((len(loads) - 1) * share)] for share in (0.1, 0.5, 0.9))
    click.echo(
        f"{hour.seconds / 60:.1f} minutes, leases of {FleetLab.lease} s, {os.cpu_count()} cores, "
        f"load {middle:.1f} at the median, {low:.1f} to {high:.1f}, {loads[-1]:.1f} at most"
    )
    for each, count in hour.told.items():
        said = ", ".join(f"{kind} {times}" for kind, times in sorted(count.items())) or "nothing"
        click.echo(f"{NAMES[each]} said: {said}")
    click.echo(
        f"takeovers {hour.takeovers}; {len(hour.answers)} pings answered, {hour.lost} lost, "
        f"longest silence {hour.silence * 1000:.0f} ms"
    )
    sys.exit(1 if hour.takeovers or hour.lost else 0)


if __name__ == "__main__":
    main()
