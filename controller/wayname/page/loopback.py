"""Brings a browser to the pages of controllers: a loopback address that passes requests on to their APIs.

A browser reaches no Unix socket and shows no token of an API, so somebody who may ask lends it his right to look, as
long as he runs this. Whoever else is on the machine reaches a loopback address too, and so does each page of the web
that the browser shows. So

- only what the page consists of is passed on, by GET; nothing that changes anything, and no other part of the API;
- what tells of the network wants a token that is drawn at each start. It stands in the fragment of the address, which
  no browser sends to anybody, and the page keeps it for its tab;
- `Host` must be this address, so that no name that its owner turns here ("DNS rebinding") gets an answer; what a page
  of another origin asks for is refused.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
import socket
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx
import uvicorn
from starlette.background import BackgroundTask
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

ADDRESS = "127.0.0.1"
TOKEN_OCTETS = 16
# What is passed on, and what of it says nothing of the network.
_REST = r"/(?P<rest>|page/[a-z_]+(\.[a-z]+)?|page/trace/[0-9]+|docs|openapi\.json)"
_OF_EDGE = re.compile(rf"/(?P<edge>[^/]+){_REST}")
# A controller has these paths itself, those of its edges where it stands for several.
_OF_CONTROLLER = re.compile(rf"(/edges/[^/]+)?{_REST}")
_FILES = re.compile(r"|page/[a-z_]+\.(js|css|svg)|docs|openapi\.json")
_PASSED = frozenset(
    (
        "content-type",
        "content-security-policy",
        "x-content-type-options",
        "referrer-policy",
        "cache-control",
        "cross-origin-opener-policy",
        "cross-origin-resource-policy",
    )
)
MOST_CONNECTIONS = 64
# Seconds, for answers that end.
GRACE = 2
TIMEOUT = httpx.Timeout(10.0, read=None)


@dataclass(frozen=True, slots=True)
class Loopback:
    """Answers at a loopback address for the controllers of edges, by their names, or for one that has no name."""

    edges: Mapping[str, httpx.AsyncClient]
    host: str
    # What is shown first.
    path: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_OCTETS), repr=False)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        names = [quote(name, safe="") for name in self.edges]
        others = f"&edges={','.join(names)}" if len(names) > 1 else ""
        return f"http://{self.host}{self.path}#token={self.token}{others}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            await (await self._answer(scope))(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        headers = Headers(scope=scope)
        if refusal := self._refusal(scope, headers):
            return _words(403, refusal)
        path = scope["path"]
        if path == "/" != self.path:
            # A browser keeps the fragment.
            return RedirectResponse(self.path)
        if (controller := self.edges.get("")) is not None:
            found = _OF_CONTROLLER.fullmatch(path)
        else:
            found = _OF_EDGE.fullmatch(path)
            controller = self.edges.get(found["edge"]) if found else None
        if found is None or controller is None:
            pages = f"; the pages are those of {', '.join(self.edges)}" if any(self.edges) else ""
            return _words(404, f"there is no {path} here{pages}")
        if not _FILES.fullmatch(found["rest"]) and not self._has_token(headers):
            return _words(401, "open the address with its token, as it was printed")
        return await self._passed_on(controller, path if "" in self.edges else f"/{found['rest']}", headers)

    def _refusal(self, scope: Scope, headers: Headers) -> str | None:
        if scope["method"] != "GET":
            return "this address only shows"
        if headers.get("host") != self.host:
            return f"this address is {self.host} and has no other name"
        if headers.get("origin", f"http://{self.host}") != f"http://{self.host}":
            return "a page of another origin may not ask here"
        # A link elsewhere may lead here, as any link may; it gets files that say nothing.
        if (
            headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}
            and headers.get("sec-fetch-mode") != "navigate"
        ):
            return "a page of another site may not ask here"
        return None

    def _has_token(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.encode(), self.token.encode())

    async def _passed_on(self, edge: httpx.AsyncClient, path: str, headers: Headers) -> Response:
        last_seen = headers.get("last-event-id")
        asked = {"Last-Event-ID": last_seen} if last_seen else None
        try:
            answer = await edge.send(edge.build_request("GET", path, headers=asked, timeout=TIMEOUT), stream=True)
        except httpx.HTTPError as error:
            return _away(str(error) or type(error).__name__)
        passed = {name: value for name, value in answer.headers.items() if name in _PASSED}
        return StreamingResponse(_octets(answer), answer.status_code, passed, background=BackgroundTask(answer.aclose))


async def _octets(answer: httpx.Response) -> AsyncIterator[bytes]:
    """What comes, until it ends; a controller that ends in the middle ends the answer."""
    try:
        async for some in answer.aiter_raw():
            yield some
    except httpx.HTTPError:
        return
    finally:
        await answer.aclose()


def _away(why: str) -> Response:
    """Say in the feed itself that the controller is away: a browser would write an error of its own for a status."""
    return Response(f"event: away\ndata: {json.dumps(why)}\n\n", media_type="text/event-stream")


def _words(status: int, text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status, {"X-Content-Type-Options": "nosniff"})


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals to whoever runs this."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End at once: frames would come without end."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await super().shutdown(sockets)


@asynccontextmanager
async def loopback(edges: Mapping[str, httpx.AsyncClient], port: int = 0, path: str = "") -> AsyncIterator[Loopback]:
    """Serve the pages of controllers as long as it is entered; port 0 is any that is free.

    The first edge's page is shown first, unless another path is.
    """
    with socket.create_server((ADDRESS, port)) as listener:
        first = path or f"/{quote(next(iter(edges)), safe='')}/"
        app = Loopback(edges, f"{ADDRESS}:{listener.getsockname()[1]}", first)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=GRACE,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield app
        finally:
            server.should_exit = True
            await serving
