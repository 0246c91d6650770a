"""What the repository stands on: every file of it is known by its hash, and its licence goes with ours."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from repository import REPOSITORY

FILES = ("requirements.txt", "requirements-dev.txt", "ptf-tests/requirements.txt")
# The last one is of an environment of its own, where the tests are not.
EVERY_FILE = (*FILES, "docs/site/requirements.txt")
PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[A-Za-z0-9.+!]+)")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
# Each may be used by a program under the Apache License 2.0 without changing what its users may do.
ALLOWED = {
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "HPND",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    "Zlib",
    "0BSD",
    "CC0-1.0",
}
# As older packages call them.
WORDS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Only tests use them, and nothing that is installed with the package `wayname` imports them.
OF_TESTS = {"scapy": "GPL-2.0-only"}


def pins(file: str) -> dict[str, list[str]]:
    """The packages of a file with their versions, and the hashes of each."""
    found: dict[str, list[str]] = {}
    for line in (REPOSITORY / file).read_text().splitlines():
        if pin := PIN.match(line):
            hashes = found[pin[0]] = []
        elif line and not line.startswith("#"):
            [one] = HASH.findall(line)
            hashes.append(one)
    return found


def names(file: str) -> set[str]:
    return {canonicalize_name(pin.split("==")[0]) for pin in pins(file)}


def licences(name: str) -> set[str]:
    """The licences of an installed package, of which those behind AND all hold; behind OR one is chosen."""
    about: dict[str, Any] = importlib.metadata.metadata(name).json
    expression, text = about.get("license_expression", ""), about.get("license", "")
    # The text may be that of the whole licence, or none: then what it is stands in the classifiers.
    said: str = expression or (text if len(text) <= 40 else "")
    if not said:
        classes = [each.rpartition(" :: ")[2] for each in about.get("classifier", []) if "License" in each]
        said = " AND ".join(WORDS.get(each, each) for each in classes)
    said = WORDS.get(said, said)
    chosen = [set(part.strip("() ").split(" AND ")) for part in said.split(" OR ")]
    return next((each for each in chosen if each <= ALLOWED), chosen[0])


@pytest.mark.parametrize("file", EVERY_FILE)
def test_every_file_of_every_package_is_known_by_its_hash(file: str) -> None:
    found = pins(file)
    assert len(found) >= 8
    for pin, hashes in found.items():
        assert hashes, pin
        assert hashes == sorted(set(hashes)), pin


def test_versions_are_the_same_everywhere() -> None:
    versions: dict[str, str] = {}
    for file in EVERY_FILE:
        for pin in pins(file):
            name, version = pin.split("==")
            assert versions.setdefault(name, version) == version


def test_no_file_takes_packages_from_elsewhere() -> None:
    for file in (*EVERY_FILE, "Makefile", "pyproject.toml", "switch/Cargo.toml"):
        text = (REPOSITORY / file).read_text()
        assert not re.search(r"--(extra-)?index-url|--find-links|--trusted-host|git\+|\bgit = |registry = ", text), file


@pytest.mark.parametrize("file", FILES)
def test_licences_go_with_ours(file: str) -> None:
    for name in names(file):
        found = licences(name)
        assert found <= ALLOWED or found == {OF_TESTS.get(name)}, (name, found)


def needed_by(name: str) -> set[str]:
    """The packages that an installed one needs here, with what they need in turn."""
    found: set[str] = set()
    left = [name]
    while left:
        one = canonicalize_name(left.pop())
        if one not in found:
            found.add(one)
            needs = [Requirement(text) for text in importlib.metadata.requires(one) or []]
            left += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


def test_what_runs_wayname_is_pinned_apart_from_what_develops_it() -> None:
    # What installs the package is needed by it in another way.
    assert names("requirements.txt") - {"setuptools"} == needed_by("wayname") - {"wayname"}
    assert not names("requirements.txt") & names("requirements-dev.txt")


def test_what_is_installed_for_users_imports_nothing_of_tests() -> None:
    for room in ("controller/wayname", "topo/wayname_lab"):
        for path in (REPOSITORY / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not {module.partition(".")[0] for module in modules} & OF_TESTS.keys(), path


def audit(folder: Path, tools: dict[str, str]) -> tuple[int, str]:
    """Run the audit with these programs in place of the real ones; return its status and what it says."""
    for name, text in tools.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin"}
    command = ["/bin/bash", str(REPOSITORY / ".ci" / "audit")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


GOOD = "exit 0"
NO_DATABASE = "echo 'could not resolve host' >&2; exit 1"
# It writes its findings to the file behind --output.
FINDS = 'for each; do case "$before" in --output) echo "[found]" > "$each";; esac; before=$each; done; exit 1'


# It finds nothing, and says of what it knows nothing.
KNOWS_NOTHING = f"{FINDS.removesuffix('exit 1').replace('found', 'Name | Skip Reason')}exit 0"


def test_an_audit_that_knows_nothing_of_a_package_does_not_call_it_good(tmp_path: Path) -> None:
    status, said = audit(tmp_path, {"pip-audit": KNOWS_NOTHING})
    assert status == 0
    assert said.count("Skip Reason") == len(EVERY_FILE)
    assert said.count("skipped") == len(EVERY_FILE) + 1


def test_an_audit_without_its_tools_says_so_and_fails_nothing(tmp_path: Path) -> None:
    status, said = audit(tmp_path, {})
    assert status == 0
    assert said.count("skipped") == 2
    assert "cargo install" in said


def test_an_audit_without_databases_says_so_and_fails_nothing(tmp_path: Path) -> None:
    cargo = f'case "$*" in *"fetch db"*) {NO_DATABASE};; *) exit 0;; esac'
    status, said = audit(tmp_path, {"pip-audit": NO_DATABASE, "cargo-deny": GOOD, "cargo": cargo})
    assert status == 0
    assert said.count("skipped") == 2 + len(EVERY_FILE)
    assert "could not resolve host" in said


@pytest.mark.parametrize(
    "tools",
    [
        {"pip-audit": FINDS},
        {"cargo": 'case "$*" in *licenses*) exit 4;; *) exit 0;; esac'},
        {"cargo": 'case "$*" in *"check advisories"*) exit 1;; *) exit 0;; esac'},
    ],
)
def test_an_audit_that_finds_something_fails(tmp_path: Path, tools: dict[str, str]) -> None:
    good = {"pip-audit": GOOD, "cargo-deny": GOOD, "cargo": GOOD}
    assert audit(tmp_path, good)[0] == 0
    status, said = audit(tmp_path, good | tools)
    assert status == 1, said
