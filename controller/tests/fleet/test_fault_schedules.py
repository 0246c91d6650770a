"""Random faults by seed, on the virtual clock, for controllers as they run live.

`python -m bench.fleet.schedules --schedules 10000` draws more of them.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from wayname.fleet.sealing import new_key
from wayname_lab.fleet.controllers import Machine
from wayname_lab.fleet.schedule import Schedule, play, run

SCHEDULES = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sealing key of the fleet."""
    folder = tmp_path_factory.mktemp("fleet")
    key = folder / "fleet.key"
    key.touch(0o600)
    key.write_text(new_key() + "\n")
    return folder


def test_one_controller_at_a_time_writes_and_nothing_is_lost(folder: Path) -> None:
    outcomes = [run(seed, folder) for seed in range(SCHEDULES)]
    assert [(each.seed, each.broken) for each in outcomes if each.broken] == []
    # The faults are such that leaders change, and something is established under them.
    assert sum(each.leaders for each in outcomes) > 2 * SCHEDULES
    assert sum(each.established for each in outcomes) > SCHEDULES


def test_a_lease_that_is_kept_too_long_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayname.fleet.leadership.MARGIN", -2.0)
    assert any("after the end of its lease" in each for seed in range(SCHEDULES) for each in run(seed, folder).broken)


async def opened(schedule: Schedule, machine: Machine) -> None:
    """Have a controller lead alone, and open some pinholes."""
    machine.start()
    while len([each for each in schedule.rules.established.values() if each]) < 3:  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def test_who_waits_does_not_mind_what_etcd_forgets(folder: Path) -> None:
    async def what(schedule: Schedule) -> None:
        first, second, _ = schedule.machines
        await opened(schedule, first)
        second.start()
        await asyncio.sleep(3)
        await schedule.happens("compacted")
        await asyncio.sleep(10)
        kinds = [each.event.kind for machine in (first, second) for each in machine.told]
        assert "fleet.standby" in kinds
        assert "fleet.unreachable" not in kinds

    play(1, folder, what)
