"""Reads TOML that somebody else wrote: whatever is in it, there are tables or one line that says what is wrong."""

from __future__ import annotations

import tomllib
from typing import Any

# Deeper than any table of ours; what is deeper could not even be shown in an error.
MOST_NESTED = 16
MOST_BITS = 64
_TOO_DEEP = f"has tables or lists in each other more than {MOST_NESTED} deep; correct it"
_TOO_LONG = f"has a whole number of more than {MOST_BITS} bits; write a smaller one"


class TomlError(Exception):
    """What is wrong with a text, and how to mend it; who reads the file says its name."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a text."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"is not TOML ({error}); correct the line") from None
    except RecursionError:
        raise TomlError(_TOO_DEEP) from None
    except ValueError:
        # Python refuses to read decimal numbers of some thousand digits, which would take it long.
        raise TomlError(_TOO_LONG) from None
    _check(tables)
    return tables


def _check(tables: dict[str, Any]) -> None:
    level: list[Any] = [tables]
    for _ in range(MOST_NESTED):
        if any(type(value) is int and value.bit_length() > MOST_BITS for value in level):
            raise TomlError(_TOO_LONG)
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
    if level:
        raise TomlError(_TOO_DEEP)
