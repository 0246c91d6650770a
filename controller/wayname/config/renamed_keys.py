"""Keys that had another name: who still writes the old one is told the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wayname.config.tables import Mistake, Where

# From the old key, with the tables that it stands in and without their numbers, as in `port.max_stations`.
RENAMED_KEYS: Mapping[str, str] = {}


def renamed(values: Any, names: Mapping[str, str], where: Where = ()) -> Iterator[Mistake]:
    """Yield a mistake for each key that has another name now."""
    if isinstance(values, dict):
        for key, inner in values.items():
            path = ".".join(part for part in (*where, key) if isinstance(part, str))
            if path in names:
                yield Mistake((*where, key), f"is called {names[path]} now", f"write {names[path]}")
            yield from renamed(inner, names, (*where, key))
    elif isinstance(values, list):
        for index, inner in enumerate(values):
            yield from renamed(inner, names, (*where, index))
