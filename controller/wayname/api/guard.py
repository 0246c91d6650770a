"""Keeps web pages out of an API on TCP.

A page of another origin can have a browser send requests here, and a name that its owner turns to 127.0.0.1 ("DNS
rebinding") even lets it read the answers. Headers tell them: `Origin` or `Sec-Fetch-Site` the first, a `Host` that is a
foreign name the second. An address cannot be rebound, so addresses are fine.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from wayname.api.problems import problem_response


class BrowserGuard:
    """Refuses what a browser sends for a foreign page."""

    def __init__(self, app: ASGIApp, own_name: str) -> None:
        self.app = app
        self.names = {"localhost", own_name.lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (reason := self.refusal(Headers(scope=scope))):
            await problem_response(403, "Not for web pages", reason)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def refusal(self, headers: Headers) -> str | None:
        """Say why a request with these headers is refused, if it is."""
        host = headers.get("host", "")
        if not self.is_ours(f"//{host}"):
            return f"Host {host!r} is neither an address nor a name of this API: ask by its address"
        origin = headers.get("origin")
        if origin is not None and origin.partition("//")[2] != host:
            return f"a page of {origin!r} may not ask this API"
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return "a page of another site may not ask this API"
        return None

    def is_ours(self, url: str) -> bool:
        """Whether the URL's host is an address or a name of ours."""
        try:
            name = urlsplit(url).hostname or ""
        except ValueError:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self.names
        return True
