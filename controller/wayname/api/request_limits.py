"""Bounds what a request may carry: who asks an API on TCP need not be who runs the controller."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wayname.api.problems import problem_response

MOST_HEAD = 16 * 2**10
"""Octets of a request's first line and headers."""
MOST_HEADERS = 64

# The largest change of what packets carry, all tables full, takes some MiB.
MOST_OCTETS = 16 * 2**20
MOST_OF_ALL = 4 * MOST_OCTETS
"""Octets of all bodies that are there at a time."""


class RequestLimits:
    """Refuses a request whose head is too long, and ends one whose body is, before all of it is in memory."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.octets_of_all = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if reason := too_long(scope):
            await problem_response(431, "Too long", reason)(scope, receive, send)
            return
        octets = 0

        async def bounded() -> Message:
            nonlocal octets
            message = await receive()
            more = len(message.get("body", b""))
            octets += more
            self.octets_of_all += more
            if octets > MOST_OCTETS:
                raise HTTPException(413, f"A body of more than {MOST_OCTETS} octets")
            if self.octets_of_all > MOST_OF_ALL:
                raise HTTPException(503, "Too many bodies at a time")
            return message

        try:
            await self.app(scope, bounded, send)
        finally:
            self.octets_of_all -= octets


def too_long(scope: Scope) -> str | None:
    """Say what is too long about a request's head, if anything is."""
    headers = scope["headers"]
    if len(headers) > MOST_HEADERS:
        return f"more than {MOST_HEADERS} headers"
    target = len(scope["raw_path"]) + len(scope["query_string"])
    if target + sum(len(name) + len(value) for name, value in headers) > MOST_HEAD:
        return f"a head of more than {MOST_HEAD} octets"
    return None
