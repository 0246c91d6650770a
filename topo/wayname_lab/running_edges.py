"""Switches and controllers that run, each a process of its own: what all live networks have in common."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Self

import httpx

from wayname_lab.commands import Device, controller, embedded_switch
from wayname_lab.controller import ControllerApi
from wayname_lab.load import LabError
from wayname_lab.planned import RouterPlan
from wayname_lab.supervise import Supervisor

# How long a network may take to come up, on a machine that is very busy, and how often it is asked.
PATIENCE = 120.0
PAUSE = 0.05


class RunningEdges(ABC):
    """A network between its start and its end: `async with` it."""

    def __init__(self, folder: Path, tell: Callable[[str, str], None]) -> None:
        self.folder = folder
        self.supervisor = Supervisor(folder, tell)
        self.controllers: dict[str, ControllerApi] = {}

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._end()

    @abstractmethod
    async def _start(self) -> None:
        """Start everything."""

    def ready(self, number: int) -> None:  # noqa: B027
        """So many controllers have set up their switches."""

    def page_clients(self) -> dict[str, httpx.AsyncClient]:
        """Return the clients by which a browser sees the pages of controllers."""
        return {name: api.page_client for name, api in self.controllers.items()}

    async def _end(self) -> None:
        """End everything."""
        for api in self.controllers.values():
            await api.close()
        await self.supervisor.stop()

    async def _start_edge(
        self, router: RouterPlan, address: str, config: Path, device: Device, prefix: Sequence[str] = ()
    ) -> None:
        """Start a router's switch and its controller, whose API is at `NAME.api`."""
        switch = embedded_switch(router, address, self.folder / f"{router.name}.admin", device)
        await self.supervisor.keep(f"{router.name}-switch", [*prefix, *switch])
        await self.supervisor.keep(f"{router.name}-controller", [*prefix, *controller(config)])
        self.controllers[router.name] = ControllerApi(router.name, self.folder / f"{router.name}.api")

    async def _until_ready(self) -> None:
        """Return when each controller has set up its switch."""
        for number, (name, api) in enumerate(self.controllers.items(), 1):
            await self._until(api.is_ready, f"the controller of {name} has not set up its switch", f"{name}-controller")
            self.ready(number)

    async def _until(self, holds: Callable[[], Awaitable[object]], otherwise: str, process: str = "") -> None:
        """Return when something holds; if it does not in time, say so, and what a process wrote last."""
        deadline = time.monotonic() + PATIENCE
        while not await holds():
            if self.supervisor.failed.is_set():
                raise LabError(self.supervisor.failure)
            if time.monotonic() > deadline:
                words = f": {self.supervisor.last_words(process)}" if process else ""
                raise LabError(f"{otherwise} in {PATIENCE:.0f} s{words}")
            await asyncio.sleep(PAUSE)
