"""In which file of a fleet's folder, and in which line, something of an edge's configuration stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from wayname.config.key_lines import KeyLines
from wayname.fleet.templates import Source

# The key that a mistake names, as in `port[1].vlan`, and its parts.
_NAMED = re.compile(r"(?P<key>[\w.\[\]-]+): ")
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def placed(said: str, sources: Sequence[Source]) -> str:
    """Return what is said of a key of an edge's configuration, with the file and line that have it.

    The last source is the edge's own file, which what nobody has is missing from.
    """
    named = _NAMED.match(said)
    if named is None:
        return f"{sources[-1].file}: {said}"
    source, key = _origin(named["key"], sources)
    line = KeyLines(source.text).line_of(key)
    return f"{source.file}{f':{line}' if line else ''}: {key}: {said[named.end() :]}"


def _origin(key: str, sources: Sequence[Source]) -> tuple[Source, str]:
    """Return the source that has a key, or the innermost table or list around it, and what it is there."""
    # Of which sources a value is joined at the place that was reached.
    joined: list[tuple[Source, str, Any]] = [(source, "", source.tables) for source in sources]
    rest = key
    for part in _PART.finditer(key):
        index, name = part.groups()
        inner = _at_index(joined, int(index)) if index else _below(joined, name)
        if not inner:
            break
        joined, rest = inner, key[part.end() :]
    source, path, _ = joined[-1]
    return source, f"{path}{rest}" if path else rest


def _below(joined: Sequence[tuple[Source, str, Any]], name: str) -> list[tuple[Source, str, Any]]:
    found: list[tuple[Source, str, Any]] = []
    for source, path, value in joined:
        if isinstance(value, dict) and name in value:
            inner = value[name]
            # Lists go on, and tables are joined; of anything else the last one holds.
            if not isinstance(inner, (list, dict)) or (found and type(found[-1][2]) is not type(inner)):
                found = []
            found.append((source, f"{path}.{name}" if path else name, inner))
    return found


def _at_index(joined: Sequence[tuple[Source, str, Any]], index: int) -> list[tuple[Source, str, Any]]:
    for source, path, value in joined:
        if not isinstance(value, list):
            return []
        if index < len(value):
            return [(source, f"{path}[{index}]", value[index])]
        index -= len(value)
    return []
