"""Experiments of the Shim6 paper: `python -m bench.shim6`, or with `--figure 6` one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from bench.figures import FIGURES, keep
from bench.multipath.page import put
from bench.shim6 import generation, maintaining, negotiating, recovering, responding
from bench.shim6.report import Result

PAGE = Path(__file__).resolve().parents[2] / "docs" / "experiments-shim6.md"


def experiments(seed: int, full: bool, quick: bool) -> dict[int, Callable[[], Result]]:
    """Return what can be run, by the number of its figure."""
    return {
        6: lambda: generation.run(seed, full),
        7: lambda: negotiating.run(seed, full),
        9: lambda: recovering.run(seed, quick),
        10: lambda: responding.run(seed, full),
        11: lambda: maintaining.run(seed, full),
    }


@click.command()
@click.option(
    "--figure",
    type=click.Choice([str(number) for number in experiments(1, False, False)]),
    help="One figure; else all.",
)
@click.option("--full", is_flag=True, help="Figure 6 to the end of Sec 2: minutes.")
@click.option("--quick", is_flag=True, help="Figure 9 with few runs: whether it works. Nothing is drawn.")
@click.option("--seed", type=int, default=1, show_default=True, help="Random choices are the same for the same seed.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=FIGURES, help="Where figures go.")
def main(figure: str | None, full: bool, quick: bool, seed: int, out: Path) -> None:
    """Measure, print, draw into docs/figures, keep what was printed in the page; status 1 if a goal is missed."""
    missed: list[str] = []
    for number, experiment in experiments(seed, full, quick).items():
        if figure in (None, str(number)):
            click.echo(f"== figure {number}")
            result = experiment()
            printed = [*result.text, *(f"MISSED: {goal}" for goal in result.missed)]
            click.echo("\n".join(printed))
            if not quick and out == FIGURES:
                put(f"figure-{number}", printed, PAGE)
            if not quick:
                click.echo(f"drawn: {keep(result.name, result.data, result.panels, out)}\n")
            missed += result.missed
    sys.exit(1 if missed else 0)


main()
