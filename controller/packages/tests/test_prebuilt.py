"""Who has the wheel need not build: `make run` takes what is native from it, if it is of the same sources."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import prebuilt
import pytest
import rust_sources
from prebuilt import MODULES, PROGRAMS
from rust_sources import FILE


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A folder as pip leaves it; what is native is a word."""
    folder = tmp_path / "site"
    about = folder / "wayname-9.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.4\nName: wayname\nVersion: 9\n")
    (about / FILE).write_text(f"{rust_sources.digest()}\n")
    names = [f"wayname-9.dist-info/{FILE}", *MODULES, *PROGRAMS]
    for name in (*MODULES, *PROGRAMS):
        (folder / name).write_text(name)
    (about / "RECORD").write_text("".join(f"{name},,\n" for name in names))
    return folder


def took(wheel: Path, environment: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the status where nothing was built."""
    monkeypatch.setattr(prebuilt, "BUILT", environment / "nothing")
    monkeypatch.setenv("PYTHONPATH", str(wheel))
    monkeypatch.setattr(sys, "argv", ["prebuilt.py", sys.executable])
    environment.mkdir(exist_ok=True)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(environment))
    return prebuilt.main()


def test_a_wheel_of_these_sources_is_taken(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    assert took(wheel, here, monkeypatch) == 0
    assert {file.name: file.read_text() for file in here.iterdir()} == {n: n for n in (*MODULES, *PROGRAMS)}


def test_a_wheel_of_other_sources_is_not(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (wheel / "wayname-9.dist-info" / FILE).write_text("0" * 64)
    assert took(wheel, tmp_path / "here", monkeypatch) == 1
    assert "is of other sources: building" in capsys.readouterr().out
    assert not list((tmp_path / "here").iterdir())


def test_without_a_wheel_it_is_built(tmp_path: Path) -> None:
    surroundings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", prebuilt.ASK]
    said = subprocess.run(command, capture_output=True, text=True, env=surroundings, cwd="/", check=True).stdout
    # The checkout itself, installed to be edited, has no native files.
    assert MODULES[0] not in said


def test_the_digest_follows_sources_and_not_what_is_built(tmp_path: Path) -> None:
    for folder in rust_sources.FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    source = tmp_path / "switch" / "lib.rs"
    source.write_text("one")
    before = rust_sources.digest(tmp_path)
    (tmp_path / "switch" / "target").mkdir()
    (tmp_path / "switch" / "target" / "lib.rlib").write_text("built")
    assert rust_sources.digest(tmp_path) == before
    source.write_text("two")
    assert rust_sources.digest(tmp_path) != before
