"""The files of the page: served with a policy that lets nothing else in, and written so that no text becomes markup."""

from __future__ import annotations

import re
from importlib.resources import files

import httpx
import pytest
from access.edge import SITE
from served import Served, client_of

ASSETS = {each.name: each.read_text() for each in (files("wayname.page") / "assets").iterdir()}
SCRIPTS = sorted(name for name in ASSETS if name.endswith(".js"))


async def test_each_is_served_with_its_policy_and_nothing_else_is() -> None:
    async with client_of(Served(SITE)) as client:
        for name, text in ASSETS.items():
            answer = await client.get("/" if name == "index.html" else f"/page/{name}")
            assert answer.status_code == 200
            assert answer.text == text
            check_headers(answer.headers)
        for name in ("none.js", "..%2fpage.py", "index", "%2e%2e%2floopback.py"):
            assert (await client.get(f"/page/{name}")).status_code == 404


def check_headers(headers: httpx.Headers) -> None:
    policy = dict(each.strip().partition(" ")[::2] for each in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_makes_markup_or_code_of_text(name: str) -> None:
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|javascript:|DOMParser"
    assert not re.search(forbidden, ASSETS[name])


def test_the_page_asks_nobody_else() -> None:
    for name, text in ASSETS.items():
        outside = set(re.findall(r"\w+://[^\s\"'<)]+", text)) - {"http://www.w3.org/2000/svg"}
        assert not outside, name


def test_modules_import_files_that_are_there_and_no_page_names_a_style_or_script_of_its_own() -> None:
    for name in SCRIPTS:
        for imported in re.findall(r'from "\./([^"]+)"', ASSETS[name]):
            assert imported in ASSETS, (name, imported)
    for page in (ASSETS["index.html"], ASSETS["edges.html"]):
        assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*src=)", page)
        for named in re.findall(r'(?:src|href)="page/([^"]+)"', page):
            assert named in ASSETS
