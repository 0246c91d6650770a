"""Sessions by a key in the API."""

from __future__ import annotations

from fastapi import FastAPI
from fourth_protocol.manager import KeyedSessions
from pydantic import BaseModel

from wayname.api.roles import READ
from wayname.snapshot.running import Running


class KeyedSession(BaseModel):
    """A session of a host here."""

    number: int
    local: str
    peer: str


def serve(app: FastAPI, running: Running) -> None:
    """Serve the sessions."""

    @app.get("/v1/keyed", openapi_extra=READ)
    async def sessions() -> list[KeyedSession]:
        """All sessions by a key."""
        found = manager.sessions.items() if (manager := running.edge.manager(KeyedSessions)) else ()
        return [KeyedSession(number=n, local=str(pair.local), peer=str(pair.peer)) for pair, (n, _) in found]
