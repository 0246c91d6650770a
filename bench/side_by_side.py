"""Networks side by side, each in a process of its own: measuring in real time is mostly waiting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from threading import Barrier
from typing import TypeVar

Part = TypeVar("Part")
Seen = TypeVar("Seen")

# A network whose hosts send takes two fifths of a core.
AT_ONCE = 3
# Seconds.
ALL_STARTED_WITHIN = 300


def side_by_side(measure: Callable[[Part, Barrier], Seen], parts: Sequence[Part], at_once: int = AT_ONCE) -> list[Seen]:
    """Measure all parts, some at a time; return what was seen in the order of the parts.

    To start a network takes all processors for some seconds. So each part waits at the barrier until those beside it
    have started theirs, too, and nobody starts one while another part measures.
    """
    context = get_context("fork")
    seen: list[Seen] = []
    with context.Manager() as manager, ProcessPoolExecutor(at_once, context) as pool:
        for first in range(0, len(parts), at_once):
            together = parts[first : first + at_once]
            all_started = manager.Barrier(len(together), timeout=ALL_STARTED_WITHIN)
            seen += pool.map(measure, together, repeat(all_started))
    return seen
