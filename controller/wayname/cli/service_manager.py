"""Tells a service manager how the controller is, as sd_notify(3) describes it: a datagram to `$NOTIFY_SOCKET`.

That is the whole protocol, so no library is needed. Without the variable nobody is told.
"""

from __future__ import annotations

import asyncio
import os
import socket

import structlog


class ServiceManager:
    """Who started this process, if it wants to be told."""

    def __init__(self) -> None:
        name = os.environ.get("NOTIFY_SOCKET", "")
        # A name that begins with @ is one of Linux's abstract sockets.
        self._address = f"\0{name[1:]}" if name.startswith("@") else name

    def tell(self, state: str) -> None:
        """Tell it one thing, as READY=1; what it does not take is no reason to end."""
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(state.encode(), self._address)
        except OSError as error:
            text = f"the service manager was not told {state}: {error.strerror or error}"
            structlog.get_logger().warning(text, kind="controller.not_told")

    async def keep_told(self) -> None:
        """Tell it that the controller is ready, and twice in each period of its watchdog that the event loop turns."""
        self.tell("READY=1")
        period = watchdog_period()
        while period:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(period / 2)


def watchdog_period() -> float:
    """Return the seconds within which the service manager wants to hear of this process, 0 if it does not."""
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return 0.0
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1e6 if microseconds.isdecimal() else 0.0
