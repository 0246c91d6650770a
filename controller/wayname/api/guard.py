"""Keeps web pages out of the API.

A page can have a browser send requests here, and a browser that has a client certificate would show it. `Origin` and
`Sec-Fetch-Site` tell such requests. A name that its owner turns to an address of ours ("DNS rebinding") is none of the
certificate's, so TLS refuses it.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from wayname.api.problems import problem_response


class BrowserGuard:
    """Refuses what a browser sends for a foreign page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (reason := self.refusal(Headers(scope=scope))):
            await problem_response(403, "Not for web pages", reason)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def refusal(self, headers: Headers) -> str | None:
        """Say why a request with these headers is refused, if it is."""
        origin = headers.get("origin")
        if origin is not None and origin.partition("//")[2] != headers.get("host", ""):
            return f"a page of {origin!r} may not ask this API"
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return "a page of another site may not ask this API"
        return None
