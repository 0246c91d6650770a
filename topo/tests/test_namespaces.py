"""Namespaces of a lab: made one by one, and none is left whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from wayname_lab import namespaces
from wayname_lab.load import find_lab
from wayname_lab.namespaces import Namespaces, left_behind
from wayname_lab.plan import plan_lab


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the kernel's namespaces would show."""
    monkeypatch.setattr(namespaces, "NAMESPACES", tmp_path)
    monkeypatch.setattr(namespaces, "missing_for_namespaces", lambda: "")
    return tmp_path


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


async def test_an_interrupted_start_leaves_no_namespace(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(*words: str) -> None:
        match words:
            case ["ip", "netns", "add", name]:
                (there / name).touch()
                if len(names(there)) == 3:
                    raise asyncio.CancelledError
            case ["ip", "netns", "delete", name]:
                (there / name).unlink()

    monkeypatch.setattr(namespaces, "_run", run)
    medium = Namespaces(plan_lab(find_lab("line")), there)
    with pytest.raises(asyncio.CancelledError):
        await medium.set_up()
    assert len(names(there)) == 3
    await medium.tear_down()
    assert names(there) == set()


async def test_a_command_that_is_interrupted_comes_to_its_end(tmp_path: Path) -> None:
    gate, done = tmp_path / "gate", tmp_path / "done"
    os.mkfifo(gate)
    command = asyncio.create_task(namespaces._run("sh", "-c", f"read line < {gate}; echo > {done}"))
    opened = await asyncio.to_thread(gate.open, "w")
    command.cancel()
    await asyncio.sleep(0)
    opened.close()
    with pytest.raises(asyncio.CancelledError):
        await command
    assert names(tmp_path) == {"gate", "done"}


def test_what_killed_labs_left_is_found_and_nothing_else(there: Path) -> None:
    nobody = 4194305  # above the highest number of a process
    for name in (f"wayname-{nobody}-a", f"wayname-{os.getpid()}-a", f"wayname-ptf-{nobody}", "other", "wayname-x-1"):
        (there / name).touch()
    assert left_behind() == [f"wayname-{nobody}-a"]
