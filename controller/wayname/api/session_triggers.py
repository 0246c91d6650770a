"""When hosts get sessions, in the API: why two that talk have none yet."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.roles import READ
from wayname.snapshot.running import Running


class SessionTrigger(BaseModel):
    """When the edge sets up a session for hosts of these prefixes."""

    protocol: str = Field(description="protocol of the sessions", examples=["shim6"])
    prefixes: list[str] = Field(description="prefixes of the hosts")
    bytes: int = Field(description="octets that two hosts exchange before; 0: never for their number")
    seconds: float = Field(description="seconds that two hosts talk before; 0: never for their time")
    rule: str | None = Field(description="name of the user's own rule, which says so instead; none: there is none")


def serve_session_triggers(app: FastAPI, running: Running) -> None:
    """Serve them."""

    @app.get("/v1/session-triggers", openapi_extra=READ)
    async def session_triggers() -> list[SessionTrigger]:
        """When two hosts get a session; empty where the edge speaks no protocol with sessions."""
        return list(triggers(running))


def triggers(running: Running) -> Iterator[SessionTrigger]:
    """Yield what the configuration says of each protocol."""
    for protocol in running.edge.protocols:
        section = protocol.section()
        found = section.of(running.config)
        for each in () if found is None else section.triggers(found):
            yield SessionTrigger(
                protocol=protocol.name,
                prefixes=[str(prefix) for prefix in each.prefixes],
                bytes=each.bytes,
                seconds=each.seconds,
                rule=each.rule,
            )
