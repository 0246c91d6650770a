"""The API of a process that stands for many edges: `/edges/NAME` and a path is what that path is of a single edge."""

from __future__ import annotations

import asyncio
import importlib.metadata
import re
from collections.abc import Mapping
from typing import Protocol

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel, Field
from starlette.types import ASGIApp, Scope

from wayname.adapter import SwitchError
from wayname.api.access import CALLER, Access, Answering
from wayname.api.app import ApiServices
from wayname.api.audit import Audit
from wayname.api.callers import Caller
from wayname.api.guard import BrowserGuard
from wayname.api.page import serve_assets
from wayname.api.problems import ApiError, tell_problems
from wayname.api.reload import serve_reload
from wayname.api.request_limits import RequestLimits
from wayname.api.roles import READ
from wayname.api.views import is_used, waits_for
from wayname.config.api import Role
from wayname.config.model import Config
from wayname.metrics.edges import edges_exposition
from wayname.metrics.exposition import COUNTERS, TABLES, Scrape
from wayname.snapshot.held_back import punt_cells
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import SwitchSnapshot, read_snapshot

# For the answer of one switch; without one the numbers of that switch are missing.
READ_SECONDS = 5.0
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_OF_EDGE = re.compile(r"/edges/(?P<edge>[^/]+)(?P<rest>/.*)")


class Edge(Protocol):
    """An edge that runs."""

    @property
    def controller(self) -> Running:
        """Its controller."""

    @property
    def services(self) -> ApiServices:
        """What the API knows beside that."""

    @property
    def app(self) -> FastAPI:
        """What answers of it."""


class Edges(Protocol):
    """The edges that a process stands for."""

    @property
    def config(self) -> Config:
        """What the file says for all of them."""

    @property
    def running(self) -> Mapping[str, Edge]:
        """Those that run."""

    @property
    def why_not(self) -> Mapping[str, str]:
        """All of them, and why each of the others does not run."""

    @property
    def restarts(self) -> Mapping[tuple[str, str], int]:
        """How often each failed and began anew, by what it failed of."""

    async def reload(self) -> list[str]:
        """Go by what the file says now; return what changed of it."""


class EdgeAnswer(BaseModel):
    """An edge of this process."""

    edge: str = Field(description="name of the edge in the fleet")
    runs: bool = Field(description="whether it runs here; if not, `why` says what it waits for, or how it failed")
    leads: bool = Field(description="whether this controller leads the edge")
    connected: bool = Field(description="whether its switch is there")
    sessions: int = Field(description="sessions of its hosts")
    providers: int = Field(description="providers that it has")
    providers_used: int = Field(description="those by which new things go")
    restarts: int = Field(description="how often it failed here and began anew")
    why: str = Field(description="why it does not run, or what it waits for; else empty")


def make_edges_app(edges: Edges, audit: Audit) -> ASGIApp:
    """Make the app of a process that stands for these edges; `audit` takes note of what is of none of them."""
    app = FastAPI(
        title="wayname", version=importlib.metadata.version("wayname"), openapi_url=None, docs_url=None, redoc_url=None
    )
    tell_problems(app)
    serve_edges(app, edges)

    def answering(scope: Scope) -> Answering:
        found = _OF_EDGE.fullmatch(scope["path"])
        if found is None:
            return Answering(app, scope, audit, None)
        name = found["edge"]
        edge = edges.running.get(name)
        if edge is None:
            return Answering(app, scope, audit, name if name in edges.why_not else None)
        raw_path = scope["raw_path"].removeprefix(f"/edges/{name}".encode())
        return Answering(edge.app, {**scope, "path": found["rest"], "raw_path": raw_path}, edge.services.audit, name)

    access = Access(answering, lambda: edges.config.api, audit, lambda: asyncio.get_running_loop().time())
    return RequestLimits(BrowserGuard(access))


def serve_edges(app: FastAPI, edges: Edges) -> None:
    """Serve what is of no single edge."""

    @app.get("/v1/edges", openapi_extra=READ)
    async def of_process(request: Request) -> list[EdgeAnswer]:
        """The edges that this controller stands for; those that who asks may look at."""
        return [edge_answer(edges, name) for name in _seen_by(request, edges)]

    app.get("/page/edges", openapi_extra=READ, include_in_schema=False)(of_process)
    serve_assets(app, "edges.html")

    @app.get("/metrics", openapi_extra=READ, response_class=PlainTextResponse)
    async def metrics(request: Request) -> PlainTextResponse:
        """All numbers of all edges, for Prometheus; those of switches that are not there are missing."""
        seen = _seen_by(request, edges)
        running = {name: each for name, each in edges.running.items() if name in seen}
        snapshots = await asyncio.gather(*(snapshot_of(each.controller) for each in running.values()))
        scrapes = {
            name: Scrape(each.controller, each.services.events_by_kind, snapshot)
            for (name, each), snapshot in zip(running.items(), snapshots, strict=True)
        }
        restarts = {about: count for about, count in edges.restarts.items() if about[0] in seen}
        text = edges_exposition(scrapes, seen, restarts)
        return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    serve_reload(app, edges.reload)

    @app.api_route("/{path:path}", methods=METHODS, openapi_extra=READ, include_in_schema=False)
    async def elsewhere(path: str, request: Request) -> None:
        """Say how to ask for an edge."""
        found = _OF_EDGE.fullmatch(f"/{path}")
        names = ", ".join(_seen_by(request, edges))
        if found is None:
            how = f"name one by `wayname --edge NAME`, or by the path /edges/NAME/{path}"
            raise ApiError(404, "Which edge?", f"this controller stands for several; {how}. They are {names}")
        name = found["edge"]
        if name not in edges.why_not:
            raise ApiError(404, "No such edge", f"{name!r}; those of this controller are {names}")
        raise ApiError(503, "The edge does not run", f"edge {name}: {edges.why_not[name]}")


def _seen_by(request: Request, edges: Edges) -> list[str]:
    """Return the edges that who asks may look at."""
    caller: Caller = getattr(request.state, CALLER)
    return [name for name in edges.why_not if caller.may(Role.READ, name)]


def edge_answer(edges: Edges, name: str) -> EdgeAnswer:
    """Tell how an edge stands."""
    edge = edges.running.get(name)
    restarts = sum(count for (failed, _), count in edges.restarts.items() if failed == name)
    if edge is None:
        return EdgeAnswer(
            edge=name,
            runs=False,
            leads=False,
            connected=False,
            sessions=0,
            providers=0,
            providers_used=0,
            restarts=restarts,
            why=edges.why_not[name],
        )
    running = edge.controller
    return EdgeAnswer(
        edge=name,
        runs=True,
        leads=running.fleet is not None and running.fleet.leadership.term is not None,
        connected=running.connected,
        sessions=sum(1 for manager in running.edge.managers for _ in manager.numbers()),
        providers=len(running.config.written_providers),
        providers_used=sum(is_used(running, each) for each in running.config.written_providers),
        restarts=restarts,
        why=next(iter(waits_for(running)), ""),
    )


async def snapshot_of(running: Running) -> SwitchSnapshot | None:
    """Read from a switch what has a metric; nothing of one that does not answer in time."""
    if not running.connected:
        return None
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await read_snapshot(running, TABLES, COUNTERS, punt_cells(running.config))
    except (SwitchError, TimeoutError):
        return None
