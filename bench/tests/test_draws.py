"""Every `make bench-*` takes SEED, and what it says of a condition comes of at least 30 draws unless it is quick."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import click
import pytest

from bench.attacks import measure, messages
from bench.cost.__main__ import main as cost
from bench.encap.measure import FULL as ENCAP
from bench.failover.__main__ import BULK_RUNS, RUNS
from bench.fleet import __main__ as fleet
from bench.ilcc import flooding
from bench.linux.__main__ import main as linux
from bench.multipath import cost as multipath_cost
from bench.multipath import draws, redundant, silence
from bench.offloads.__main__ import main as offloads
from bench.page.__main__ import FULL as PAGE
from bench.page.__main__ import PINGS
from bench.routes.__main__ import main as routes
from bench.routes.over_bgp import main as over_bgp
from bench.shim6 import generation, negotiating, negotiating_live, recovering
from bench.tcp.__main__ import main as tcp

REPOSITORY = Path(__file__).resolve().parents[2]
MAKEFILE = (REPOSITORY / "Makefile").read_text()
BENCH_SWITCH = REPOSITORY / "switch" / "crates" / "bench" / "src" / "main.rs"
FEWEST = 30


def default(command: click.Command, name: str) -> int:
    """Return what an option of a command is unless it is given."""
    [option] = [each for each in command.params if each.name == name]
    assert isinstance(option.default, int)
    return option.default


def of_bench_switch() -> int:
    """Return how often `bench-switch` draws."""
    [number] = re.findall(r"default_value_t = (\d+)\)\]\s+draws:", BENCH_SWITCH.read_text())
    return int(number)


DRAWS: dict[str, Callable[[], Iterable[float]]] = {
    "bench-switch": lambda: [of_bench_switch()],
    "bench-shim6": lambda: [generation.ROUNDS, negotiating.RUNS, negotiating_live.PAIRS, recovering.RUNS],
    "bench-encap": lambda: [ENCAP.memory_rounds, ENCAP.flood_rounds, ENCAP.lossless_rounds],
    "bench-multipath": lambda: [draws.DRAWS, redundant.DRAWS, multipath_cost.DRAWS],
    "bench-multipath-sender": lambda: [draws.DRAWS, silence.DRAWS],
    "bench-ilcc": lambda: [flooding.DRAWS],
    # Each set-up is one; of HIP there are a tenth.
    "bench-cost": lambda: [default(cost, "sessions") / 10],
    "bench-attacks": lambda: [measure.FULL.draws, messages.DRAWS],
    "bench-failover": lambda: [*RUNS.values(), BULK_RUNS],
    "bench-linux": lambda: [default(linux, "draws")],
    "bench-tcp": lambda: [default(tcp, "draws")],
    "bench-offloads": lambda: [default(offloads, "draws")],
    # Withdrawals of all routes take a minute each, and are fewer.
    "bench-routes": lambda: [default(routes, "draws"), default(over_bgp, "draws"), default(over_bgp, "cuts")],
    # Of packets; the browser looks once.
    "bench-page": lambda: [PAGE.seconds * PINGS],
    # Of moves; a size of fleet is started once.
    "bench-fleet": lambda: [fleet.MOVES * fleet.SECONDS],
}


def recipe(target: str) -> list[str]:
    """Return the lines of a target that start a benchmark."""
    [lines] = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    return [line for line in lines.splitlines() if re.search(r"-m bench\.|target/release/bench-", line)]


def test_all_measurements_are_known() -> None:
    [targets] = re.findall(r"^bench: (.*?) ##", MAKEFILE, re.MULTILINE)
    assert set(targets.split()) == set(DRAWS)


@pytest.mark.parametrize("target", DRAWS)
def test_a_measurement_takes_a_seed_and_draws_often(target: str) -> None:
    lines = recipe(target)
    assert lines
    assert all("--seed $(SEED)" in line for line in lines)
    counts = list(DRAWS[target]())
    assert counts
    assert min(counts) >= FEWEST


def test_the_parts_of_bench_multipath_all_take_the_seed() -> None:
    source = (REPOSITORY / "bench" / "multipath" / "__main__.py").read_text()
    parts = re.findall(r'"[\w-]+": lambda: (\w+)\.(\w+)\((.*?)\)', source)
    assert len(parts) == 17
    for module, _, arguments in parts:
        assert arguments in ("quick, seed", "over"), module
    assert "ideal.Ideal(quick, seed)" in source
