"""Forks of Shim6's sessions in the API: flows that have a session of their own."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Path
from pydantic import BaseModel, Field

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE
from wayname.api.sessions import NO_SESSION, answer, manager_of
from wayname.edge.boundary import ForkSession, UnforkSession
from wayname.session.answers import SessionAnswer
from wayname.session.session import Session
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.snapshot.running import Running

NOT_FORKED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "these flows cannot be forked"}}
NOT_ENDED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "this is no fork"}}


class ForkedPorts(BaseModel):
    """Which flows shall have a session of their own."""

    local_port: int = Field(description="the port of the host here", examples=[49152])
    peer_port: int = Field(description="the peer's port", examples=[443])


def serve(app: FastAPI, running: Running) -> None:
    """Serve forks."""

    @app.post("/v1/sessions/{number}/fork", openapi_extra=OPERATE, responses={**NO_SESSION, **NOT_FORKED})
    async def fork_session(
        number: Annotated[int, Path(description="number of the session, as `/v1/sessions` lists it")], flow: ForkedPorts
    ) -> SessionAnswer:
        """Give flows between two ports a session of their own; it is there when the peer has agreed."""
        sessions, session = _find(running, number, "Not forked")
        refusal = sessions.forks.refusal(session, flow.local_port, flow.peer_port)
        if refusal is not None:
            raise ApiError(409, "Not forked", refusal)
        done = await running.command(ForkSession(number, flow.local_port, flow.peer_port))
        await done.wait()
        return answer(sessions, number)

    @app.post("/v1/sessions/{number}/unfork", openapi_extra=OPERATE, responses={**NO_SESSION, **NOT_ENDED})
    async def unfork_session(
        number: Annotated[int, Path(description="number of the session, as `/v1/sessions` lists it")],
    ) -> SessionAnswer:
        """End a fork: its flows are of their hosts' session again. It is gone when the peer has heard of it."""
        sessions, session = _find(running, number, "Not ended")
        refusal = sessions.forks.ending_refusal(session)
        if refusal is not None:
            raise ApiError(409, "Not ended", refusal)
        told = answer(sessions, number)
        done = await running.command(UnforkSession(number))
        await done.wait()
        return sessions.answer(number) or told


def _find(running: Running, number: int, title: str) -> tuple[Shim6Sessions, Session]:
    sessions = manager_of(running, number)
    session = sessions.numbered(number) if isinstance(sessions, Shim6Sessions) else None
    if session is None or not isinstance(sessions, Shim6Sessions):
        raise ApiError(409, title, "only sessions of Shim6 have forks")
    return sessions, session
