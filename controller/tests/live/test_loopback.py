"""The loopback address of the page: whoever else asks there learns nothing, and nobody changes anything by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from wayname.page.loopback import Loopback, loopback

PATIENCE = 30.0


class Controller:
    """Answers with what it was asked, and keeps it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str]]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.asked.append((scope["method"], scope["path"], headers))
        answer: Response = PlainTextResponse(
            scope["path"], headers={"Set-Cookie": "a=b", "Content-Security-Policy": "p"}
        )
        if scope["path"] == "/page/feed":
            answer = StreamingResponse(iter(["id: 1\n\n"]), media_type="text/event-stream")
        await answer(scope, receive, send)


@pytest.fixture
def controller() -> Controller:
    return Controller()


@pytest.fixture
async def page(controller: Controller) -> AsyncIterator[Loopback]:
    async with (
        asyncio.timeout(PATIENCE),
        httpx.AsyncClient(transport=httpx.ASGITransport(controller), base_url="http://localhost") as client,
        loopback({"a": client, "b": client}) as page,
    ):
        yield page


def origin(page: Loopback) -> str:
    return f"http://{page.host}"


async def ask(page: Loopback, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await client.request(method, origin(page) + path, headers=named)


async def test_the_address_that_is_printed_leads_to_the_page(page: Loopback, controller: Controller) -> None:
    address, _, fragment = page.address.partition("#")
    assert fragment == f"token={page.token}&edges=a,b"
    answer = await ask(page, address.removeprefix(origin(page)))
    assert answer.text == "/"
    assert answer.headers["content-security-policy"] == "p"
    assert "set-cookie" not in answer.headers
    assert (await ask(page, "/")).headers["location"] == "/a/"
    for path in ("/page/main.js", "/docs", "/openapi.json"):
        assert (await ask(page, f"/b{path}")).text == path


async def test_a_controller_of_many_edges_has_its_own_paths(controller: Controller) -> None:
    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(controller), base_url="http://localhost") as client,
        loopback({"": client}, path="/edges/a/") as page,
    ):
        assert page.address == f"{origin(page)}/edges/a/#token={page.token}"
        assert (await ask(page, "/")).headers["location"] == "/edges/a/"
        token = f"Bearer {page.token}"
        for path in ("/edges/a/", "/edges/b/page/main.js", "/page/edges.js"):
            assert (await ask(page, path)).text == path
        for path in ("/page/edges", "/edges/a/page/feed"):
            assert (await ask(page, path)).status_code == 401
            assert (await ask(page, path, authorization=token)).status_code == 200
        seen = len(controller.asked)
        for path in ("/v1/edges", "/metrics", "/edges/a/v1/status", "/edges/a/b/", "/a/", "/edges//"):
            assert (await ask(page, path, authorization=token)).status_code == 404
        assert len(controller.asked) == seen


async def test_who_has_the_token_gets_frames_behind_those_he_saw(page: Loopback, controller: Controller) -> None:
    headers = {"authorization": f"Bearer {page.token}", "last-event-id": "run.7", "cookie": "c", "x-more": "y"}
    answer = await ask(page, "/a/page/feed", **headers)
    assert answer.text == "id: 1\n\n"
    method, path, passed = controller.asked[-1]
    assert (method, path, passed["last-event-id"]) == ("GET", "/page/feed", "run.7")
    # The controller knows who asks by the socket: nothing that a browser says goes there.
    assert not {"authorization", "cookie", "x-more", "origin"} & passed.keys()


async def test_who_has_the_token_may_follow_packets_of_a_session(page: Loopback, controller: Controller) -> None:
    assert (await ask(page, "/a/page/trace/7")).status_code == 401
    assert not controller.asked
    await ask(page, "/a/page/trace/7", authorization=f"Bearer {page.token}")
    assert controller.asked[-1][:2] == ("GET", "/page/trace/7")


@pytest.mark.parametrize(
    "given", [{}, {"authorization": "Bearer"}, {"authorization": "Bearer nobodys"}, {"authorization": "Basic x"}]
)
async def test_nobody_else_gets_any(page: Loopback, controller: Controller, given: dict[str, str]) -> None:
    assert (await ask(page, "/a/page/feed", **given)).status_code == 401
    assert not controller.asked


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "localhost"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
async def test_pages_of_others_and_other_names_are_refused(
    page: Loopback, controller: Controller, headers: dict[str, str]
) -> None:
    for path in ("/a/page/feed", "/a/page/main.js", "/a/", "/"):
        assert (await ask(page, path, authorization=f"Bearer {page.token}", **headers)).status_code == 403
    assert not controller.asked


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
async def test_it_only_shows(page: Loopback, controller: Controller, method: str) -> None:
    assert (await ask(page, "/a/page/feed", method, authorization=f"Bearer {page.token}")).status_code == 403
    assert not controller.asked


@pytest.mark.parametrize(
    "path",
    [
        "/a/v1/status",
        "/a/metrics",
        "/c/",
        "/a/page/../v1/status",
        "/a/page/%2e%2e/v1/status",
        "/a//v1/status",
        "/a/page/",
        "/a/page/trace/",
        "/a/page/trace/7/8",
        "/a/page/trace/one",
    ],
)
async def test_no_other_part_of_the_api_is_passed_on(page: Loopback, controller: Controller, path: str) -> None:
    answer = await ask(page, path, authorization=f"Bearer {page.token}")
    assert answer.status_code == 404
    assert not controller.asked


async def test_a_controller_that_is_away_is_said_to_be(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("away") / "api"
    async with (
        httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(path)), base_url="http://localhost") as client,
        loopback({"a": client}) as page,
    ):
        answer = await ask(page, "/a/page/feed", authorization=f"Bearer {page.token}")
    assert (answer.headers["content-type"], answer.text[:12]) == ("text/event-stream; charset=utf-8", "event: away\n")


async def test_the_token_is_in_no_repr(page: Loopback) -> None:
    assert page.token not in repr(page)
