"""Bounds what a request may carry: who asks an API on TCP need not be who runs the controller."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The largest change of what packets carry, all tables full, takes some MiB.
MOST_OCTETS = 16 * 2**20


class BoundedBodies:
    """Ends the request whose body is too long, before all of it is in memory."""

    def __init__(self, app: ASGIApp, most: int = MOST_OCTETS) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        octets = 0

        async def bounded() -> Message:
            nonlocal octets
            message = await receive()
            octets += len(message.get("body", b""))
            if octets > self.most:
                raise HTTPException(413, f"A body of more than {self.most} octets")
            return message

        await self.app(scope, bounded, send)
