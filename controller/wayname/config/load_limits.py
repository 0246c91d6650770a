"""Reads `[limits]`."""

from __future__ import annotations

from wayname.config.checks import between
from wayname.config.limits import Limits
from wayname.config.reader import Table

MOST = 1_000_000


def read_limits(root: Table) -> Limits:
    """Read what may come to the controller."""
    table = root.table("limits")

    default = Limits()
    punts = table.take("punts", int, default.punts, between(8, MOST))
    port: int | None = table.take("port", int, None, between(1, MOST))
    if port is not None and port > punts:
        raise table.error("port", f"{port} is more than all ports may send ({punts})", "write less, or more for punts")
    limits = Limits(
        punts,
        port,
        source=table.take("source", int, default.source, between(1, MOST)),
        sessions=table.take("sessions", int, default.sessions, between(1, MOST)),
        session=table.take("session", int, default.session, between(1, MOST)),
    )
    table.close()
    return limits
