"""What the documentation names is there: commands and their options, targets of make, tests, files, headings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from repository import REPOSITORY

from wayname.cli.root import wayname
from wayname_lab.load import lab_names

PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]
ROOMS = ("bench", "controller", "docs", "p4src", "ptf-tests", "switch", "topo")
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
IGNORED = [line for line in (REPOSITORY / ".gitignore").read_text().splitlines() if line.startswith("/")]
# Words between which a line has several commands.
BETWEEN = {"|", "&&", ";", "||", "&"}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_commands_are_there(page: Path) -> None:
    wrong = [f"{' '.join(words)}: {problem}" for words in commands(page, "wayname") if (problem := unknown(words[1:]))]
    assert not wrong


@every_page
def test_targets_of_make_are_there(page: Path) -> None:
    named = {word for words in commands(page, "make") for word in words[1:] if re.fullmatch("[a-z][a-z0-9-]*", word)}
    assert named <= TARGETS


@every_page
def test_tests_are_there(page: Path) -> None:
    assert not [test for words in commands(page, "pytest") for test in words[1:] if not is_test(test)]
    assert not [test for words in commands(page, "ptf") for test in words[1:] if not is_ptf_test(test)]


@every_page
def test_labs_are_there(page: Path) -> None:
    named = [
        words[3] for words in commands(page, "wayname") if words[1:3] in (["lab", "run"], ["lab", "plan"]) and words[3:]
    ]
    named += re.findall(r"LAB=([a-z0-9-]+)", page.read_text())
    assert {name for name in named if re.fullmatch("[a-z0-9-]+", name)} <= set(lab_names())


@every_page
def test_modules_are_there(page: Path) -> None:
    named = re.findall(r"python3? -m ((?:bench|wayname|wayname_lab)[\w.]*)", page.read_text())
    assert not [name for name in named if not is_module(name)]


@every_page
def test_files_are_there(page: Path) -> None:
    text = page.read_text()
    named = re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w./*-]*)`", text)
    assert not [path for path in named if not is_made(path) and not list(REPOSITORY.glob(path.rstrip("/")))]


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)\s]+)\)", page.read_text())
    assert not [link for link in links if not leads_somewhere(page, link)]


def test_what_is_not_there_is_found() -> None:
    assert unknown(["encap", "lost"]) == "no command lost"
    assert unknown(["encap", "list", "--lost"]) == "no option --lost"
    assert not unknown(["--api", "unix:a", "encap", "list", "policy", "--json"])
    assert not is_test("controller/tests/test_documented_commands.py::test_lost")
    assert is_ptf_test("sessions") and not is_ptf_test("sessions.Lost") and not is_ptf_test("lost")
    assert not leads_somewhere(PAGES[0], "docs/cli.md#lost")


def commands(page: Path, program: str) -> Iterator[list[str]]:
    """Yield the words of each command of a program that a page shows."""
    text = page.read_text()
    fenced = re.findall(r"^```(?:sh|console|text|bash)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in fenced for line in block.replace("\\\n", " ").splitlines()]
    for shown in [*lines, *re.findall(r"`([^`\n]+)`", text)]:
        words = words_of(re.sub(r"[][]", "", shown.replace(r"\|", "|")))
        while words and (words[0] in ("$", "#", "sudo", "python3", "python", "-m") or "=" in words[0]):
            words = words[1:]
        if words and words[0].rpartition("/")[2] == program:
            yield words


def words_of(line: str) -> list[str]:
    """Return the words up to the next command or comment; none if it is no command line."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    end = next((at for at, word in enumerate(words) if word in BETWEEN or word.startswith((">", "<"))), len(words))
    return words[:end]


def unknown(words: list[str]) -> str:
    """Return what of the words after `wayname` there is not; arguments may be anything."""
    command: click.Command = wayname
    context = click.Context(command)
    options = {name for option in command.get_params(context) for name in option.opts}
    takes_value = False
    for word in words:
        if takes_value:
            takes_value = False
        elif word.startswith("-") and word != "-":
            name = word.partition("=")[0]
            found = next((each for each in command.get_params(context) if name in each.opts), None)
            if found is None and name not in options and name not in ("--help", "-h"):
                return f"no option {name}"
            takes_value = isinstance(found, click.Option) and not found.is_flag and "=" not in word
        elif isinstance(command, click.Group) and re.fullmatch("[a-z][a-z0-9-]*", word):
            inner = command.get_command(context, word)
            if inner is None:
                return f"no command {word}"
            command, context = inner, click.Context(inner, context)
            options |= {name for option in command.get_params(context) for name in option.opts}
    return ""


def is_made(path: str) -> bool:
    """Whether a path is of what is built or found here, so that it need not be there."""
    return any(f"/{path}".startswith(line) for line in IGNORED)


def is_module(name: str) -> bool:
    """Whether `python -m` finds a module of ours."""
    places = (room / name.replace(".", "/") for room in (REPOSITORY, REPOSITORY / "controller", REPOSITORY / "topo"))
    return any(place.with_suffix(".py").exists() or (place / "__main__.py").exists() for place in places)


def is_test(word: str) -> bool:
    """Whether a word after `pytest` is an option, or a file or a test that is there."""
    path, _, name = word.partition("::")
    if word.startswith("-") or "/" not in path:
        return True
    file, names = REPOSITORY / path, [each for each in name.split("::") if each]
    return file.exists() and all(re.search(rf"(def|class) {each}\b", file.read_text()) for each in names)


def is_ptf_test(word: str) -> bool:
    """Whether a word after `ptf` is an option, or a suite or a test of one that is there."""
    if word.startswith("-"):
        return True
    suite, _, name = word.partition(".")
    file = REPOSITORY / "ptf-tests" / "suites" / f"{suite}.py"
    return file.exists() and (not name or re.search(rf"class {name}\b", file.read_text()) is not None)


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a link's file is there, and the heading that it names."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return False
    headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE) if anchor else []
    return not anchor or anchor in {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
