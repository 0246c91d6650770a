"""Experiments of the paper on ILNP's session cache: `python -m bench.ilcc`, or with `--quick` in short."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bench.figures import FIGURES, keep
from bench.ilcc import capacity, flooding, syns


@click.command()
@click.option("--quick", is_flag=True, help="Short floods and few sessions: whether it works, not what it costs.")
@click.option("--seed", type=int, default=1, show_default=True, help="Random choices are the same for the same seed.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=FIGURES, help="Where figures go.")
def main(quick: bool, seed: int, out: Path) -> None:
    """Measure, print, and draw into docs/figures; status 1 if a goal is missed."""
    missed: list[str] = []
    for measure in (flooding.run, capacity.run):
        for result in measure(seed, quick):
            click.echo("\n".join([f"== {result.name}", *result.text]))
            click.echo(f"drawn: {keep(result.name, result.data, result.panels, out)}\n")
            missed += result.missed
    lines, of_syns = syns.measure(seed, quick)
    click.echo("\n".join(["== a flood of SYNs", *lines, ""]))
    missed += of_syns
    click.echo("\n".join(["== admissions", *capacity.admissions(seed, quick), ""]))
    goals = "no place of the cache by a flood, no ping of a session lost to up to ten attackers, SYNs flat within 5 %"
    click.echo("\n".join(f"MISSED: {goal}" for goal in missed) if missed else f"met: {goals}")
    sys.exit(1 if missed else 0)


main()
