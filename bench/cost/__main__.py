"""What a session costs an edge, by how many it has: `python -m bench.cost --sessions 100000`."""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from ipaddress import IPv6Address
from pathlib import Path
from statistics import median, quantiles

import click

from bench.cost.edge import RunningEdge
from bench.cost.strangers import PROTOCOLS, Strangers
from bench.cost.within import EdgeWithin, Spent, resident_most
from bench.shim6.report import table
from wayname.wire.ipv6 import Packet

GROUP = 500
UNDER_WAY = 8  # set-ups at once
LOST_SECONDS = 2.0  # who hears nothing for so long is given up
FLAT = 1.10  # the last tenth of all set-ups over the first
GOAL_SECONDS = 0.3e-3
MOST_RESIDENT = 16 * 2**30


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
        RunningEdge(Path(folder), strangers.configuration) as edge,
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


def run_within(strangers: Strangers, sessions: int, rate: float, seed: int) -> list[Spent]:
    """Let sessions be set up with an edge in this process; return what each cost, by groups."""
    groups = []
    with tempfile.TemporaryDirectory(prefix="wayname-") as folder:
        edge = EdgeWithin(Path(folder), strangers.configuration, seed)
        # What is there already is no garbage, and looking through it again and again is the benchmark's own doing.
        gc.collect()
        gc.freeze()
        try:
            for group in range(sessions // GROUP):
                edge.spent = Spent()
                for number in range(GROUP):
                    edge.exchange(strangers.ask(group * GROUP + number + 1), strangers.answer)
                    edge.pass_time(1 / rate)
                if len(strangers.done()) != GROUP:
                    raise RuntimeError(f"{strangers.name}: a set-up failed within this process")
                each = (getattr(edge.spent, field.name) / GROUP for field in fields(Spent))
                groups.append(Spent(*each))
        finally:
            edge.close()
            gc.unfreeze()
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
@click.option("--sessions", type=int, default=20_000, show_default=True)
@click.option("--rate", type=float, default=400, show_default=True, help="Set-ups a second, at most.")
@click.option("--live/--no-live", default=True, help="Also a running edge: switch, controller, gRPC.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(protocol: tuple[str, ...], sessions: int, rate: float, live: bool, seed: int) -> None:
    """Measure and print; status 1 if a goal is missed."""
    missed: list[str] = []
    parts, running = [], []
    for name in protocol or PROTOCOLS:
        strangers = PROTOCOLS[name](seed)
        groups = run_within(strangers, sessions, rate, seed)
        first, last = tenths([each.edge for each in groups])
        others = (median(getattr(each, part) for each in groups) for part in ("store", "entries", "switch"))
        memory = f"{resident_most() / 2**20:.0f} MiB"
        parts.append((strangers.name, sessions, ms(first), ms(last), f"{last / first:.2f}", *map(ms, others), memory))
        if last > first * FLAT:
            missed.append(f"{strangers.name}: the last tenth cost {last / first:.2f} times as much as the first")
        if last > GOAL_SECONDS:
            missed.append(f"{strangers.name}: a set-up costs the edge {ms(last)}, more than {ms(GOAL_SECONDS)}")
        if resident_most() > MOST_RESIDENT:
            missed.append(f"{strangers.name}: {memory} of memory")
        if live:
            running.append(_row(strangers.name, run_live(PROTOCOLS[name](seed), sessions, rate), missed))
    head = ("within one process", "sessions", "edge, first tenth", "last tenth", "last/first", "store", "entries")
    click.echo("\n".join(table((*head, "switch", "memory, all"), parts)))
    if live:
        live_head = ("running edge", "sessions", "controller, first tenth", "last tenth", "last/first", "switch")
        click.echo("\n".join(["", *table((*live_head, "waited: median", "90 %", "99 %", "worst", "memory"), running)]))
    for one in missed:
        click.echo(f"MISSED: {one}")
    sys.exit(1 if missed else 0)


def _row(name: str, groups: list[Group], missed: list[str]) -> tuple[object, ...]:
    first, last = tenths([each.controller for each in groups])
    waited = [one for each in groups for one in each.waited]
    cuts = quantiles(waited, n=100)
    if last > first * FLAT:
        missed.append(f"{name}, running: the last tenth cost {last / first:.2f} times as much as the first")
    switch = ms(median(each.switch for each in groups))
    delays = (ms(one) for one in (median(waited), cuts[89], cuts[98], max(waited)))
    memory = f"{groups[-1].resident / 2**20:.0f} MiB"
    return name, groups[-1].sessions, ms(first), ms(last), f"{last / first:.2f}", switch, *delays, memory


main()
