"""The role that each route needs, said where the route stands, and shown in the API's description."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from wayname.config.api import Role

KEY = "x-role"
READ: dict[str, Any] = {KEY: Role.READ.value}
OPERATE: dict[str, Any] = {KEY: Role.OPERATE.value}
CAPTURE: dict[str, Any] = {KEY: Role.CAPTURE.value}


def role_of(route: BaseRoute) -> Role | None:
    """The role that a route says it needs."""
    said = getattr(route, "openapi_extra", None) or {}
    return Role(said[KEY]) if KEY in said else None


def route_of(app: FastAPI, scope: Scope) -> BaseRoute | None:
    """The route that will answer a request, if one will."""
    return next((route for route in app.routes if route.matches(scope)[0] is Match.FULL), None)
