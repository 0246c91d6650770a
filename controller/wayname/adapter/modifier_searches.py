"""Searches for modifiers, one after the other, beside the edge and only when nobody else needs the processor."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from wayname.edge.boundary import FindModifier, ModifierFound
from wayname.identity.search import find_modifier

LEAST_PRIORITY = 19


class ModifierSearches:
    """Runs what it is asked for; `found` hears of the results."""

    def __init__(self, found: Callable[[ModifierFound], Awaitable[None]]) -> None:
        self._found = found
        self._asked: asyncio.Queue[FindModifier] = asyncio.Queue()
        self._ended = threading.Event()

    def ask(self, search: FindModifier) -> None:
        """Search for a modifier, behind all that was asked for before."""
        self._asked.put_nowait(search)

    async def run(self) -> None:
        """Search until cancelled."""
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, "search", _yield_to_others)
        try:
            while True:
                search = await self._asked.get()
                modifier = await loop.run_in_executor(thread, self._search, search)
                if modifier is not None:
                    await self._found(ModifierFound(search.tail, search.sec, modifier))
        finally:
            # A thread cannot be cancelled; it looks at this after each round.
            self._ended.set()
            thread.shutdown(wait=False)

    def _search(self, search: FindModifier) -> bytes | None:
        return find_modifier(search.tail, search.sec, search.start, 1, lambda _: not self._ended.is_set())


def _yield_to_others() -> None:
    """Let this thread, and those that it starts, run when nobody else wants to: Linux keeps priorities by thread."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LEAST_PRIORITY)
