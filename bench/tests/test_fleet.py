"""What is printed of fleets by their size."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.fleet.__main__ import main
from bench.fleet.edges import Figures
from bench.fleet.false_takeovers import Hour
from bench.fleet.measured import HEAD, MIB, EtcdLoad, Measured
from bench.fleet.rolling_restart import HEAD as RESTARTED
from bench.fleet.rolling_restart import main as rolling_restart
from bench.fleet.schedules import main as schedules
from bench.fleet.takeovers import Draws
from wayname_lab.etcd import missing_for_etcd


@pytest.mark.skipif(bool(missing_for_etcd()), reason="needs etcd")
def test_each_size_has_its_row_and_all_moves_are_seen(tmp_path: Path) -> None:
    words = ["--edges", "2", "--sessions", "20", "--moves", "10", "--seconds", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    head, row = [line for line in done.output.splitlines() if line.startswith(("edges", "2 "))]
    assert head.startswith(HEAD[0])
    cells = row.split()
    assert len(cells) == len(HEAD)
    assert (cells[0], cells[4]) == ("2", "40")
    assert float(cells[9]) == 10
    assert json.loads((tmp_path / "fleet.json").read_text()) == {"head": list(HEAD), "rows": [cells]}
    assert (tmp_path / "fleet.svg").exists()


def test_a_thousand_edges_are_judged() -> None:
    figures = Figures(1000, 0, 1500 * MIB, 61.0, 70.0, 100_000, 20.0, 1.0, [0.5] * 98 + [1.5] * 2, 0, 1.0, 1800.0, 0)
    at_rest = EtcdLoad(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    large = Measured(figures, (at_rest, replace(at_rest, at=1.0), replace(at_rest, at=2.0)), 1.0, 10.0)
    assert large.verdicts == [
        "met: 1000 edges: 1.50 MiB an edge; 2 wanted",
        "MISSED: 1000 edges: 61.00 s from nothing; 60 wanted",
        "MISSED: 1000 edges: 1.50 s until 99 of 100 moves are seen; 1 wanted",
    ]
    assert not replace(large, figures=replace(figures, edges=999)).verdicts


@pytest.mark.skipif(bool(missing_for_etcd()), reason="needs etcd")
def test_each_edge_has_a_leader_again_after_a_rolling_restart() -> None:
    done = CliRunner().invoke(rolling_restart, ["--edges", "2", "--sessions", "3"])
    assert done.exit_code == 0, done.output
    [row] = [line.split() for line in done.output.splitlines() if line.startswith("2 ")]
    assert len(row) == len(RESTARTED) and row[:2] == ["2", "6"]


def test_a_schedule_tells_its_faults_and_what_came_of_it() -> None:
    done = CliRunner().invoke(schedules, ["--seed", "3", "--schedules", "1", "--faults"])
    assert done.exit_code == 0, done.output
    assert "s: all is mended" in done.output
    assert "1 schedules from seed 3" in done.output and "0 schedules broke a rule" in done.output


def test_an_hour_tells_who_took_over_and_which_pings_were_lost() -> None:
    told = {"first": Counter({"fleet.held": 1}), "second": Counter({"fleet.leads": 2})}
    hour = Hour(60.0, [1.0], told, [(0.0, 7), (0.5, 8), (2.0, 11), (1.75, 10)])
    assert (hour.takeovers, hour.lost, hour.silence) == (2, 1, 1.25)


def test_takeovers_are_judged_by_nine_draws_in_ten() -> None:
    draws = Draws("controller")
    for without in [1.0] * 8 + [1.9, 9.0]:
        draws.add(without, 0)
    assert draws.verdict.startswith("MISSED: controller: 2.61 s")
    draws = Draws("etcd", [1.0] * 9 + [9.0], [0] * 9 + [3], [0.5] * 10)
    assert draws.verdict.startswith("met: etcd: 1.80 s")
    assert draws.row == ("etcd", "1.00", "1.00", "1.80", "9.00", "0", "3", "0.5")
