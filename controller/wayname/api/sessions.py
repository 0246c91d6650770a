"""Sessions in the API: what they are, what passed their paths, and moving one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.picture import Count, Picture
from wayname.api.problems import ApiError, Problem
from wayname.api.running import Running
from wayname.edge.boundary import ForkSession, MoveSession
from wayname.edge.sessions.session import Session

COUNTED = ("paths", "locator_pairs")
NO_SESSION: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "there is no such session"}}
NOT_MOVED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "the path cannot be used"}}
NOT_FORKED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "these flows cannot be forked"}}
ReadTables = Callable[[Running, list[str]], Awaitable[Picture]]


class Path(BaseModel):
    """A path of a session."""

    number: int
    local: str = Field(description="our locator")
    peer: str = Field(description="the peer's locator")
    provider: str | None = Field(description="by whom it leaves")
    header: bool = Field(description="whether its packets bear a payload header; those with the identities need none")
    state: str = Field(description="works, not tried, does not answer, or its provider is down")
    backup: int | None = Field(description="where the switch goes if there is no answer")
    sent_packets: int | None = None
    sent_bytes: int | None = None
    received_packets: int | None = None
    received_bytes: int | None = None


class SessionAnswer(BaseModel):
    """A session as it stands now."""

    number: int
    local: str = Field(description="the identity of the host here")
    peer: str = Field(description="the identity of its peer")
    path: int = Field(description="the path in use")
    reason: str = Field(description="why it is on this path")
    generation: int = Field(description="goes up whenever the controller moves the session")
    send_timeout: float = Field(description="seconds without an answer after which a path is left (Tsend)")
    keepalive: float = Field(description="seconds of silence after which a keepalive is sent")
    state: str = Field(description="what is being done about it")
    fork_of: int | None = Field(description="the session that this one was forked from")
    ports: tuple[int, int] | None = Field(description="of a fork: our host's port and the peer's")
    forks: list[int] = Field(description="the sessions that were forked from this one")
    paths: list[Path]


class Flow(BaseModel):
    """Which flows shall have a session of their own."""

    local_port: int = Field(description="the port of the host here")
    peer_port: int = Field(description="the peer's port")


class Wish(BaseModel):
    """Where a session should go."""

    path: str = Field(description="a path's number, or LOCAL,PEER")


def serve_sessions(app: FastAPI, running: Running, read: ReadTables) -> None:
    """Serve sessions."""

    @app.get("/v1/sessions")
    async def sessions() -> list[SessionAnswer]:
        """All sessions, without what passed them."""
        return [answer(running, session) for session in running.edge.sessions]

    @app.get("/v1/sessions/{number}", responses=NO_SESSION)
    async def session(number: int) -> SessionAnswer:
        """A session, with what passed its paths if the switch is there."""
        found = find(running, number)
        picture = await read(running, list(COUNTED)) if running.connected else None
        return answer(running, found, picture)

    @app.post("/v1/sessions/{number}/move", responses={**NO_SESSION, **NOT_MOVED})
    async def move(number: int, wish: Wish) -> SessionAnswer:
        """Move a session to a path; refused unless both locators are proven and it works."""
        found = find(running, number)
        wanted, refusal = running.edge.sessions.may_move(found, wish.path)
        if wanted is None:
            raise ApiError(409, "Not moved", refusal)
        done = await running.command(MoveSession(number, wanted))
        await done.wait()
        return answer(running, found)

    @app.post("/v1/sessions/{number}/fork", responses={**NO_SESSION, **NOT_FORKED})
    async def fork(number: int, flow: Flow) -> SessionAnswer:
        """Give flows between two ports a session of their own; it is there when the peer has agreed."""
        found = find(running, number)
        refusal = running.edge.sessions.forks.refusal(found, flow.local_port, flow.peer_port)
        if refusal is not None:
            raise ApiError(409, "Not forked", refusal)
        done = await running.command(ForkSession(number, flow.local_port, flow.peer_port))
        await done.wait()
        return answer(running, found)


def find(running: Running, number: int) -> Session:
    """Return a session, or say that there is none."""
    session = running.edge.sessions.numbered(number)
    if session is None:
        raise ApiError(404, "No such session", f"{number}; `wayname sessions` lists them")
    return session


def answer(running: Running, session: Session, picture: Picture | None = None) -> SessionAnswer:
    """Return a session in words."""
    sessions = running.edge.sessions
    sent = _counts(picture, "paths", session.number)
    received = _counts(picture, "locator_pairs", session.number)
    paths = []
    for number, pair in session.paths.items():
        path = Path(
            number=number,
            local=str(pair.local),
            peer=str(pair.peer),
            provider=sessions.provider_of(pair.local),
            header=not session.is_plain(pair),
            state=sessions.health(session, number),
            backup=sessions.backup_of(session, number),
        )
        if picture is not None:
            path.sent_packets, path.sent_bytes = sent[number].packets, sent[number].bytes
            path.received_packets, path.received_bytes = received[number].packets, received[number].bytes
        paths.append(path)
    return SessionAnswer(
        number=session.number,
        local=str(session.name.local),
        peer=str(session.name.peer),
        path=session.path,
        reason=session.reason,
        generation=session.generation,
        send_timeout=session.rules.send_timeout,
        keepalive=session.keepalive,
        state=sessions.state_of(session),
        fork_of=session.fork.of if session.fork else None,
        ports=(session.fork.local_port, session.fork.peer_port) if session.fork else None,
        forks=[each.number for each in sessions.forks.among(session)],
        paths=paths,
    )


def _counts(picture: Picture | None, table: str, session: int) -> defaultdict[int, Count]:
    """Return what entries of a session counted, by path."""
    counts: defaultdict[int, Count] = defaultdict(Count)
    for entry in picture.tables[table].entries if picture else ():
        if entry.match["session"] == session:
            path = entry.match.get("path", entry.parameters.get("path"))
            counts[int(path or 0)] = entry.count
    return counts
