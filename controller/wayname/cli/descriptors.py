"""Open files and sockets: the process may have so many, and the API must not take those that others need.

gRPC aborts the process when it cannot open one more, and a log or a state file that cannot be opened is not written. So
the API has a quarter of them, and what the controller itself needs is there or it does not start.
"""

from __future__ import annotations

import resource

from wayname.failure import Failure

LEAST = 64
"""The controller has about 25 open with everything on, and some for a moment while it connects anew."""
MOST_CONNECTIONS = 256


def raise_limit() -> None:
    """Take as many as the system lets us have; that has to be enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if 0 <= hard < LEAST:
        raise Failure(
            f"this process may have {hard} files and sockets open, and the controller needs {LEAST};"
            " raise the limit (`ulimit -Hn`, LimitNOFILE= of systemd)"
        )


def most_connections() -> int:
    """Return how many connections the API may have at a time."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if limit < 0 else min(MOST_CONNECTIONS, limit // 4)
