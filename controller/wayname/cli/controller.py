"""Runs a controller with its API until it is asked to end."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import structlog

from wayname.adapter import ReloadError
from wayname.adapter.fleet_configuration import FleetConfiguration
from wayname.adapter.garbage_collection import short_collections
from wayname.api.app import make_app
from wayname.api.audit import Audit
from wayname.api.edges import make_edges_app
from wayname.api.listeners import Listener, open_listeners, reread
from wayname.api.server import serve
from wayname.cli.descriptors import most_connections
from wayname.cli.many_edges import Edges
from wayname.cli.running_edge import RunningEdge
from wayname.cli.service_manager import ServiceManager
from wayname.composition.configuration import load_config
from wayname.config.model import Config
from wayname.edge.boundary import Severity
from wayname.fleet.lease import Lease

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# After a signal; what is still alive then says where it hangs, and ends with status 1.
END_SECONDS = 10.0


def run(config: Config, file: Path, replace_pipeline: bool) -> None:
    """Run until SIGINT or SIGTERM; what ends it otherwise is raised."""
    try:
        with short_collections():
            asyncio.run(control(config, file, replace_pipeline))
    except asyncio.CancelledError:
        structlog.get_logger().info("ended", kind="controller.end")
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


@contextlib.contextmanager
def ended_by_signal(end: Callable[[], object]) -> Iterator[None]:
    """Have the first signal call `end`, in the event loop that runs; the process ends soon, whatever hinders it.

    A second signal ends it at once. The handler is Python's and not the event loop's, so that a loop that is kept busy
    hears of it; and the last resort is a thread in C, which nothing in Python keeps from its work.
    """
    loop = asyncio.get_running_loop()

    def ask_to_end(_number: int, _frame: object) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        faulthandler.dump_traceback_later(END_SECONDS, exit=True)
        loop.call_soon_threadsafe(end)

    before = {each: signal.signal(each, ask_to_end) for each in SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            if signal.getsignal(each) is ask_to_end:
                signal.signal(each, handler)


async def control(config: Config, file: Path, replace_pipeline: bool) -> None:
    """Run the controller and its API side by side until a signal comes."""
    task = asyncio.current_task()
    assert task is not None
    with ended_by_signal(task.cancel):
        await control_until_cancelled(config, file, replace_pipeline)


async def control_until_cancelled(config: Config, file: Path, replace_pipeline: bool) -> None:
    """Run the controller and its API side by side; the end of one is the end of both."""
    if config.fleet is None:
        await control_edge(config, file, replace_pipeline, None)
        return
    lease = Lease.of(config.fleet)
    try:
        if config.fleet.edges:
            await control_edges(config, file, replace_pipeline, lease)
        else:
            await control_edge(config, file, replace_pipeline, lease)
    finally:
        await lease.end()


async def control_edge(config: Config, file: Path, replace_pipeline: bool, lease: Lease | None) -> None:
    """Control the one edge of this process."""
    tables = FleetConfiguration(config.fleet, file, lease, log_waiting) if config.fleet and lease else None
    if tables:
        config = await tables.read()
    listeners: list[Listener] = []
    edge = RunningEdge(
        config,
        file,
        tables.load if tables else partial(load_config, file),
        lambda config: reread(listeners, config.api),
        replace_pipeline=replace_pipeline,
        lease=lease,
        tables=tables,
    )
    listeners += open_listeners(config.api)
    log_begin(f"the controller of {config.switch.address}", listeners)
    async with asyncio.TaskGroup() as group:
        if lease:
            group.create_task(lease.run())
        group.create_task(edge.run())
        group.create_task(reload_on_hangup(edge.reloader.reload))
        app, services = make_app(edge.controller, edge.services), edge.services
        group.create_task(serve(app, listeners, most_connections(), services.audit, services.end_streams))
        # Behind all that it says is there.
        group.create_task(ServiceManager().keep_told())


async def control_edges(config: Config, file: Path, replace_pipeline: bool, lease: Lease) -> None:
    """Control the edges of a fleet that this process stands for."""
    assert config.fleet is not None
    listeners = open_listeners(config.api)
    edges = Edges(config, file, lease, lambda config: reread(listeners, config.api), replace_pipeline=replace_pipeline)
    audit = Audit(log_report, time.monotonic)
    log_begin(f"the controller of {', '.join(config.fleet.edges)}", listeners)
    async with asyncio.TaskGroup() as group:
        group.create_task(lease.run())
        group.create_task(edges.run())
        group.create_task(reload_on_hangup(edges.reload))
        # Each edge ends its own streams.
        app = make_edges_app(edges, audit)
        group.create_task(serve(app, listeners, most_connections(), audit, lambda: None))
        group.create_task(ServiceManager().keep_told())


def log_begin(who: str, listeners: list[Listener]) -> None:
    """Say where the API is."""
    where = " and ".join(str(each.address) for each in listeners)
    structlog.get_logger().info(f"{who} answers at {where}", kind="controller.begin")


def log_report(kind: str, severity: Severity, subject: str, text: str) -> None:
    """Say what is of no single edge."""
    getattr(structlog.get_logger(), severity)(text, kind=kind, subject=subject)


def log_waiting(text: str) -> None:
    """Say what the controller waits for before it begins."""
    structlog.get_logger().warning(text, kind="controller.waits")


async def reload_on_hangup(reload: Callable[[], Awaitable[object]]) -> None:
    """Read the configuration again at each SIGHUP; an event tells what came of it."""
    asked, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, asked.set)
    try:
        while True:
            await asked.wait()
            asked.clear()
            with contextlib.suppress(ReloadError):
                await reload()
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
