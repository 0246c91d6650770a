"""The API's description as a page: `/docs`, without a script, and with nothing of any other address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response

from wayname.api.page import HEADERS
from wayname.api.roles import KEY, READ

Description = dict[str, Any]

STYLE = "page/page.css"
# What every operation may answer is said once.
EVERYWHERE = "Every operation"


class Markup(str):
    """Text that is HTML already; all other text is escaped."""

    __slots__ = ()


def serve_reference(app: FastAPI, describe: Callable[[], Description]) -> None:
    """Serve it; it is not part of the described API."""
    made: list[str] = []

    @app.get("/docs", openapi_extra=READ, include_in_schema=False)
    async def reference() -> Response:
        if not made:
            made.append(page(describe()))
        return Response(made[0], media_type="text/html; charset=utf-8", headers=HEADERS)


def page(described: Description) -> str:
    """Make the page."""
    operations = [
        (method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    everywhere = set.intersection(*(set(operation["responses"]) for _, _, operation in operations)) - {"200"}
    schemas = described["components"]["schemas"]
    info = described["info"]
    sections = [
        section(tag, [each for each in operations if tag["name"] in each[2]["tags"]], everywhere)
        for tag in described["tags"]
    ]
    name = f"{info['title']} {info['version']}: API"
    head = element(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", name),
        Markup(f'<link rel="stylesheet" href="{STYLE}">'),
    )
    body = element(
        "body",
        element("header", element("h1", name)),
        element(
            "main",
            element("section", intro(described), contents(described["tags"]), _class="wide"),
            *sections,
            element("section", element("h2", EVERYWHERE), responses(operations[0][2], everywhere), _class="wide"),
            element(
                "section",
                element("h2", "Answers and requests"),
                *(schema(each, said) for each, said in sorted(schemas.items())),
                _class="wide",
            ),
        ),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def intro(described: Description) -> Markup:
    """What there is to say first."""
    call = "curl --unix-socket /run/wayname/api http://wayname/v1/status"
    return joined(
        element("p", described["info"]["description"]),
        element("pre", element("code", call)),
        element("p", element("a", "The same for programs (OpenAPI)", href="openapi.json")),
    )


def contents(tags: Iterable[Description]) -> Markup:
    """Links to the parts."""
    return element(
        "ul",
        *(element("li", element("a", tag["name"], href=f"#{tag['name']}"), f": {tag['description']}") for tag in tags),
    )


def section(tag: Description, operations: Iterable[tuple[str, str, Description]], everywhere: set[str]) -> Markup:
    """Operations about one thing."""
    return element(
        "section",
        element("h2", tag["name"], id=tag["name"]),
        element("p", tag["description"]),
        *(operation(*each, everywhere) for each in operations),
        _class="wide",
    )


def operation(method: str, path: str, said: Description, everywhere: set[str]) -> Markup:
    """What one does, wants and answers."""
    body = said.get("requestBody", {}).get("content", {})
    return joined(
        element("h3", element("code", f"{method} {path}"), f", role {said[KEY]}", id=said["operationId"]),
        element("p", said["description"]),
        rows(
            ("parameter", "type", "what"),
            [
                (
                    each["name"],
                    kind(each["schema"]),
                    joined(each["description"], "" if each["required"] else ", optional"),
                )
                for each in said.get("parameters", [])
            ],
        ),
        *(element("p", "Request: ", kind(each["schema"])) for each in body.values()),
        responses(said, set(said["responses"]) - everywhere),
    )


def responses(said: Description, statuses: set[str]) -> Markup:
    """What it may answer."""
    found = []
    for status, answer in sorted(said["responses"].items()):
        if status in statuses:
            kinds = [kind(each["schema"]) for each in answer.get("content", {}).values() if "schema" in each]
            found.append((status, joined(*kinds), "" if status == "200" else answer["description"]))
    return rows(("status", "answer", "what"), found)


def schema(name: str, said: Description) -> Markup:
    """The fields of an answer or a request, or its words."""
    needed = said.get("required", [])
    return joined(
        element("h3", element("code", name), id=f"schema-{name}"),
        element("p", said.get("description", "")),
        element("p", "One of: ", ", ".join(map(str, said["enum"]))) if "enum" in said else Markup(),
        rows(
            ("field", "type", "what"),
            [
                (field, kind(each), joined(each.get("description", ""), "" if field in needed else default(each)))
                for field, each in said.get("properties", {}).items()
            ],
        ),
    )


def default(said: Description) -> str:
    """What counts where a field is left out."""
    value = said.get("default")
    return ", optional" if value in (None, "", [], {}) else f", else {value}"


def kind(said: Description) -> Markup:
    """The type of a value, with links to what is described."""
    if "$ref" in said:
        name = said["$ref"].rpartition("/")[2]
        return element("a", name, href=f"#schema-{name}")
    if "anyOf" in said:
        return Markup(" or ".join(kind(each) for each in said["anyOf"]))
    match said.get("type"):
        case "array":
            return joined("list of ", kind(said.get("items", {})))
        case "object" if isinstance(said.get("additionalProperties"), dict):
            return joined("map to ", kind(said["additionalProperties"]))
        case None:
            return joined("any")
        case name:
            words = said.get("enum") or [said["const"]] if "const" in said or "enum" in said else []
            return joined(", ".join(map(repr, words)) or said.get("format", name))


def rows(heads: tuple[str, ...], found: list[tuple[Any, ...]]) -> Markup:
    """A table, or nothing where there is nothing to tell."""
    if not found:
        return Markup()
    head = element("tr", *(element("th", each, scope="col") for each in heads))
    body = (element("tr", *(element("td", each) for each in row)) for row in found)
    return element("table", element("thead", head), element("tbody", *body))


def element(name: str, *children: str, **attributes: str) -> Markup:
    """An element; a name that Python keeps for itself has an underscore before it."""
    said = "".join(f' {key.lstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{said}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Texts and elements one behind the other."""
    return Markup("".join(_safe(children)))


def _safe(children: Iterable[str]) -> Iterator[str]:
    for child in children:
        yield child if isinstance(child, Markup) else escape(str(child))
