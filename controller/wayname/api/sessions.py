"""Sessions in the API: what they are, what passed their paths, and moving one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Path
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.api.streamed_array import streamed_array
from wayname.edge.boundary import MoveSession, PreferPath
from wayname.session.answers import SessionAnswer
from wayname.session.protocol import SessionManager
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import CounterValue, SwitchSnapshot

COUNTED = ("paths", "locator_pairs")
NO_SESSION: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "there is no such session"}}
NOT_MOVED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "the path cannot be used"}}
NOT_PREFERRED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "flows cannot go that way"}}
ReadTables = Callable[[Running, list[str]], Awaitable[SwitchSnapshot]]


class MoveRequest(BaseModel):
    """Where a session should go."""

    path: str = Field(description="a path's number, or LOCAL,PEER", examples=["1"])


class PreferenceRequest(BaseModel):
    """Which path flows of a policy should take in a session."""

    policy: str = Field(description="the name of a path policy of the configuration", examples=["voice"])
    path: str | None = Field(
        default=None, description="a path's number, or LOCAL,PEER; left out: as the policy says", examples=["1"]
    )


def serve_sessions(app: FastAPI, running: Running, read: ReadTables) -> None:
    """Serve sessions."""

    @app.get("/v1/sessions", openapi_extra=READ, response_model=list[SessionAnswer])
    async def sessions() -> StreamingResponse:
        """All sessions, without what passed them."""
        return streamed_array(
            SessionAnswer,
            [
                partial(scheduled_answer, running, manager, number)
                for manager in running.edge.managers
                for number in manager.numbers()
            ],
        )

    async def with_counts(number: int) -> SessionAnswer:
        switch_snapshot = await read(running, list(COUNTED)) if running.connected else None
        told = answer(manager_of(running, number), number)
        note_schedule(told, running)
        if switch_snapshot is not None:
            count(told, switch_snapshot)
        return told

    @app.get("/v1/sessions/{number}", openapi_extra=READ, responses=NO_SESSION)
    async def session(
        number: Annotated[int, Path(description="number of the session, as `/v1/sessions` lists it")],
    ) -> SessionAnswer:
        """A session, with what passed its paths if the switch is there."""
        return await with_counts(number)

    @app.post("/v1/sessions/{number}/move", openapi_extra=OPERATE, responses={**NO_SESSION, **NOT_MOVED})
    async def move_session(
        number: Annotated[int, Path(description="number of the session, as `/v1/sessions` lists it")], wish: MoveRequest
    ) -> SessionAnswer:
        """Move a session to a path; refused unless both locators are proven and it works."""
        manager = manager_of(running, number)
        wanted, refusal = manager.may_move(number, wish.path)
        if wanted is None:
            raise ApiError(409, "Not moved", refusal)
        done = await running.command(MoveSession(number, wanted))
        await done.wait()
        return await with_counts(number)

    @app.post("/v1/sessions/{number}/prefer", openapi_extra=OPERATE, responses={**NO_SESSION, **NOT_PREFERRED})
    async def prefer_path(
        number: Annotated[int, Path(description="number of the session, as `/v1/sessions` lists it")],
        preference: PreferenceRequest,
    ) -> SessionAnswer:
        """Let flows of a path policy take a path of a session as long as it works."""
        manager = manager_of(running, number)
        wanted, refusal = manager.may_prefer(number, preference.policy, preference.path)
        if refusal:
            raise ApiError(409, "Not preferred", refusal)
        done = await running.command(PreferPath(number, preference.policy, wanted))
        await done.wait()
        return await with_counts(number)


def manager_of(running: Running, number: int) -> SessionManager:
    """Return who has a session, or say that there is none."""
    for manager in running.edge.managers:
        if manager.answer(number) is not None:
            return manager
    raise no_session(number)


def session_answer(running: Running, number: int) -> SessionAnswer:
    """Return a session in words, or say that there is none."""
    return answer(manager_of(running, number), number)


def answer(manager: SessionManager, number: int) -> SessionAnswer:
    """Return a session in words; it may have ended since somebody asked for it."""
    told = manager.answer(number)
    if told is None:
        raise no_session(number)
    return told


def scheduled_answer(running: Running, manager: SessionManager, number: int) -> SessionAnswer | None:
    """Return a session in words, with its schedule, if it still stands."""
    told = manager.answer(number)
    if told is not None:
        note_schedule(told, running)
    return told


def no_session(
    number: Annotated[int, Path(description="number of the session, as `/v1/sessions` lists it")],
) -> ApiError:
    """Return what is said where there is no such session."""
    return ApiError(404, "No such session", f"{number}; `wayname sessions` lists them")


def note_schedule(told: SessionAnswer, running: Running) -> None:
    """Add by which schedule a session's packets go."""
    group = running.edge.schedules.group_of(told.number)
    if group is not None:
        told.schedule, told.scheduled_paths = group.rule.config.name, group.paths_of(told.number)
        told.figures = group.rule.config.source


def count(told: SessionAnswer, switch_snapshot: SwitchSnapshot) -> None:
    """Add what passed the paths of a session."""
    sent, received = (_counts(switch_snapshot, table, told.number) for table in COUNTED)
    for path in told.paths:
        path.sent_packets, path.sent_bytes = sent[path.number].packets, sent[path.number].bytes
        path.received_packets, path.received_bytes = received[path.number].packets, received[path.number].bytes


def _counts(switch_snapshot: SwitchSnapshot, table: str, session: int) -> defaultdict[int, CounterValue]:
    """Return what entries of a session counted, by path."""
    counts: defaultdict[int, CounterValue] = defaultdict(CounterValue)
    for entry in switch_snapshot.tables[table]:
        if entry.match["session"] == session:
            path = entry.match.get("path", entry.parameters.get("path"))
            counts[int(path or 0)] = entry.count
    return counts
