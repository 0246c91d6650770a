"""Sessions in the API: what they are, what passed their paths, and moving one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.ilnp import session_answer
from wayname.api.problems import ApiError, Problem
from wayname.api.session_answers import Path, SessionAnswer
from wayname.edge.boundary import ForkSession, MoveSession, PreferPath, UnforkSession
from wayname.ilnp.edge.manager import IlnpSessions
from wayname.session.session import Session
from wayname.session.watched_sessions import WatchedSessions
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import CounterValue, SwitchSnapshot

COUNTED = ("paths", "locator_pairs")
NO_SESSION: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "there is no such session"}}
NOT_MOVED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "the path cannot be used"}}
NOT_PREFERRED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "flows cannot go that way"}}
NOT_FORKED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "these flows cannot be forked"}}
NOT_ENDED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "this is no fork"}}
ReadTables = Callable[[Running, list[str]], Awaitable[SwitchSnapshot]]


class ForkedPorts(BaseModel):
    """Which flows shall have a session of their own."""

    local_port: int = Field(description="the port of the host here")
    peer_port: int = Field(description="the peer's port")


class MoveRequest(BaseModel):
    """Where a session should go."""

    path: str = Field(description="a path's number, or LOCAL,PEER")


class PreferenceRequest(BaseModel):
    """Which path flows of a policy should take in a session."""

    policy: str = Field(description="the name of a path policy of the configuration")
    path: str | None = Field(default=None, description="a path's number, or LOCAL,PEER; left out: as the policy says")


def serve_sessions(app: FastAPI, running: Running, read: ReadTables) -> None:
    """Serve sessions."""

    @app.get("/v1/sessions")
    async def sessions() -> list[SessionAnswer]:
        """All sessions, without what passed them."""
        found = [answer(keeper, session) for keeper in running.edge.keepers for session in keeper]
        ilnp = running.edge.manager(IlnpSessions)
        found += [session_answer(ilnp, session) for session in ilnp] if ilnp else []
        for told in found:
            note_schedule(told, running)
        return found

    @app.get("/v1/sessions/{number}", responses=NO_SESSION)
    async def session(number: int) -> SessionAnswer:
        """A session, with what passed its paths if the switch is there."""
        switch_snapshot = await read(running, list(COUNTED)) if running.connected else None
        ilnp = running.edge.manager(IlnpSessions)
        between_identifiers = ilnp and ilnp.numbered(number)
        if ilnp and between_identifiers:
            told = session_answer(ilnp, between_identifiers)
        else:
            told = answer(*find(running, number))
        note_schedule(told, running)
        if switch_snapshot is not None:
            count(told, switch_snapshot)
        return told

    @app.post("/v1/sessions/{number}/move", responses={**NO_SESSION, **NOT_MOVED})
    async def move(number: int, wish: MoveRequest) -> SessionAnswer:
        """Move a session to a path; refused unless both locators are proven and it works."""
        if (ilnp := running.edge.manager(IlnpSessions)) and ilnp.numbered(number):
            raise ApiError(409, "Not moved", "ILNP goes by preference; `wayname ilnp drain PROVIDER` changes it")
        keeper, found = find(running, number)
        wanted, refusal = keeper.may_move(found, wish.path)
        if wanted is None:
            raise ApiError(409, "Not moved", refusal)
        done = await running.command(MoveSession(number, wanted))
        await done.wait()
        return answer(keeper, found)

    @app.post("/v1/sessions/{number}/prefer", responses={**NO_SESSION, **NOT_PREFERRED})
    async def prefer(number: int, preference: PreferenceRequest) -> SessionAnswer:
        """Let flows of a path policy take a path of a session as long as it works."""
        if (ilnp := running.edge.manager(IlnpSessions)) and ilnp.numbered(number):
            raise ApiError(409, "Not preferred", "sessions of ILNP have no paths for single flows")
        (keeper, found), wanted = find(running, number), None
        refusal = keeper.preference_refusal(found, preference.policy)
        if refusal is None and preference.path is not None:
            wanted, refusal = keeper.path_named(found, preference.path)
        if refusal:
            raise ApiError(409, "Not preferred", refusal)
        done = await running.command(PreferPath(number, preference.policy, wanted))
        await done.wait()
        return answer(keeper, found)

    @app.post("/v1/sessions/{number}/fork", responses={**NO_SESSION, **NOT_FORKED})
    async def fork(number: int, flow: ForkedPorts) -> SessionAnswer:
        """Give flows between two ports a session of their own; it is there when the peer has agreed."""
        keeper, found = find(running, number)
        if not isinstance(keeper, Shim6Sessions):
            raise ApiError(409, "Not forked", "only sessions of Shim6 have forks")
        refusal = keeper.forks.refusal(found, flow.local_port, flow.peer_port)
        if refusal is not None:
            raise ApiError(409, "Not forked", refusal)
        done = await running.command(ForkSession(number, flow.local_port, flow.peer_port))
        await done.wait()
        return answer(keeper, found)

    @app.post("/v1/sessions/{number}/unfork", responses={**NO_SESSION, **NOT_ENDED})
    async def unfork(number: int) -> SessionAnswer:
        """End a fork: its flows are of their hosts' session again. It is gone when the peer has heard of it."""
        keeper, found = find(running, number)
        if not isinstance(keeper, Shim6Sessions):
            raise ApiError(409, "Not ended", "only sessions of Shim6 have forks")
        refusal = keeper.forks.ending_refusal(found)
        if refusal is not None:
            raise ApiError(409, "Not ended", refusal)
        done = await running.command(UnforkSession(number))
        await done.wait()
        return answer(keeper, found)


def find(running: Running, number: int) -> tuple[WatchedSessions, Session]:
    """Return a session and who watches it, or say that there is none."""
    keeper = running.edge.keeper(number)
    session = keeper.numbered(number) if keeper else None
    if keeper is None or session is None:
        raise ApiError(404, "No such session", f"{number}; `wayname sessions` lists them")
    return keeper, session


def answer(sessions: WatchedSessions, session: Session) -> SessionAnswer:
    """Return a session in words."""
    paths = [
        Path(
            number=number,
            local=str(pair.local),
            peer=str(pair.peer),
            provider=sessions.provider_of(pair.local),
            header=not session.is_plain(pair),
            state=sessions.health(session, number),
            backup=sessions.backup_of(session, number),
        )
        for number, pair in session.paths.items()
    ]
    return SessionAnswer(
        number=session.number,
        local=str(session.name.local),
        peer=str(session.name.peer),
        path=session.path,
        reason=session.reason,
        generation=session.generation,
        send_timeout=session.send_timeout,
        keepalive=session.keepalive,
        state=sessions.state_of(session),
        fork_of=session.fork.of if session.fork else None,
        ports=(session.fork.local_port, session.fork.peer_port) if session.fork else None,
        preferred=sessions.preferred(session),
        forks=[each.number for each in sessions.forks.among(session)] if isinstance(sessions, Shim6Sessions) else [],
        paths=paths,
    )


def note_schedule(told: SessionAnswer, running: Running) -> None:
    """Add by which schedule a session's packets go."""
    group = running.edge.schedules.group_of(told.number)
    if group is not None:
        told.schedule, told.scheduled_paths = group.rule.config.name, list(group.paths_of(told.number))


def count(told: SessionAnswer, switch_snapshot: SwitchSnapshot) -> None:
    """Add what passed the paths of a session."""
    sent, received = (_counts(switch_snapshot, table, told.number) for table in COUNTED)
    for path in told.paths:
        path.sent_packets, path.sent_bytes = sent[path.number].packets, sent[path.number].bytes
        path.received_packets, path.received_bytes = received[path.number].packets, received[path.number].bytes


def _counts(switch_snapshot: SwitchSnapshot, table: str, session: int) -> defaultdict[int, CounterValue]:
    """Return what entries of a session counted, by path."""
    counts: defaultdict[int, CounterValue] = defaultdict(CounterValue)
    for entry in switch_snapshot.tables[table].entries:
        if entry.match["session"] == session:
            path = entry.match.get("path", entry.parameters.get("path"))
            counts[int(path or 0)] = entry.count
    return counts
