"""The messages of the table of symptoms in docs/fleet.md are those that the code prints, word for word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest
from repository import REPOSITORY

PAGE = (REPOSITORY / "docs" / "fleet.md").read_text()
# A pattern with less of its own says nothing of a message.
LEAST_LETTERS, LEAST_OF_KIND = 12, 8


def symptoms() -> list[str]:
    """Return what each row of the table says that one sees."""
    [section] = re.findall(r"^## When something is wrong\n(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)
    return [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")][2:]


def words_in(cell: str) -> list[str]:
    """Return what stands as code in a cell."""
    return [each.strip() for pair in re.findall(r"`` (.+?) ``|`([^`]+)`", cell) for each in pair if each]


@cache
def printed() -> list[tuple[re.Pattern[str], int]]:
    """Return what the code has between quotation marks, with how much of it is fixed: anything may be in braces."""
    found = []
    for path in sorted((REPOSITORY / "controller" / "wayname").rglob("*.py")):
        for parts in texts(ast.parse(path.read_text())):
            pattern = "".join("(.*)" if part is None else re.escape(part) for part in parts)
            found.append((re.compile(pattern), sum(len(part) for part in parts if part)))
    return found


def texts(tree: ast.AST) -> Iterator[list[str | None]]:
    """Yield the parts of each text, None for what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield [str(each.value) if isinstance(each, ast.Constant) else None for each in node.values]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield [node.value]


def is_printed(message: str) -> bool:
    """Whether the code has a text that becomes this message, and so what is filled in, if it is more than a name."""
    matches = (pattern.fullmatch(message) for pattern, fixed in printed() if fixed >= LEAST_LETTERS)
    if any(all(is_printed(each) for each in match.groups() if " " in each) for match in matches if match):
        return True
    return "; " in message and all(map(is_printed, message.split("; ")))


def is_kind(word: str) -> bool:
    """Whether it is the kind of an event that the code tells of."""
    return any(
        fixed >= LEAST_OF_KIND and (pattern.fullmatch(word) or pattern.fullmatch(f"{word} "))
        for pattern, fixed in printed()
    )


@pytest.mark.parametrize("cell", symptoms())
def test_each_symptom_is_what_the_code_prints(cell: str) -> None:
    words = words_in(cell)
    assert words
    kinds = [each for each in words if re.fullmatch(r"\w+\.\w+", each)]
    assert is_printed(words[0]) or words[0] in kinds, words[0]
    assert all(map(is_kind, kinds)), kinds


def test_what_the_code_does_not_print_is_found() -> None:
    assert len(symptoms()) > 15
    assert not is_printed("first leads no more: its lease is over")
    assert not is_printed("nobody leads edge berlin; `wayname fleet edges` lists all edges")
    assert not is_kind("fleet.lost")
