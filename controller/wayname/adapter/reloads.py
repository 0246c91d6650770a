"""The configuration by which an edge goes on as soon as nothing is half written: one waits at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from wayname.config.encapsulation.changes import Changes
from wayname.config.model import Config


@dataclass(frozen=True, slots=True)
class Reload:
    """What takes the place of configuration and changes, and who waits for that."""

    config: Config
    changes: Changes
    done: asyncio.Future[None]
    # Of what the edge before knew, only what was written down holds: somebody else had the switch meanwhile.
    anew: bool = False


class Reloads:
    """Who begins one calls `wake`; who feeds the edge takes it."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: Reload | None = None

    @property
    def are_waiting(self) -> bool:
        """Whether there is one that nobody has taken."""
        return self._waiting is not None

    def begin(self, config: Config, changes: Changes, *, anew: bool = False) -> asyncio.Future[None]:
        """Have the edge go on by another configuration; what is returned ends when the difference is written."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting = Reload(config, changes, done, anew)
        self._wake()
        return done

    def take(self) -> Reload | None:
        """Return the one that waits, if there is one."""
        waiting, self._waiting = self._waiting, None
        return waiting

    async def until_none(self) -> None:
        """Wait until nobody waits for one: another one in its place would leave that without an end."""
        while self._waiting is not None:
            await asyncio.wait([self._waiting.done])
