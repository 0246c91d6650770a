"""The endpoints of the API."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv6Network
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query
from fastapi.responses import PlainTextResponse, StreamingResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.types import ASGIApp, Scope

from wayname.adapter import SwitchError
from wayname.adapter.port_links import ask_links
from wayname.adapter.port_losses import NoAnswerError, ask_port_losses
from wayname.api import models, views
from wayname.api.access import Access, Answering
from wayname.api.audit import Audit
from wayname.api.captures import Captures
from wayname.api.description import EVERYWHERE, operation_name, serve_description
from wayname.api.encapsulation import serve_encapsulation
from wayname.api.first_hop_security import serve_bindings
from wayname.api.fleet import serve_fleet
from wayname.api.guard import BrowserGuard
from wayname.api.identities import serve_identities
from wayname.api.ioam import serve_ioam
from wayname.api.live.feed import LiveFeed
from wayname.api.nptv6 import serve_nptv6
from wayname.api.page import serve_page
from wayname.api.pinholes import serve_pinholes
from wayname.api.problems import ApiError, Problem, tell_problems
from wayname.api.providers import serve_providers
from wayname.api.reload import serve_reload
from wayname.api.request_limits import RequestLimits
from wayname.api.roles import CAPTURE, READ
from wayname.api.schedules import serve_schedules
from wayname.api.session_triggers import serve_session_triggers
from wayname.api.sessions import serve_sessions, session_answer
from wayname.api.streamed_array import streamed_array
from wayname.api.streams import TOO_MANY, Streams, follow_events
from wayname.api.traces import follow_packet, serve_traces
from wayname.metrics.exposition import COUNTERS, TABLES, exposition
from wayname.snapshot.held_back import RateLimitedPunts, held_back, punt_cells
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import SwitchSnapshot, names, read_entries, read_snapshot

ABOUT = "What the controller of an edge switch knows. Each operation says in x-role which role it needs."
MOST_ROUTES = 10_000
NOT_THERE: dict[int | str, dict[str, Any]] = {503: {"model": Problem, "description": "the switch is not there"}}


@dataclass(frozen=True, slots=True)
class ApiServices:
    """What the API knows of beside the controller."""

    captures: Captures
    events_by_kind: Mapping[tuple[str, str], int]
    uptime: Callable[[], float]
    reload: Callable[[], Awaitable[list[str]]]
    audit: Audit
    streams: Streams = field(default_factory=Streams)
    # Pages take no place of who follows events, and the other way round.
    pages: Streams = field(default_factory=Streams)

    def end_streams(self) -> None:
        """End all streams."""
        self.streams.end.set()
        self.pages.end.set()
        self.captures.end()


def make_app(running: Running, beside: ApiServices) -> ASGIApp:
    """Make the app of a controller that runs."""
    app = edge_app(running, beside)

    def answering(scope: Scope) -> Answering:
        fleet = running.config.fleet
        return Answering(app, scope, beside.audit, fleet.edge if fleet else None)

    access = Access(answering, lambda: running.config.api, beside.audit, lambda: running.now)
    return RequestLimits(BrowserGuard(access))


def edge_app(running: Running, beside: ApiServices) -> FastAPI:
    """Make what answers of an edge, whoever asks."""
    app = FastAPI(
        title="wayname",
        version=importlib.metadata.version("wayname"),
        description=ABOUT,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        responses=EVERYWHERE,
        generate_unique_id_function=operation_name,
    )
    tell_problems(app)
    serve_knowledge(app, running, beside)
    serve_switch(app, running)
    serve_encapsulation(app, running)
    serve_ioam(app, running, beside.streams)
    serve_identities(app, running)
    serve_bindings(app, running)
    serve_sessions(app, running, read)
    serve_session_triggers(app, running)
    serve_nptv6(app, running, read)
    serve_pinholes(app, running, read)
    serve_providers(app, running)
    serve_schedules(app, running)
    for protocol in running.edge.protocols:
        if protocol.routes is not None:
            importlib.import_module(protocol.routes).serve(app, running)
    serve_fleet(app, running)
    serve_reload(app, beside.reload)
    serve_metrics(app, running, beside)
    serve_events(app, running, beside)
    serve_capture(app, running, beside)
    serve_traces(app, running)
    serve_page(
        app,
        LiveFeed(running, beside.events_by_kind, app.version),
        beside.pages,
        lambda number: follow_packet(running, session_answer(running, number)),
    )
    serve_description(app)
    return app


def serve_knowledge(app: FastAPI, running: Running, beside: ApiServices) -> None:
    """Serve what the controller knows by itself."""

    @app.get("/v1/status", openapi_extra=READ)
    async def status() -> models.Status:
        """The switch, the way to it, and how much is known."""
        return models.Status(
            version=app.version,
            uptime=beside.uptime(),
            pipeline=f"{running.schema.name} {running.schema.version}",
            switch=views.switch_status(running),
            waits_for=views.waits_for(running),
            ports=len(running.config.ports),
            stations=len(list(running.edge.fdb)),
            neighbours=len(list(running.edge.neighbours)),
            routes=views.route_count(running),
            events=running.events.last,
            captures=len(beside.captures.queues),
        )

    @app.get("/v1/hosts", openapi_extra=READ)
    async def hosts() -> list[models.Host]:
        """Stations, where they are, and their addresses."""
        return views.hosts(running)

    @app.get("/v1/routes", openapi_extra=READ)
    async def routes(
        within: Annotated[IPv6Network | None, Query(description="this prefix and longer ones only")] = None,
        most: Annotated[int, Query(ge=0, le=MOST_ROUTES, description="of Linux's routes no more than these")] = 1000,
    ) -> list[models.Route]:
        """Routes and whether their next hops answer."""
        return views.routes(running, within, most)


def serve_switch(app: FastAPI, running: Running) -> None:
    """Serve what is read from the switch when somebody asks."""

    @app.get("/v1/ports", openapi_extra=READ, responses=NOT_THERE)
    async def ports() -> list[models.Port]:
        """Ports, their links and what passed them."""
        counted = await read(running, (), views.PORT_COUNTERS)
        return views.ports(running.config, counted, await ask_links(running.config.switch.admin))

    @app.get("/v1/tables", openapi_extra=READ, responses=NOT_THERE)
    async def tables() -> list[models.TableSummary]:
        """All tables and how full they are."""
        with asking_switch(running):
            entries = await read_entries(running, *names(running.schema))
        return views.table_summaries(running.schema, entries)

    @app.get(
        "/v1/tables/{name}",
        openapi_extra=READ,
        response_model=models.Table,
        responses={404: {"model": Problem}, **NOT_THERE},
    )
    async def table(
        name: Annotated[str, Path(description="name of the table, as `/v1/tables` lists it")],
    ) -> StreamingResponse:
        """A table's entries with their counters."""
        known = names(running.schema)
        if name not in known:
            raise ApiError(404, "No such table", f"{name!r}; the tables are {', '.join(known)}")
        with asking_switch(running):
            entries = await read_entries(running, name)
        described = running.schema.tables[name]
        return streamed_array(
            models.TableEntry,
            [partial(views.table_entry, entry, running.schema) for entry in entries],
            models.Table(name=name, about=described.brief, size=described.size, entries=[]),
        )

    @app.get("/v1/drops", openapi_extra=READ, responses=NOT_THERE)
    async def drops() -> list[models.Drop]:
        """Packets dropped by the switch, by reason."""
        return views.drops(await read(running, (), [counter for _, counter in views.DROP_COUNTERS]))

    @app.get("/v1/port-losses", openapi_extra=READ, responses={404: {"model": Problem}, **NOT_THERE})
    async def port_losses() -> list[models.PortLoss]:
        """Frames that ports lost before or behind the tables, by port and reason."""
        socket = running.config.switch.admin
        if socket is None:
            how = "name the switch's --admin socket as `admin` in [switch] (the embedded switch has one)"
            raise ApiError(404, "The switch is not asked", f"what ports lost is not known: {how}")
        try:
            return views.port_losses(running.config, await ask_port_losses(socket))
        except NoAnswerError as error:
            how = "start it with --admin, as the user that the controller is"
            detail = f"what ports lost is not known: the switch does not answer at {socket} ({error}); {how}"
            raise ApiError(503, "The switch does not say", detail) from None

    @app.get("/v1/punts", openapi_extra=READ, responses=NOT_THERE)
    async def punts() -> list[RateLimitedPunts]:
        """Packets and copies that were too many for the controller, by class and port."""
        return held_back(running, await read(running, (), (), punt_cells(running.config)))


def serve_metrics(app: FastAPI, running: Running, beside: ApiServices) -> None:
    """Serve numbers, read when they are asked for."""

    @app.get("/metrics", openapi_extra=READ, response_class=PlainTextResponse)
    async def metrics() -> PlainTextResponse:
        """All numbers, for Prometheus; those of the switch are missing while it is not there."""
        switch_snapshot = None
        if running.connected:
            switch_snapshot = await read(running, TABLES, COUNTERS, punt_cells(running.config))
        text = exposition(running, beside.events_by_kind, switch_snapshot)
        return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


def serve_events(app: FastAPI, running: Running, beside: ApiServices) -> None:
    """Serve what happened and what happens."""

    @app.get("/v1/events", openapi_extra=READ, response_model=list[models.Event], responses=TOO_MANY)
    async def events(
        since: Annotated[int, Query(ge=0, description="only events behind this number")] = 0,
        follow: Annotated[bool, Query(description="go on with new ones, one JSON object a line")] = False,
    ) -> StreamingResponse | list[models.Event]:
        """Events that are kept; a number from before the controller was restarted counts as 0."""
        behind = since if since <= running.events.last else 0
        if not follow:
            return [views.event(recorded) for recorded in running.events.since(behind)]

        async def lines() -> AsyncIterator[str]:
            async for recorded in follow_events(running.events, behind, beside.streams.end):
                yield views.event(recorded).model_dump_json() + "\n"

        return beside.streams.response(lines(), "application/jsonl")


def serve_capture(app: FastAPI, running: Running, beside: ApiServices) -> None:
    """Serve the packets of a port."""
    answers: dict[int | str, dict[str, Any]] = {
        200: {"content": {"application/vnd.tcpdump.pcap": {}}},
        404: {"model": Problem},
        **NOT_THERE,
    }

    # It has the switch copy packets, so it is nothing that a link or an image on a page may ask for (RFC 9110, 9.2.1).
    @app.post(
        "/v1/capture", openapi_extra=CAPTURE, response_class=StreamingResponse, responses={**answers, **NOT_THERE}
    )
    async def capture(wish: models.Capture) -> StreamingResponse:
        """A pcap file of the packets that pass a port from now on, as they arrive and as they leave."""
        port = views.port_called(running.config, str(wish.port)).number
        need_switch(running)
        return beside.streams.response(beside.captures.stream(running, port, wish), "application/vnd.tcpdump.pcap")


def need_switch(running: Running) -> None:
    """Refuse what cannot be answered without the switch."""
    if not running.connected:
        where = running.config.switch.address
        raise ApiError(503, "The switch is not there", f"nothing at {where} listens to us; `wayname events` tells why")


async def read(
    running: Running,
    tables: Sequence[str],
    counters: tuple[str, ...] | list[str] = (),
    cells: Mapping[str, Iterable[int]] = MappingProxyType({}),
) -> SwitchSnapshot:
    """Read from the switch, or say that it is not there."""
    with asking_switch(running):
        return await read_snapshot(running, tables, counters, cells)


@contextmanager
def asking_switch(running: Running) -> Iterator[None]:
    """Say of a switch that is not there, or goes meanwhile, that it is not there."""
    need_switch(running)
    try:
        yield
    except SwitchError as error:
        raise ApiError(503, "The switch is not there", str(error)) from None
