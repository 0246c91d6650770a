"""The same cut for plain TCP, MPTCP and hosts behind edges: `python -m bench.failover`, `--quick` in short."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

from bench.failover.measure import AT_ONCE, measure
from bench.failover.report import result
from bench.failover.ways import HIP, MPTCP, PLAIN, SHIM6, Way
from bench.figures import FIGURES, keep
from bench.mptcp import IN_KERNEL
from bench.multipath.page import put
from wayname_lab.load import LabError
from wayname_lab.namespaces import missing_for_namespaces

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bench-failover.md"
# Paced applications of each way, and bulk transfers.
RUNS: dict[Way, int] = {PLAIN: 30, MPTCP: 30, SHIM6: 45, HIP: 30}
BULK_RUNS = 30
QUICK_RUNS, QUICK_BULK_RUNS = 3, 1


@click.command()
@click.option("--quick", is_flag=True, help="A few draws of each: whether it works. Nothing is drawn or written.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws are the same for the same seed.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="The figure goes there; docs stay.")
def main(quick: bool, seed: int, out: Path | None) -> None:
    """Cut a link, print what applications lost, draw, write docs/bench-failover.md; status 1 if a goal is missed."""
    missing = missing_for_namespaces()
    if missing:
        click.echo(f"skipped: namespaces {missing}")
        return
    runs = {
        # Where the kernel has no MPTCP, its row is left out.
        way: QUICK_RUNS if quick else count
        for way, count in RUNS.items()
        if not way.mptcp or IN_KERNEL.exists()
    }
    began = time.monotonic()
    try:
        seen = measure(runs, QUICK_BULK_RUNS if quick else BULK_RUNS, seed)
    except LabError as error:
        sys.exit(str(error))
    measured = result(seen)
    conditions = (
        f"seed {seed}, {time.monotonic() - began:.0f} s, {AT_ONCE} networks at once;"
        f" load {os.getloadavg()[1]:.1f} of {os.cpu_count()} cores"
    )
    printed = [*measured.text, *map(str, measured.goals), conditions]
    click.echo("\n".join(["", *printed]))
    if not quick:
        if out is None:
            put("table", printed, PAGE)
        click.echo(f"drawn: {keep(measured.name, measured.data, measured.panels, out or FIGURES)}")
    sys.exit(not all(goal.met for goal in measured.goals))


if __name__ == "__main__":
    main()
