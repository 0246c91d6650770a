"""The lab hosts' TCP beside Linux's: `python -m bench.tcp`. Needs root and /dev/net/tun."""

from __future__ import annotations

import sys

import click

from bench.multipath.tap import missing
from bench.tcp.compared import compared, measure
from bench.tcp.scripts import SCRIPTS


@click.command()
@click.option("--draws", default=30, show_default=True, help="Conditions drawn of each kind.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same conditions for the same seed.")
@click.option("--only", type=click.Choice(list(SCRIPTS)), help="One kind; else all of them.")
def main(draws: int, seed: int, only: str | None) -> None:
    """Measure and print; status 1 if a goal is missed."""
    lacking = missing()
    if lacking:
        click.echo(f"skipped: Linux's TCP on a wire of its own needs {lacking}")
        return
    result = compared({kind: measure(kind, draws, seed) for kind in (SCRIPTS if only is None else [only])})
    click.echo("\n".join([*result.text, *(f"MISSED: {goal}" for goal in result.missed)]))
    sys.exit(1 if result.missed else 0)


if __name__ == "__main__":
    main()
