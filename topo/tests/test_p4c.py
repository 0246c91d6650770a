"""What is said when p4c fails, by programs that take its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayname_lab.load import LabError
from wayname_lab.p4c import compile_for_bmv2


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (
            "echo 'a.p4(3): warning: unused' >&2; echo 'a.p4(7): error: x' >&2; echo '  ^^^' >&2; exit 1",
            "p4c-bm2-ss failed (status 1): a.p4(7): error: x",
        ),
        ("exit 3", "p4c-bm2-ss failed (status 3): it names no error"),
        ("exit 143", "p4c-bm2-ss failed (ended by SIGTERM): it names no error"),
        (
            "kill -KILL $$",
            "p4c-bm2-ss failed (ended by SIGKILL; it needs 2 GB of memory): it names no error",
        ),
        ("kill -TERM $$", "p4c-bm2-ss failed (ended by SIGTERM): it names no error"),
    ],
)
def test_a_failure_is_one_line(script: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "p4c-bm2-ss"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(LabError) as failed:
        compile_for_bmv2(tmp_path / "program.json")
    assert str(failed.value) == line


def test_without_p4c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="p4c-bm2-ss does not start: No such file or directory"):
        compile_for_bmv2(tmp_path / "program.json")


def test_it_is_told_what_to_compile_and_where_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "p4c-bm2-ss"
    compiler.write_text('#!/bin/sh\nfor last; do :; done\necho "$@" > "$last"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    compile_for_bmv2(tmp_path / "program.json")
    said = (tmp_path / "program.json").read_text()
    assert "p4src/v1model/main.p4 -o" in said and said.rstrip().endswith("program.json")
