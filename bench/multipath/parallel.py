"""Runs beside each other, on as many processors as there are; each is deterministic by itself."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor

from bench.multipath.experiment import Outcome, Setup, run
from bench.multipath.network import program


def run_each(setups: Iterable[Setup]) -> list[Outcome]:
    """Run all of them; return what came of them in the same order."""
    # Compiled once, before the processes part.
    program()
    with ProcessPoolExecutor() as pool:
        return list(pool.map(_run, setups))


def _run(setup: Setup) -> Outcome:
    outcome = run(setup)
    # A network is a ring of objects with large tables in it, of whose size the collector knows nothing.
    gc.collect()
    return outcome
