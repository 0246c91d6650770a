"""The manual pages, by the words of those who set them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from places import PACKAGES, REPOSITORY, Run

from wayname.cli.root import COMMANDS, wayname

SWITCH = REPOSITORY / "switch" / "target" / "release" / "wayname-switch"


@pytest.fixture(scope="module")
def pages(run: Run, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """All pages."""
    folder = tmp_path_factory.mktemp("man")
    run(sys.executable, PACKAGES / "manual.py", folder)
    (folder / "wayname-switch.8").write_text(run(SWITCH, "man"))
    return sorted(folder.rglob("*.[158]"))


def test_the_page_of_commands_has_all_of_them(pages: list[Path]) -> None:
    text = next(page for page in pages if page.name == "wayname.1").read_text()
    context = click.Context(wayname, info_name="wayname")
    for name in COMMANDS:
        command = wayname.get_command(context, name)
        below = list(command.commands) if isinstance(command, click.Group) else []
        for words in (name, *(f"{name} {each}" for each in below)):
            assert f'.SS "\\fBwayname {words}\\fR'.replace("-", "\\-") in text.replace("\\-", "-").replace("-", "\\-")


@pytest.mark.skipif(not shutil.which("man"), reason="man is not there")
def test_groff_has_no_warnings(pages: list[Path]) -> None:
    assert [page.name for page in pages] == ["wayname.1", "wayname.toml.5", "wayname-switch.8"]
    for page in pages:
        command: list[str | Path] = ["man", "--warnings", "--local-file", page]
        surroundings = {"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not there")
def test_mandoc_has_no_warnings(pages: list[Path]) -> None:
    for page in pages:
        # The page that clap writes has macros where mandoc would do without.
        level = "error" if page.name == "wayname-switch.8" else "warning"
        done = subprocess.run(["mandoc", "-T", "lint", "-W", level, page], capture_output=True, text=True, check=False)
        assert done.stdout == ""
