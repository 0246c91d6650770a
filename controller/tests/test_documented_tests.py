"""The tests that the documentation names are collected as they are written: each file, each name, each choice."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from repository import REPOSITORY
from test_documented_commands import PAGES, commands

Commands = list[list[str]]
WORDS = re.compile(r"\w+")


@pytest.fixture(scope="module")
def documented() -> Commands:
    """What follows `pytest` in each command of all pages."""
    return [words[1:] for page in PAGES for words in commands(page, "pytest") if places_of(words)]


@pytest.fixture(scope="module")
def collected(documented: Commands) -> list[str]:
    """The tests of all of them. All at once: what can be collected beside all others can be beside some."""
    places = sorted({place for words in documented for place in places_of(words)})
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *places]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_no_command_is_without_tests(documented: Commands, collected: list[str]) -> None:
    assert documented
    assert not [words for words in documented if not chosen(words, collected)]


def test_each_file_of_the_feature_table_has_tests(collected: list[str]) -> None:
    page = next(page for page in PAGES if page.name == "features.md")
    places = [place for words in commands(page, "pytest") for place in places_of(words)]
    assert len(places) > 40
    assert not [place for place in places if not any(test.startswith(place.rstrip("/")) for test in collected)]


def test_a_choice_that_chooses_nothing_is_found() -> None:
    tests = ["a/test_b.py::test_one_thing", "a/test_c.py::test_other[x]"]
    assert chosen(["a/", "-k", "one or nothing"], tests) == tests[:1]
    assert chosen(["a/test_c.py", "-k", "not one"], tests) == tests[1:]
    assert not chosen(["a/test_b.py", "-k", "other"], tests)
    assert not chosen(["a/test_d.py"], tests)


def places_of(words: list[str]) -> list[str]:
    """Return the files, folders and tests that a command names."""
    return [word for word in words if "/" in word and not word.startswith("-")]


def chosen(words: list[str], tests: list[str]) -> list[str]:
    """Return the tests that a command runs: of its places, those that -k chooses."""
    there = [test for test in tests if any(test.startswith(place.rstrip("/")) for place in places_of(words))]
    if "-k" not in words:
        return there
    expression = words[words.index("-k") + 1]
    return [test for test in there if fits(expression, test)]


def fits(expression: str, test: str) -> bool:
    """Whether -k chooses a test: names are parts of its own, between `and`, `or`, `not` and parentheses."""
    words = ("and", "or", "not")
    known = WORDS.sub(lambda name: name[0] if name[0] in words else str(name[0].lower() in test.lower()), expression)
    return bool(eval(known, {"__builtins__": {}}))
