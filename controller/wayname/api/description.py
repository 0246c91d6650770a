"""The API's description of itself (OpenAPI): what every operation may answer, and how a caller says who he is."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from wayname.api.problems import Problem
from wayname.api.reference import serve_reference
from wayname.api.roles import READ

MEDIA_TYPE = "application/problem+json"
EVERYWHERE: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "it is not known who asks"},
    403: {"model": Problem, "description": "who asks has not the role, or is a web page"},
    413: {"model": Problem, "description": "the body is too long"},
    422: {"model": Problem, "description": "a parameter is wrong"},
    429: {"model": Problem, "description": "too many requests, or too many without a right token"},
    431: {"model": Problem, "description": "the head is too long"},
    503: {
        "model": Problem,
        "description": "the switch is not there, nothing can change now, or too many ask at a time",
    },
}
# By the first part of an operation's path: what it is about. A path of a new part is refused until it stands here.
TAGS = {
    "controller": ("What the controller knows and does.", ("status", "events", "reload", "metrics", "fleet")),
    "forwarding": ("Ports, hosts (FDB and neighbours) and routes.", ("ports", "port-losses", "hosts", "routes")),
    "pipeline": ("Tables, drops, punts and packets of the switch.", ("tables", "drops", "punts", "capture", "trace")),
    "sessions": (
        "Sessions, their paths and their scheduling.",
        ("sessions", "session-triggers", "schedules", "ilnp", "hip"),
    ),
    "providers": ("Providers, and prefixes translated to theirs (RFC 6296).", ("providers", "nptv6")),
    "security": ("First-hop security, identities, simple security.", ("bindings", "identities", "pinholes")),
    "encapsulation": ("SRv6, RPL, ILA and IOAM.", ("encapsulation", "ioam")),
}
PARTS_WITH_NAMES = ("fleet", "hip", "ilnp", "ioam", "nptv6")
SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "on TCP; `wayname token new` makes one"},
    "certificate": {"type": "mutualTLS", "description": "on TCP, in place of a token"},
}


def serve_description(app: FastAPI) -> None:
    """Serve it, for programs and for people."""
    made: dict[str, Any] = {}

    def description() -> dict[str, Any]:
        if not made:
            made.update(describe(app))
        return made

    app.get("/openapi.json", openapi_extra=READ, include_in_schema=False)(description)
    serve_reference(app, description)


def operation_name(route: APIRoute) -> str:
    """Name an operation as clients call it: by its function, behind the part of the API that has names of its own."""
    part = route.path.removeprefix("/v1").split("/")[1]
    return f"{part}_{route.name}" if part in PARTS_WITH_NAMES and part != route.name else route.name


def describe(app: FastAPI) -> dict[str, Any]:
    """Make it; on a Unix socket the kernel says who asks, so neither scheme is a must."""
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    made["components"]["securitySchemes"] = SCHEMES
    made["security"] = [{}, *({name: []} for name in SCHEMES)]
    made["tags"] = [{"name": name, "description": about} for name, (about, _) in TAGS.items()]
    of_part = {part: name for name, (_, parts) in TAGS.items() for part in parts}
    for path, methods in made["paths"].items():
        tag = of_part[path.removeprefix("/v1").split("/")[1]]
        for operation in methods.values():
            operation["tags"] = [tag]
            for answer in operation["responses"].values():
                _name_problem(answer.get("content", {}))
    return made


def _name_problem(content: dict[str, Any]) -> None:
    """Say of a problem that it comes as one (RFC 9457)."""
    schema = content.get("application/json", {}).get("schema", {})
    if str(schema.get("$ref", "")).endswith(f"/{Problem.__name__}"):
        content[MEDIA_TYPE] = content.pop("application/json")
