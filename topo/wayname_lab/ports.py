"""How a link is written for `wayname-switch -i`, and TCP ports that are free."""

import contextlib
import random
import socket

from wayname_lab.load import LabError
from wayname_lab.model import Quality

# Below what the kernel gives to outgoing connections, so that a switch which starts again finds its port still free.
FIRST, LAST = 20_000, 32_000
TRIES = 200


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


def free_ports(count: int) -> list[int]:
    """Return TCP ports that nobody listens at on 127.0.0.1."""
    chosen: list[int] = []
    for port in random.sample(range(FIRST, LAST), TRIES):
        if len(chosen) == count:
            return chosen
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        chosen.append(port)
    raise LabError(f"no {count} free TCP ports between {FIRST} and {LAST}; end what uses them")
