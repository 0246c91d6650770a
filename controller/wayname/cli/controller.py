"""Runs a controller with its API until it is asked to end."""

from __future__ import annotations

import asyncio
import signal
import time

import structlog

from wayname.adapter import Controller
from wayname.api.address import parse_address
from wayname.api.app import Beside, make_app
from wayname.api.captures import Captures
from wayname.api.server import listen, serve
from wayname.config import Config
from wayname.logs.event_log import EventLog


def run(config: Config, replace_pipeline: bool) -> None:
    """Run until SIGINT or SIGTERM; what ends it otherwise is raised."""
    try:
        asyncio.run(control(config, replace_pipeline))
    except asyncio.CancelledError:
        structlog.get_logger().info("ended", kind="controller.end")
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def control(config: Config, replace_pipeline: bool) -> None:
    """Run the controller and its API side by side; the end of one is the end of both."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)

    event_log, captures = EventLog(), Captures(time.time)
    controller = Controller(
        config, replace_pipeline=replace_pipeline, on_event=event_log.record, on_captured=captures.take
    )
    address = parse_address(config.controller.api)
    began = time.monotonic()
    beside = Beside(captures, event_log.by_kind, lambda: time.monotonic() - began)
    listener = listen(address)
    structlog.get_logger().info(
        f"the controller of {config.switch.address} answers at {address}", kind="controller.begin"
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run())
        group.create_task(serve(make_app(controller, beside, address), listener, address, beside.end_streams))
