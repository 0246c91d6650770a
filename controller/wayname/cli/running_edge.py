"""An edge of this process as it runs: its controller, and what stands beside that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from fastapi import FastAPI
from finsy import P4Schema

from wayname.adapter import Controller
from wayname.adapter.fleet_configuration import FleetConfiguration
from wayname.adapter.reloader import Reloader
from wayname.api.app import ApiServices, edge_app
from wayname.api.audit import Audit
from wayname.api.captures import Captures
from wayname.config.model import Config
from wayname.fleet.lease import Lease
from wayname.logs.event_log import EventLog


class RunningEdge:
    """`run` it. In a fleet it has a lease, which is its process's, and `tables` that etcd has for it."""

    def __init__(
        self,
        config: Config,
        file: Path,
        load: Callable[[], Config],
        prepare: Callable[[Config], Callable[[], None]],
        *,
        replace_pipeline: bool = False,
        lease: Lease | None = None,
        tables: FleetConfiguration | None = None,
        schema: P4Schema | None = None,
        name: str = "",
    ) -> None:
        """`load` and `prepare` are as of `Reloader`; the `name` stands in the lines of its log."""
        self._tables = tables
        self._began = time.monotonic()
        event_log, captures = EventLog(name), Captures(time.time)
        self.controller = Controller(
            config,
            replace_pipeline=replace_pipeline,
            on_event=event_log.record,
            on_captured=captures.take,
            lease=lease,
            schema=schema,
        )
        self.reloader = Reloader(self.controller, file, load, prepare)
        audit = Audit(self.controller.report, time.monotonic)
        self.services = ApiServices(captures, event_log.by_kind, self._uptime, self.reloader.reload, audit)

    def _uptime(self) -> float:
        return time.monotonic() - self._began

    @cached_property
    def app(self) -> FastAPI:
        """What the API answers with of this edge: made when it is asked, since it takes as much memory as the edge."""
        return edge_app(self.controller, self.services)

    async def run(self) -> None:
        """Run until cancelled; what ends it otherwise is raised."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.controller.run())
                if self._tables:
                    group.create_task(self._tables.follow(self.controller, self.reloader))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
