"""Forwarding rate against size, mode by mode: `python -m bench.encap`, or `--quick` with fewer sizes and rounds."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from bench.encap.candidates import BMV2, ENDS, KERNEL, PORTS, SWITCH, Candidate, points_of, running
from bench.encap.goals import Goal, summary
from bench.encap.measure import FULL, QUICK, Effort, flooded, in_memory, lossless
from bench.encap.network import network
from bench.encap.points import Point, all_points, main_points
from bench.encap.report import Roads, draw, goals, parts, table
from bench.figures import FIGURES
from harness.commands import NotHereError, NotStartedError


@click.command()
@click.option("--quick", is_flag=True, help="The main sizes only: three minutes in place of forty.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws hosts, ports, hops and the order of turns.")
@click.option("--flow-cache", type=int, help="Ways that the switch keeps, if not as many as by default; 0 keeps none.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=FIGURES, help="Where figures go.")
def main(quick: bool, seed: int, flow_cache: int | None, out: Path) -> None:
    """Measure, print, and draw into docs/figures; status 1 if a goal is missed."""
    points = main_points() if quick else all_points()
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="wayname-bench-") as name:
            found = _measure(points, QUICK if quick else FULL, seed, flow_cache, Path(name), out)
    except (NotHereError, NotStartedError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{time.monotonic() - began:.0f} s, {_load()}")
    click.echo("\n".join(summary(found)))
    sys.exit(not all(goal.met for goal in found))


def _load() -> str:
    return "load of the machine over 1, 5 and 15 minutes: " + ", ".join(f"{load:.1f}" for load in os.getloadavg())


def _measure(
    points: Sequence[Point], effort: Effort, seed: int, flow_cache: int | None, folder: Path, out: Path
) -> list[Goal]:
    load = f"seed {seed}, {_load()}"
    click.echo(load)
    # Others on the machine may not decide what is measured; what is started here inherits this.
    with contextlib.suppress(PermissionError):
        os.nice(-20)
    options = [] if flow_cache is None else ["--flow-cache", str(flow_cache)]
    cache = "no flow cache" if flow_cache == 0 else "ways of the flow cache learned before"
    click.echo(f"== in memory, one core, the whole pipeline; {cache}")
    memory = in_memory(points, effort, seed, options, folder)
    roads = None
    try:
        click.echo("== between veth pairs")
        roads = _measure_roads(points, effort, seed, options, folder)
    except NotHereError as error:
        click.echo(f"skipped: {error}")
    # The quick run has no neighbouring sizes.
    steps = effort is FULL
    click.echo(table(memory, roads, steps=steps))
    for picture in draw(memory, roads, load, out):
        click.echo(f"drawn: {picture}")
    if roads:
        click.echo(parts(memory, roads))
    found = goals(memory, roads, steps=steps)
    click.echo("\n".join(str(goal) for goal in found))
    return found


def _measure_roads(points: Sequence[Point], effort: Effort, seed: int, options: Sequence[str], folder: Path) -> Roads:
    with network() as made, contextlib.ExitStack() as stack:

        def present(names: Sequence[str]) -> Iterator[Candidate]:
            for name in names:
                try:
                    yield stack.enter_context(running(name, points, seed, options, made, folder))
                except NotHereError as error:
                    click.echo(f"without {name}: {error}")

        switch, *others = present((SWITCH, KERNEL, PORTS, ENDS))
        floods = flooded([switch, *others], points, effort, seed, made.prefix)
        slow = list(present((BMV2,)))
        rates = lossless([switch, *slow], points_of(BMV2, points), effort, seed, made.prefix)
    return Roads(floods, rates)


main()
