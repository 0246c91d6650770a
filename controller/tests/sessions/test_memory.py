"""What a controller writes down is there for the next one, and for nobody else."""

from __future__ import annotations

import resource
import shutil
import sqlite3
from pathlib import Path

import pytest
from repository import REPOSITORY
from sessions.pair import Side

from wayname.adapter import StateError
from wayname.adapter.state_file import FORM, StateFile
from wayname.edge.boundary import Persist

# What each release wrote down, as the text that SQLite makes it of.
STATES = REPOSITORY / "controller" / "tests" / "states"


def test_what_was_put_is_there_after_a_crash(tmp_path: Path) -> None:
    memory = StateFile(tmp_path / "state")
    memory.put(Persist("context 1", {"tag": 2**46, "paths": [1, None, "x"]}))
    memory.put(Persist("context 2", {}))
    memory.put(Persist("context 1", {"tag": 5}))
    memory.put(Persist("number 3", 7))
    memory.put(Persist("number 3", None))
    # Not closed: what is there now is what a killed process leaves.
    shutil.copytree(tmp_path, tmp_path / "left")
    assert StateFile(tmp_path / "left" / "state").read() == {"context 1": {"tag": 5}, "context 2": {}}


def test_nobody_else_reads_it(tmp_path: Path) -> None:
    StateFile(tmp_path / "state").put(Persist("context", {"tag": 1}))
    assert all(each.stat().st_mode & 0o077 == 0 for each in tmp_path.iterdir())


def test_what_is_no_state_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but longer than a header of one would be" * 20)
    newer = sqlite3.connect(tmp_path / "newer")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    for each in tmp_path.iterdir():
        each.chmod(0o600)
    for name, what in (("text", "cannot be used"), ("newer", "written by a newer wayname"), ("no/where", "cannot be")):
        with pytest.raises(StateError) as error:
            StateFile(tmp_path / name)
        assert str(error.value).startswith(f"{tmp_path / name}: ")
        assert what in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("form", range(2, FORM + 1))
def test_sessions_go_on_from_a_file_of_each_release(form: int, tmp_path: Path) -> None:
    stored = sqlite3.connect(tmp_path / "state")
    stored.executescript((STATES / f"{form}.sql").read_text())
    stored.close()
    (tmp_path / "state").chmod(0o600)
    side = Side(1, memory=StateFile(tmp_path / "state").read())
    side.start(100.0)
    assert len(side.only.paths) == 4
    side.carry_out()
    assert [entry["tag"] for entry in side.entries("context_tags")] == [123740618249086]


def test_a_file_is_one_controller_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayname.adapter.state_file.LOCKED_SECONDS", 0)
    first = StateFile(tmp_path / "state")
    with pytest.raises(StateError, match=r"state: is another controller's; end that one, or set controller.state"):
        StateFile(tmp_path / "state")
    first.put(Persist("number", 1))
    first.close()
    assert StateFile(tmp_path / "state").read() == {"number": 1}


def test_what_a_full_disk_did_not_take_is_written_when_there_is_room(tmp_path: Path) -> None:
    memory = StateFile(tmp_path / "state")
    [pages] = memory._file.execute("PRAGMA page_count").fetchone()
    memory._file.execute(f"PRAGMA max_page_count = {pages}")
    trouble = memory.put(Persist("context 1", "x" * 9999))
    assert trouble.startswith(f"{tmp_path / 'state'}: cannot be written (database or disk is full); mend that, or")
    assert memory.put(Persist("context 2", 2)) == trouble
    memory._file.execute(f"PRAGMA max_page_count = {pages + 9}")
    assert memory.put(Persist("context 3", 3)) == ""
    assert memory.read() == {"context 1": "x" * 9999, "context 2": 2, "context 3": 3}


def test_a_controller_starts_on_a_full_disk(tmp_path: Path) -> None:
    memory = StateFile(tmp_path / "state")
    memory.put(Persist("number", 1))
    memory.close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file grows, as where there is no room.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        memory = StateFile(tmp_path / "state")
        assert memory.read() == {"number": 1}
        assert "cannot be written" in memory.put(Persist("number", 2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert memory.put() == ""
    assert memory.read() == {"number": 2}
