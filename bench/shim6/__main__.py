"""Experiments of the Shim6 paper: `python -m bench.shim6`, or with `--figure 6` one of them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bench.figures import FIGURES, keep
from bench.shim6 import generation, maintaining, negotiating, recovering, responding

EXPERIMENTS = {6: generation.run, 7: negotiating.run, 9: recovering.run, 10: responding.run, 11: maintaining.run}


@click.command()
@click.option(
    "--figure", type=click.Choice([str(number) for number in EXPERIMENTS]), help="One figure; else all of them."
)
@click.option("--full", is_flag=True, help="Figure 6 to the end of Sec 2, figure 9 all live: minutes.")
@click.option("--seed", type=int, default=1, show_default=True, help="What is by lot is the same for the same seed.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=FIGURES, help="Where figures go.")
def main(figure: str | None, full: bool, seed: int, out: Path) -> None:
    """Measure, print, and draw into docs/figures; status 1 if a goal is missed."""
    missed: list[str] = []
    for number, experiment in EXPERIMENTS.items():
        if figure in (None, str(number)):
            click.echo(f"== figure {number}")
            result = experiment(seed, full)
            click.echo("\n".join([*result.text, *(f"MISSED: {goal}" for goal in result.missed)]))
            click.echo(f"drawn: {keep(result.name, result.data, result.panels, out)}\n")
            missed += result.missed
    sys.exit(1 if missed else 0)


main()
