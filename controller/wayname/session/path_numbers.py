"""The numbers that the switch knows the paths of a session by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import TypeVar

from wayname.p4_constants import PATH_BITS

MOST_PATHS = 1 << PATH_BITS

Path = TypeVar("Path")


def renumbered(paths: Mapping[int, Path], wanted: Iterable[Path]) -> dict[int, Path]:
    """Return the wanted paths by number: those that were there keep theirs, new ones get the lowest that are free."""
    there = list(dict.fromkeys(wanted))
    numbered = {number: path for number, path in paths.items() if path in there}
    free = (number for number in count() if number not in numbered)
    new = [path for path in there if path not in numbered.values()]
    return dict(sorted({**numbered, **dict(zip(free, new, strict=False))}.items()))
