"""`/docs`: all of the API's description as a page, with nothing of another address and no script."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from served import Served, ask, client_of

from wayname.api.reference import page

SITE = """
[[port]]
number = 1
vlan = 10
"""
HOSTILE = "<script>alert('x')</script>&\""


async def test_it_says_all_that_is_described() -> None:
    async with client_of(Served(SITE)) as client:
        answer = await client.get("/docs")
        described: dict[str, Any] = await ask(client, "/openapi.json")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    text = unescape(re.sub(r"<[^>]*>", "", answer.text))
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert f"{method.upper()} {path}, role {operation['x-role']}" in text
            assert operation["description"] in text
    for said in described["components"]["schemas"].values():
        for field in said.get("properties", {}).values():
            assert field.get("description", "") in text
    # Each link leads somewhere on the page.
    inside = set(re.findall(r'href="#([^"]+)"', answer.text))
    assert inside
    assert inside <= set(re.findall(r'id="([^"]+)"', answer.text))


async def test_it_needs_no_other_address() -> None:
    async with client_of(Served(SITE)) as client:
        text = (await client.get("/docs")).text
        (style,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', text)
        assert (await client.get(f"/{style}")).status_code == 200
    assert "<script" not in text
    assert not re.findall(r'(?:href|src)="[a-z]*:?//', text)


def test_text_is_text() -> None:
    field = {"type": "string", "description": HOSTILE, "enum": [HOSTILE], "default": HOSTILE}
    operation = {
        "tags": [HOSTILE],
        "x-role": HOSTILE,
        "operationId": HOSTILE,
        "description": HOSTILE,
        "parameters": [{"name": HOSTILE, "description": HOSTILE, "required": True, "schema": field}],
        "responses": {"200": {"description": HOSTILE}, "503": {"description": HOSTILE}},
    }
    made = page(
        {
            "info": {"title": HOSTILE, "version": HOSTILE, "description": HOSTILE},
            "paths": {HOSTILE: {"get": operation}},
            "tags": [{"name": HOSTILE, "description": HOSTILE}],
            "components": {"schemas": {HOSTILE: {"description": HOSTILE, "properties": {HOSTILE: field}}}},
        }
    )
    assert "<script" not in made
    # No quote of it ends an attribute.
    assert not re.findall(r'="[^"]*<', made)
    assert made.count("&lt;script&gt;") > 10
