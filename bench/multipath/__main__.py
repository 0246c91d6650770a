"""Experiments over several paths: `python -m bench.multipath [--sender]`, or with `--figure 9` one of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from bench.figures import FIGURES, keep
from bench.multipath import (
    beside_mptcp,
    compared,
    cost,
    crossed,
    disturbed,
    edges,
    fairness,
    fed,
    feedback,
    ideal,
    live,
    page,
    redundant,
    sender_fairness,
    silence,
    sweep,
)
from bench.multipath.report import Goal, Result, summary

Experiments = dict[str, Callable[[], Result]]


def of_both_edges(quick: bool, seed: int) -> Experiments:
    """Return what edges do that tell each other what came by each path, by name."""
    return {
        "feedback": lambda: feedback.run_all(quick, seed),
        "redundant": lambda: redundant.run_all(quick, seed),
        "fairness": lambda: fairness.run_all(quick, seed),
        "mptcp": lambda: beside_mptcp.run_all(quick, seed),
        "cost": lambda: cost.run_all(quick, seed),
    }


def of_the_sender(quick: bool, seed: int) -> Experiments:
    """Return what the sending edge does alone, as in the paper, and what is compared with it, by name."""
    over = ideal.Ideal(quick, seed)
    return {
        "5": lambda: ideal.figure_5(over),
        "7": lambda: ideal.figure_7(over),
        "table-1": lambda: ideal.table_1(over),
        "9": lambda: crossed.run_all(quick, seed),
        "disturbances": lambda: disturbed.run_all(quick, seed),
        "silence": lambda: silence.run_all(quick, seed),
        "fed": lambda: fed.run_all(quick, seed),
        "sender-fairness": lambda: sender_fairness.run_all(quick, seed),
        "policies": lambda: compared.run_all(quick, seed),
        "live": lambda: live.run_all(quick, seed),
        "edges": lambda: edges.run_all(quick, seed),
        "sweep": lambda: sweep.run_all(quick, seed),
    }


def processor_seconds() -> float:
    """Return what this process and those that it started have used of the processors."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


NAMES = (*of_both_edges(False, 1), *of_the_sender(False, 1))


@click.command()
@click.option("--sender", is_flag=True, help="What the sending edge does alone; else what both edges do.")
@click.option("--figure", type=click.Choice(NAMES), help="One figure or table, of either kind.")
@click.option("--quick", is_flag=True, help="Fewer draws and shorter runs, no goals; docs stay.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same runs.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Figures go there; docs stay.")
def main(sender: bool, figure: str | None, quick: bool, seed: int, out: Path | None) -> None:
    """Measure, print, draw, keep what was printed in docs/experiments-multipath.md; status 1 if a goal is missed."""
    goals: dict[str, list[Goal]] = {}
    kinds = {False: of_both_edges(quick, seed), True: of_the_sender(quick, seed)}
    for name, experiment in (kinds[False] | kinds[True]).items():
        if figure == name or (figure is None and name in kinds[sender]):
            click.echo(f"== {f'figure {name}' if name.isdecimal() else name}")
            begun, spent = time.monotonic(), processor_seconds()
            result = experiment()
            printed = [*result.text, *(() if quick else map(str, result.goals))]
            click.echo("\n".join(printed))
            if not quick and out is None:
                page.put(name, printed)
            if result.panels and (out or not quick):
                click.echo(f"drawn: {keep(result.name, result.data, result.panels, out or FIGURES)}")
            took = f"{time.monotonic() - begun:.0f} s, {processor_seconds() - spent:.0f} s of processor time"
            click.echo(f"{took}\n")
            goals[name] = [] if quick else list(result.goals)
    # A third of a run is slow start: the goals are those of whole runs.
    click.echo("goals are judged without QUICK alone" if quick else "\n".join(summary(goals)))
    sys.exit(not all(goal.met for some in goals.values() for goal in some))


main()
