"""The tests in Rust that the documentation names are there: packages, files, names."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from repository import REPOSITORY
from test_documented_commands import PAGES, commands
from test_p4runtime_page import CRATES, NAMED, names_in

WORKSPACE = REPOSITORY / "switch"
COMPARISON = REPOSITORY / "docs" / "comparison.md"


@pytest.fixture(scope="module")
def packages() -> dict[str, Path]:
    """The folder of each package."""
    members = tomllib.loads((WORKSPACE / "Cargo.toml").read_text())["workspace"]["members"]
    manifests = [manifest for member in members for manifest in WORKSPACE.glob(f"{member}/Cargo.toml")]
    return {tomllib.loads(manifest.read_text())["package"]["name"]: manifest.parent for manifest in manifests}


def test_each_command_runs_tests(packages: dict[str, Path]) -> None:
    named = [words for page in PAGES for words in commands(page, "cargo") if words[1:2] == ["test"]]
    assert len(named) > 10
    assert not [" ".join(words) for words in named if not runs(words[2:], packages)]


def test_each_test_of_the_comparison_is_there() -> None:
    there = set[str]().union(*(names_in(path.read_text()) for path in CRATES.rglob("*.rs")))
    named = set(NAMED.findall(COMPARISON.read_text())) - {"simple_switch_grpc"}
    assert len(named) > 10
    assert not named - there


def test_a_command_that_runs_nothing_is_found(packages: dict[str, Path]) -> None:
    assert runs(["--release", "-p", "loader", "--test", "metered"], packages)
    assert not runs(["-p", "lost"], packages)
    assert not runs(["-p", "loader", "--test", "lost"], packages)
    assert not runs(["-p", "loader", "lost_and_never_found"], packages)


def runs(words: list[str], packages: dict[str, Path]) -> bool:
    """Whether `cargo test` with these words finds a file of tests, and a name in it if one is given."""
    values = dict(pairwise(words))
    if "-p" not in values:
        return True
    folder = packages.get(values["-p"])
    if folder is None:
        return False
    target = values.get("--test", "**/*")
    files = [*folder.glob(f"tests/{target}.rs"), *folder.glob(f"tests/{target}/*.rs")]
    files += [] if "--test" in values else folder.glob("src/**/*.rs")
    tests = {path.stem: text for path in files if "test]\n" in (text := path.read_text())}
    options = {"-p", values["-p"], "--test", target}
    [part] = [word for word in words if not word.startswith("-") and word not in options] or [""]
    # A part of the name of a module or a test. Macros name some tests.
    return any(part in stem or part in text for stem, text in tests.items())
