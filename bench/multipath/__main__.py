"""Experiments of the multipath paper: `python -m bench.multipath`, or with `--figure 9` one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from bench.figures import FIGURES, keep
from bench.multipath import compared, crossed, disturbed, ideal, live, shared, sweep
from bench.multipath.report import Goal, Result


def experiments(quick: bool, seed: int) -> dict[str, Callable[[], Result]]:
    """Return what can be run, by name."""
    over = ideal.Ideal(quick, seed)
    return {
        "5": lambda: ideal.figure_5(over),
        "7": lambda: ideal.figure_7(over),
        "table-1": lambda: ideal.table_1(over),
        "9": lambda: crossed.run_all(seed),
        "disturbances": lambda: disturbed.run_all(quick, seed),
        "fairness": lambda: shared.run_all(quick, seed),
        "policies": lambda: compared.run_all(quick, seed),
        "live": lambda: live.run_all(quick, seed),
        "sweep": lambda: sweep.run_all(quick, seed),
    }


@click.command()
@click.option("--figure", type=click.Choice(list(experiments(False, 1))), help="One figure or table; else all of them.")
@click.option("--quick", is_flag=True, help="Fewer points and shorter runs; nothing is drawn.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same runs.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=FIGURES, help="Where figures go.")
def main(figure: str | None, quick: bool, seed: int, out: Path) -> None:
    """Measure, print, and draw into docs/figures; status 1 if a goal is missed."""
    goals: list[Goal] = []
    for name, experiment in experiments(quick, seed).items():
        if figure in (None, name):
            click.echo(f"== {f'figure {name}' if name.isdecimal() else name}")
            result = experiment()
            click.echo("\n".join([*result.text, *map(str, result.goals)]))
            if result.panels and not quick:
                click.echo(f"drawn: {keep(result.name, result.data, result.panels, out)}")
            click.echo("")
            goals += result.goals
    sys.exit(not all(goal.met for goal in goals))


main()
