"""Lets in who is known and has the role that the route needs, before anything of a request's body is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wayname.api.audit import Audit
from wayname.api.callers import Caller, NotKnown, Peer, caller_of
from wayname.api.problems import problem_response
from wayname.api.rates import RateLimiter
from wayname.api.roles import role_of, route_of
from wayname.config.api import ApiConfig, Role
from wayname.token_buckets import Rate

PEER = "wayname_peer"
"""Where a connection says in the state of its requests who is at its other end."""
CALLER = "wayname_caller"
"""Where what answers finds in that state who asks."""
# Requests of one caller and of all, and attempts with a wrong token or none: those of one address, and all.
CALLS = Rate(50, 200), Rate(200, 800)
FAILURES = Rate(1, 10), Rate(10, 100)
SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
MOST_TOLD = 200


@dataclass(frozen=True, slots=True)
class Answering:
    """What answers a request, how that sees it, who takes note of what it changes, and of which edge it is."""

    app: FastAPI
    scope: Scope
    audit: Audit
    # None: of a process, and of none of its edges; or of an edge that is in no fleet.
    edge: str | None


class Access:
    """Stands before what answers, which is asked for when it is known who asks.

    A right token is let in however many wrong ones come from its address.
    """

    def __init__(
        self,
        answering: Callable[[Scope], Answering],
        settings: Callable[[], ApiConfig],
        audit: Audit,
        clock: Callable[[], float],
    ) -> None:
        self._answering = answering
        self._settings = settings
        self._audit = audit
        self._clock = clock
        self._calls = RateLimiter(*CALLS)
        self._failures = RateLimiter(*FAILURES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer: Peer = scope["state"][PEER]
        what = f"{scope['method']} {quote(scope['path'])[:MOST_TOLD]}"
        try:
            caller = caller_of(peer, Headers(scope=scope), self._settings())
        except NotKnown as error:
            await self._refuse_stranger(peer, what, str(error))(scope, receive, send)
            return
        if not caller.is_owner and not self._calls.may(caller.name, self._clock()):
            self._audit.refused(caller.name, peer, what, "too many requests")
            detail = f"{caller.name} asks more than {CALLS[0].per_second:g} times a second; wait, and ask less often"
            await problem_response(429, "Too many requests", detail, {"Retry-After": "1"})(scope, receive, send)
            return
        found = self._answering(scope)
        if (needed := _lacks(caller, found)) is not None:
            found.audit.refused(caller.name, peer, what, f"needs the role {needed}")
            await problem_response(403, "Not allowed", _mend(caller, peer, needed, found.edge))(scope, receive, send)
            return
        scope["state"][CALLER] = caller
        if scope["method"] in SAFE:
            await found.app(found.scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                found.audit.changed(caller.name, peer.where, what, message["status"])
            await send(message)

        await found.app(found.scope, receive, told)

    def _refuse_stranger(self, peer: Peer, what: str, why: str) -> ASGIApp:
        self._audit.refused(peer.where, peer, what, why)
        if not self._failures.may(peer.key, self._clock()):
            detail = f"too many attempts without a right token: {why}"
            return problem_response(429, "Too many attempts", detail, {"Retry-After": "1"})
        return problem_response(401, "Who asks?", why, {"WWW-Authenticate": "Bearer"})


def _lacks(caller: Caller, found: Answering) -> Role | None:
    """The role that a caller lacks. What no route answers needs one to look; what says nothing needs all."""
    route = route_of(found.app, found.scope)
    said = Role.READ if route is None else role_of(route)
    needed = [said] if said else list(Role)
    return next((role for role in needed if not caller.may(role, found.edge)), None)


def _mend(caller: Caller, peer: Peer, needed: Role, edge: str | None) -> str:
    if peer.user is not None and not caller.allowed:
        return (
            f"{caller.name} is in no group that may ask: write an [[api.group]] with the role {needed}, or ask as root"
        )
    if any(needed in each.roles or needed is Role.READ for each in caller.allowed):
        of = f"edge {edge}" if edge is not None else "all edges"
        return f"{caller.name} has not the role {needed} for {of}: see its `edges` in [api] of the configuration"
    return f"{caller.name} has not the role {needed}: add it to its `roles` in [api] of the configuration"
