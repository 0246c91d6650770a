"""Runs a controller with its API until it is asked to end."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import structlog

from wayname.adapter import Controller, ReloadError
from wayname.adapter.fleet_configuration import FleetConfiguration
from wayname.adapter.garbage_collection import short_collections
from wayname.adapter.reloader import Reloader
from wayname.api.app import ApiServices, make_app
from wayname.api.audit import Audit
from wayname.api.captures import Captures
from wayname.api.listeners import open_listeners, reread
from wayname.api.server import serve
from wayname.cli.descriptors import most_connections
from wayname.cli.service_manager import ServiceManager
from wayname.composition.configuration import load_config
from wayname.config.model import Config
from wayname.logs.event_log import EventLog

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
    tables = FleetConfiguration(config.fleet, file, log_waiting) if config.fleet else None
    if tables:
        config = await tables.read()
    event_log, captures = EventLog(), Captures(time.time)
    controller = Controller(
        config, replace_pipeline=replace_pipeline, on_event=event_log.record, on_captured=captures.take
    )
    listeners = open_listeners(config.api)
    load = tables.load if tables else partial(load_config, file)
    reloader = Reloader(controller, file, load, lambda config: reread(listeners, config.api))
    audit = Audit(controller.report, time.monotonic)
    began = time.monotonic()
    beside = ApiServices(captures, event_log.by_kind, lambda: time.monotonic() - began, reloader.reload, audit)
    where = " and ".join(str(each.address) for each in listeners)
    structlog.get_logger().info(
        f"the controller of {config.switch.address} answers at {where}", kind="controller.begin"
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run())
        group.create_task(reload_on_hangup(reloader))
        if tables:
            group.create_task(tables.follow(controller, reloader))
        app = make_app(controller, beside)
        group.create_task(serve(app, listeners, most_connections(), audit, beside.end_streams))
        # Behind all that it says is there.
        group.create_task(ServiceManager().keep_told())


def log_waiting(text: str) -> None:
    """Say what the controller waits for before it begins."""
    structlog.get_logger().warning(text, kind="controller.waits")


async def reload_on_hangup(reloader: Reloader) -> None:
    """Read the configuration again at each SIGHUP; an event tells what came of it."""
    asked, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, asked.set)
    try:
        while True:
            await asked.wait()
            asked.clear()
            with contextlib.suppress(ReloadError):
                await reloader.reload()
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
