"""Networks side by side, each in a process of its own: measuring in real time is mostly waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Part = TypeVar("Part")
Seen = TypeVar("Seen")

# A network whose hosts send takes a third of a core.
AT_ONCE = 3


def side_by_side(measure: Callable[[Part], Seen], parts: Iterable[Part], at_once: int = AT_ONCE) -> list[Seen]:
    """Measure all parts, some at a time; return what was seen in the order of the parts."""
    with ProcessPoolExecutor(at_once, get_context("fork")) as pool:
        return list(pool.map(measure, parts))
