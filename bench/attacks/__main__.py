"""Attacks against a live edge: `python -m bench.attacks`, `--quick` in short, `--only NAME` some of them."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
from pathlib import Path

import click

from bench.attacks import messages
from bench.attacks.attack import Attack
from bench.attacks.catalogue import ATTACKS, named
from bench.attacks.goals import missed
from bench.attacks.measure import FULL, QUICK, Attacked, Scale
from bench.attacks.message_rows import ROWS
from bench.attacks.outcome import Outcome
from bench.attacks.report import in_short, lines, page
from wayname_lab.load import LabError
from wayname_lab.running import LabFolder

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bench-attacks.md"
# As most systems have it: what an attacker of connections has to exhaust.
DESCRIPTORS = 1024


@click.command()
@click.option("--quick", is_flag=True, help="One short draw of each attack: whether it works, not what it costs.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws are the same for the same seed.")
@click.option("--only", default="", help="Attacks by name or by the beginning of it, separated by commas.")
@click.option("--write", "is_written", is_flag=True, help="Write docs/bench-attacks.md.")
def main(quick: bool, seed: int, only: str, is_written: bool) -> None:
    """Flood a live edge, print what users saw before and meanwhile; status 1 if a goal is missed."""
    attacks = named(only) if only else ATTACKS
    if not attacks:
        raise click.UsageError(f"no attack begins with {only!r}; there are {', '.join(each.name for each in ATTACKS)}")
    scale = QUICK if quick else FULL
    _limit_descriptors()
    began = time.monotonic()
    try:
        outcomes = asyncio.run(_run(attacks, seed, scale))
    except LabError as error:
        sys.exit(str(error))
    took, load = time.monotonic() - began, os.getloadavg()[1]
    click.echo("\n".join(["", *lines(outcomes)]))
    draws = sum(len(outcome.runs) for outcome in outcomes)
    conditions = f"{len(outcomes)} attacks, {draws} draws with seed {seed}, in {took:.0f} s"
    conditions += f"; load {load:.1f} of {os.cpu_count()} cores."
    click.echo(conditions)
    # They take long, and need no network: not where somebody wants some attacks, or a short look.
    measured = [] if only or quick else [messages.measure(row, seed) for row in ROWS]
    costs, dear = messages.table(measured) if measured else [], messages.missed(measured)
    if measured:
        click.echo("\n".join(["", "== each message by itself", *costs, *(f"MISSED: {goal}" for goal in dear)]))
    if is_written:
        PAGE.write_text(page(outcomes, costs, conditions), encoding="utf-8")
        click.echo(f"written: {PAGE.relative_to(PAGE.parents[1])}")
    sys.exit(1 if dear or any(found for _, found in missed(outcomes)) else 0)


async def _run(attacks: tuple[Attack, ...], seed: int, scale: Scale) -> list[Outcome]:
    outcomes = []
    with LabFolder() as folder:
        async with Attacked(folder, seed, scale) as attacked:
            began = time.monotonic()
            for number, attack in enumerate(attacks, 1):
                outcomes.append(await attacked.run(attack, began + scale.budget * number / len(ATTACKS)))
                click.echo(in_short(outcomes[-1]), err=True)
    return outcomes


def _limit_descriptors() -> None:
    """Let the edge have as many descriptors on every machine."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, most), most))


main()
