"""What is printed of a fleet's fault schedules."""

from __future__ import annotations

from click.testing import CliRunner

from bench.fleet.schedules import main as schedules


def test_a_schedule_tells_its_faults_and_what_came_of_it() -> None:
    done = CliRunner().invoke(schedules, ["--seed", "3", "--schedules", "1", "--faults"])
    assert done.exit_code == 0, done.output
    assert "s: all is mended" in done.output
    assert "1 schedules from seed 3" in done.output and "0 schedules broke a rule" in done.output
