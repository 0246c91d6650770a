"""The constants, sizes and widths that the P4 text says, each in one line of its own."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

P4SRC = Path(__file__).resolve().parents[1]

_NUMBER = r"(?P<number>0x[0-9A-Fa-f]+|\d+)"
_CONSTANT = re.compile(rf"^const (?P<type>\w+)(?:<\d+>)? +(?P<name>\w+) *= *{_NUMBER}; *(?://\s*(?P<words>.*))?$", re.M)
_SIZE = re.compile(rf"^#define +(?P<name>\w+) +{_NUMBER}$", re.M)
_WIDTH = re.compile(r"^typedef bit<(?P<bits>\d+)> +(?P<type>\w+);", re.M)


class Constant(NamedTuple):
    """A constant, and what its line says of it."""

    type: str
    name: str
    number: int
    words: str


@cache
def text() -> str:
    """Return all of the program, file after file."""
    return "\n".join(file.read_text() for file in sorted(P4SRC.rglob("*.p4")))


def constants(type_name: str) -> list[Constant]:
    """Return the constants of a type, by number; 0 for none is no member."""
    found = [
        Constant(type_name, match["name"], int(match["number"], 0), match["words"] or "")
        for match in _CONSTANT.finditer(text())
        if match["type"] == type_name
    ]
    return sorted((each for each in found if not each.name.endswith("_NONE")), key=lambda each: each.number)


def numbers() -> dict[str, int]:
    """Return each constant and size that is written as a number, by name."""
    return {match["name"]: int(match["number"], 0) for form in (_CONSTANT, _SIZE) for match in form.finditer(text())}


def widths() -> dict[str, int]:
    """Return the bits of each type, by its name."""
    return {match["type"]: int(match["bits"]) for match in _WIDTH.finditer(text())}
