"""What a session costs an edge, by how many it has: `python -m bench.cost --sessions 100000`."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from ipaddress import IPv6Address
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import click

from bench.cost.edge import RunningEdge
from bench.cost.growing import GROUP, Cost, run_within
from bench.cost.strangers import PROTOCOLS, Strangers
from bench.figures import FIGURES, Line, Panel, keep
from bench.shim6.report import table
from bench.spread import HEADS_OF_MANY, Spread, headed
from wayname.wire.ipv6 import Packet

UNDER_WAY = 8  # set-ups at once
LOST_SECONDS = 2.0  # who hears nothing for so long is given up
FLAT = 1.10  # the last tenth of all set-ups over the first
GOAL_SECONDS = 0.3e-3
MOST_RESIDENT = 16 * 2**30
PARTS = ("upkeep", "cryptography", "store", "entries", "switch")


@dataclass(frozen=True, slots=True)
class Group:
    """Set-ups that came one after the other, of a running edge."""

    sessions: int  # at its end
    controller: float  # processor seconds each
    switch: float
    waited: tuple[float, ...]  # from a stranger's first packet to its session
    resident: int


def run_live(strangers: Strangers, sessions: int, rate: float) -> list[Group]:
    """Let sessions be set up with a running edge, so many a second at most."""
    groups: list[Group] = []
    with (
        tempfile.TemporaryDirectory(prefix="wayname-") as folder,
        RunningEdge(Path(folder), strangers.configuration(Path(folder))) as edge,
    ):

        def answer(packet: Packet) -> None:
            for each in strangers.answer(packet):
                edge.send(each)

        began: dict[IPv6Address, float] = {}
        waited: list[float] = []
        standing, asked, lost = 0, 0, 0
        before = edge.spent()
        next_at = time.monotonic()
        while standing < sessions:
            now = time.monotonic()
            if len(began) < UNDER_WAY and now >= next_at:
                asked += 1
                first = strangers.ask(asked)
                began[first.source] = now
                edge.send(first)
                next_at = max(next_at + 1 / rate, now - 0.1)
            edge.receive(answer, 0.001)
            now = time.monotonic()
            for who in strangers.done():
                if who in began:
                    waited.append(now - began.pop(who))
                    standing += 1
            for who in [who for who, at in began.items() if now - at > LOST_SECONDS]:
                del began[who]
                lost += 1
            if len(waited) >= GROUP or standing >= sessions:
                spent = edge.spent()
                each = spent.since(before)
                count = len(waited)
                groups.append(
                    Group(standing, each.controller / count, each.switch / count, tuple(waited), spent.resident)
                )
                before, waited = spent, []
        click.echo(f"{strangers.name}, running: {lost} of {asked} set-ups got no answer")
    return groups


def tenths(values: Sequence[float]) -> tuple[float, float]:
    """Return the medians of the first and the last tenth."""
    size = max(1, len(values) // 10)
    return median(values[:size]), median(values[-size:])


def ms(seconds: float) -> str:
    """Write milliseconds."""
    return f"{seconds * 1e3:.2f} ms"


@click.command()
@click.option("--protocol", type=click.Choice(list(PROTOCOLS)), multiple=True, help="These; else all.")
@click.option(
    "--sessions", type=int, default=20_000, show_default=True, help="Of HIP a tenth: its cryptography is dear."
)
@click.option(
    "--rate", type=float, default=250, show_default=True, help="Set-ups a second with a running edge, at most."
)
@click.option("--live/--no-live", default=True, help="Also a running edge: switch, controller, gRPC.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=FIGURES, help="Where the figure goes.")
def main(protocol: tuple[str, ...], sessions: int, rate: float, live: bool, seed: int, out: Path) -> None:
    """Measure, print, and draw; status 1 if a goal is missed."""
    missed: list[str] = []
    parts, running = [], []
    lines: list[Line] = []
    drawn: dict[str, list[dict[str, float]]] = {}
    for key in protocol or PROTOCOLS:
        wanted = sessions // (10 if key == "hip" else 1)
        wanted = max(wanted // GROUP, 1) * GROUP
        # Each in a process of its own, so that none has the memory of another.
        with ProcessPoolExecutor(1, get_context("spawn")) as processes:
            costs = processes.submit(run_within, key, wanted, seed).result()
        name = PROTOCOLS[key].name
        parts.append(_parts(name, costs, missed))
        lines.append(Line(name, [(each.sessions, each.spent.edge * 1e3) for each in costs], marks=len(costs) < 50))
        drawn[name] = [{"sessions": each.sessions, "resident": each.resident, **asdict(each.spent)} for each in costs]
        if live:
            strangers = PROTOCOLS[key](seed, wanted)
            running.append(_row(name, run_live(strangers, wanted, min(rate, strangers.rate)), missed))
    head = ("within one process", "sessions", "edge: first tenth", "last tenth", "last/first")
    more = (
        *headed("of groups, ms"),
        "99 % of set-ups, ms",
        "worst set-up, ms",
        "upkeep",
        "cryptography",
        "store",
        "entries",
        "switch",
        "a session keeps",
        "memory, all",
    )
    click.echo("\n".join(table((*head, *more), parts)))
    if live:
        live_head = ("running edge", "sessions", "controller: first tenth", "last tenth", "last/first", "switch")
        waits = headed("waited, ms", HEADS_OF_MANY)
        click.echo("\n".join(["", *table((*live_head, *waits, "memory"), running)]))
    lines.append(Line("goal", [(0, GOAL_SECONDS * 1e3), (lines[0].points[-1][0], GOAL_SECONDS * 1e3)], marks=False))
    panel = Panel("What a set-up costs an edge", "sessions that it has", "ms of processor time", lines)
    click.echo(f"drawn: {keep('session-cost', drawn, [panel], out)}")
    for one in missed:
        click.echo(f"MISSED: {one}")
    sys.exit(1 if missed else 0)


def _parts(name: str, costs: list[Cost], missed: list[str]) -> tuple[object, ...]:
    edge = [each.spent.edge for each in costs]
    first, last = tenths(edge)
    singly = Spread.of([one * 1e3 for each in costs for one in each.edge])
    middle = [median(getattr(each.spent, part) for each in costs) for part in PARTS]
    keeps = (costs[-1].resident - costs[0].resident) / max(costs[-1].sessions - costs[0].sessions, 1)
    if last > first * FLAT:
        missed.append(f"{name}: the last tenth cost {last / first:.2f} times as much as the first")
    if last > GOAL_SECONDS:
        missed.append(f"{name}: a set-up costs the edge {ms(last)}, more than {ms(GOAL_SECONDS)}")
    if costs[-1].resident > MOST_RESIDENT:
        missed.append(f"{name}: {costs[-1].resident / 2**30:.1f} GiB of memory")
    groups = Spread.of([each * 1e3 for each in edge]).cells(2)
    memory = f"{costs[-1].resident / 2**20:.0f} MiB"
    ratio = f"{last / first:.2f}"
    return (
        name,
        costs[-1].sessions,
        ms(first),
        ms(last),
        ratio,
        *groups,
        *singly.cells_of_many(2)[3:],
        *map(ms, middle),
        f"{keeps / 1e3:.1f} kB",
        memory,
    )


def _row(name: str, groups: list[Group], missed: list[str]) -> tuple[object, ...]:
    first, last = tenths([each.controller for each in groups])
    waited = Spread.of([one * 1e3 for each in groups for one in each.waited]).cells_of_many(2)
    if last > first * FLAT:
        missed.append(f"{name}, running: the last tenth cost {last / first:.2f} times as much as the first")
    switch = ms(median(each.switch for each in groups))
    memory = f"{groups[-1].resident / 2**20:.0f} MiB"
    return name, groups[-1].sessions, ms(first), ms(last), f"{last / first:.2f}", switch, *waited, memory


if __name__ == "__main__":
    main()
