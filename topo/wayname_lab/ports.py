"""How a link is written for `wayname-switch -i`, and a port that is free."""

import contextlib
import socket

from wayname_lab.model import Quality


def device_options(quality: Quality) -> str:
    """Return what a link does, in the switch's words."""
    options = []
    if quality.rate is not None:
        options.append(f"rate={quality.rate}bit")
    if quality.delay:
        options.append(f"delay={quality.delay}ns")
    if quality.loss:
        options.append(f"loss={quality.loss * 100:f}%")
    if quality.queue is not None:
        options.append(f"queue={quality.queue}")
    return "?" + "&".join(options) if options else ""


def free_names_port() -> int:
    """Return a port of UDP and TCP that nobody listens at on ::1."""
    while True:
        with (
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp,
            socket.socket(socket.AF_INET6) as tcp,
            contextlib.suppress(OSError),
        ):
            udp.bind(("::1", 0))
            port: int = udp.getsockname()[1]
            tcp.bind(("::1", port))
            return port
