"""What Linux beside the switch tells an edge: its kernel's routes and neighbours, and the carriers of its devices."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from wayname.adapter.kernel_feed import KernelFeed
from wayname.adapter.link_poll import LinkPoll
from wayname.adapter.shown_carriers import follow_carriers
from wayname.config.model import Config
from wayname.edge.boundary import Event, KernelChanges


class LinuxFeed:
    """Has `told` hear of it, one part after the other is dealt with; `config` returns the one that holds."""

    def __init__(
        self,
        config: Callable[[], Config],
        told: Callable[[KernelChanges], Awaitable[None]],
        record: Callable[[Event], None],
    ) -> None:
        self._config = config
        linux = config().linux
        namespace = linux.namespace if linux else None
        self._kernel = KernelFeed(namespace, told, record)
        self._poll = LinkPoll(namespace, lambda: list(self._ports()), told)
        # Set once it is known what Linux wants on the switch.
        self.ready = self._kernel.ready

    async def run(self) -> None:
        """Follow Linux until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._kernel.run())
            await self.ready.wait()
            group.create_task(self._poll.run())
            if admin := self._config().switch.admin:
                group.create_task(follow_carriers(str(admin), self._hear_shown))

    async def _hear_shown(self, shown: Mapping[int, bool]) -> None:
        await self._poll.hear_dark([name for name, port in self._ports().items() if not shown.get(port, True)])

    def _ports(self) -> dict[str, int]:
        linux = self._config().linux
        return {each.name: each.port for each in linux.interfaces} if linux else {}
