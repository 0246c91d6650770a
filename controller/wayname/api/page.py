"""The live page: its files, the frames that it shows, and the way of a session's packet. All of it only looks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Annotated

from fastapi import FastAPI, Header
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel

from wayname.api.live.feed import LiveFeed
from wayname.api.problems import ApiError
from wayname.api.roles import READ
from wayname.api.streams import Streams
from wayname.api.traces import PacketWay

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
# Nothing but files of ours runs or is shown, nothing is sent elsewhere, nobody frames it, and no text becomes markup.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Another version of the controller may answer the next time.
    "Cache-Control": "no-store",
}


class FollowedPacket(BaseModel):
    """The way of a packet, or why there is none: of a status that says so a browser would write an error of its own."""

    way: PacketWay | None = None
    why: str = ""


def serve_page(
    app: FastAPI, feed: LiveFeed, streams: Streams, follow_packet: Callable[[int], Awaitable[PacketWay]]
) -> None:
    """Serve the page; nothing of it is part of the described API, since the page comes with it.

    `follow_packet` follows the next packet of the host of a session, by its number, one at a time whatever pages ask.
    """
    following = asyncio.Lock()

    @app.get("/page/feed", openapi_extra=READ, include_in_schema=False)
    async def live(last_event_id: Annotated[str | None, Header()] = None) -> StreamingResponse:
        return streams.response(feed.follow(last_event_id, streams.end), "text/event-stream")

    @app.get("/page/trace/{session}", openapi_extra=READ, include_in_schema=False)
    async def trace(session: int) -> FollowedPacket:
        if following.locked():
            return FollowedPacket(why="somebody else follows a packet; one is followed at a time")
        async with following:
            try:
                return FollowedPacket(way=await follow_packet(session))
            except ApiError as error:
                return FollowedPacket(why=f"{error.title}: {error.detail}")

    serve_assets(app, "index.html")


def serve_assets(app: FastAPI, first: str) -> None:
    """Serve the files of the page; behind whatever else there is under `/page`."""
    assets = {each.name: each.read_bytes() for each in (files("wayname.page") / "assets").iterdir()}

    @app.get("/", openapi_extra=READ, include_in_schema=False)
    async def page() -> Response:
        return asset(assets, first)

    @app.get("/page/{name}", openapi_extra=READ, include_in_schema=False)
    async def part(name: str) -> Response:
        return asset(assets, name)


def asset(assets: dict[str, bytes], name: str) -> Response:
    """Answer with a file of the page."""
    if name not in assets:
        raise ApiError(404, "No such file", f"the page has no {name!r}")
    return Response(assets[name], media_type=MEDIA_TYPES[name.rpartition(".")[2]], headers=HEADERS)
