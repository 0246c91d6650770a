"""Experiments of the paper on ILNP's session cache: `python -m bench.ilcc`, or with `--figure floods` one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from bench.figures import FIGURES, keep
from bench.ilcc import capacity, flooding, syns
from bench.shim6.report import Result

EXPERIMENTS: dict[str, Callable[[int, bool], Sequence[Result]]] = {
    "floods": flooding.run,
    "sessions": capacity.run,
    "syns": syns.run,
    "admissions": capacity.admissions,
}


@click.command()
@click.option("--figure", type=click.Choice(list(EXPERIMENTS)), help="One experiment; else all of them.")
@click.option("--quick", is_flag=True, help="Short floods and few sessions: whether it works. Nothing is drawn.")
@click.option("--seed", type=int, default=1, show_default=True, help="Random choices are the same for the same seed.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=FIGURES, help="Where figures go.")
def main(figure: str | None, quick: bool, seed: int, out: Path) -> None:
    """Measure, print, and draw into docs/figures; status 1 if a goal is missed."""
    missed: list[str] = []
    for name, experiment in EXPERIMENTS.items():
        if figure in (None, name):
            for result in experiment(seed, quick):
                text = [f"== {result.name}", *result.text]
                if result.panels and not quick:
                    text.append(f"drawn: {keep(result.name, result.data, result.panels, out)}")
                click.echo("\n".join([*text, ""]))
                missed += result.missed
    click.echo("\n".join(f"MISSED: {goal}" for goal in missed))
    sys.exit(1 if missed else 0)


main()
