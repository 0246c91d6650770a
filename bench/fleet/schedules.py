"""Fault schedules for the controllers of an edge, on the virtual clock: `python -m bench.fleet.schedules`."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import click

from bench.fleet.servers import folder_with_key
from wayname_lab.fleet.schedule import Outcome, run

PROGRESS = 500


def outcomes(seeds: range, jobs: int) -> Iterator[Outcome]:
    """Run the schedules of seeds, so many at a time; yield what comes of each, in their order."""
    with ExitStack() as cleanup:
        folder = cleanup.enter_context(folder_with_key())
        if jobs == 1:
            yield from (run(seed, folder) for seed in seeds)
            return
        pool = cleanup.enter_context(multiprocessing.get_context("spawn").Pool(jobs))
        yield from pool.imap(partial(run, folder=folder), seeds, chunksize=10)


@click.command()
@click.option("--seed", type=int, default=1, show_default=True, help="Of the first one; each has its own.")
@click.option("--schedules", type=int, default=100, show_default=True, help="How many.")
@click.option("--jobs", type=int, default=1, show_default=True, help="How many at a time.")
@click.option("--faults", is_flag=True, help="Print the faults of each schedule, also where everything held.")
def main(seed: int, schedules: int, jobs: int, faults: bool) -> None:
    """Let faults that seeds draw happen to controllers, their switch and etcd; say what did not hold."""
    began = time.monotonic()
    leaders = established = 0
    broken: list[int] = []
    for number, each in enumerate(outcomes(range(seed, seed + schedules), jobs), 1):
        leaders += each.leaders
        established += each.established
        if each.broken:
            broken.append(each.seed)
        if each.broken or faults:
            click.echo("\n".join([f"seed {each.seed}", *(f"  {line}" for line in [*each.faults, *each.broken])]))
        if number % PROGRESS == 0:
            click.echo(f"{number} schedules, {time.monotonic() - began:.0f} s", err=True)
    click.echo(
        f"{schedules} schedules from seed {seed} in {time.monotonic() - began:.0f} s: {leaders} leaders wrote to the"
        f" switch, {established} changes were looked for in the end; {len(broken)} schedules broke a rule"
    )
    if broken:
        click.echo(f"seeds {', '.join(map(str, broken))}")
        sys.exit(1)


if __name__ == "__main__":
    main()
