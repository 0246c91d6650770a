"""The API asked by its own description (schemathesis), at the Unix socket as its owner and over TLS with a token.

What a request may answer stands in the description: no status that is not there, no 5xx but the 503 of a switch that is
away, and nothing is carried out without its role.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from access.edge import SecuredEdge
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok

from wayname.api.rates import RateLimiter

# Of each operation.
EXAMPLES = 5
LIMITS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
PATIENCE = 30.0
PROBLEM = "application/problem+json"


class Loop:
    """An edge that runs beside the test, in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.edge = SecuredEdge(folder)
        self._ready, self._end = threading.Event(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._run()])
        self._thread.start()
        assert self._ready.wait(PATIENCE)

    async def _run(self) -> None:
        async with self.edge.running():
            self._ready.set()
            await self._end.wait()

    def end(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def edge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SecuredEdge]:
    # How often somebody may ask is another test's.
    monkeypatch.setattr(RateLimiter, "may", lambda *_: True)
    loop = Loop(tmp_path)
    yield loop.edge
    loop.end()


def client_of(edge: SecuredEdge, way: str) -> httpx.Client:
    """A client at the socket, or over TLS with a token or none."""
    if way == "socket":
        transport = httpx.HTTPTransport(uds=str(edge.folder / "api"))
        return httpx.Client(transport=transport, base_url="http://localhost", timeout=PATIENCE)
    headers = {"Authorization": "Bearer looker"} if way == "read" else {}
    base = f"https://127.0.0.1:{edge.port}"
    return httpx.Client(verify=edge.context(), base_url=base, headers=headers, timeout=PATIENCE)


def ask(client: httpx.Client, case: Any) -> httpx.Response:
    """Send what was drawn; what goes on without end is not read to its end."""
    given = case.as_transport_kwargs(base_url=str(client.base_url))
    given.pop("cookies", None)
    headers = {name: value for name, value in (given.pop("headers", None) or {}).items() if name != "User-Agent"}
    given["content" if isinstance(given.get("data"), bytes | str) else "data"] = given.pop("data", None)
    with client.stream(headers=headers, **given) as response:
        if response.headers.get("content-type") == "application/json" or response.status_code >= 400:
            response.read()
        return response


@pytest.mark.parametrize("way", ["socket", "read", "nobody"])
def test_the_api_answers_as_it_says(edge: SecuredEdge, way: str) -> None:
    with client_of(edge, "socket") as owner:
        described = owner.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(described)
    operations = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    assert len(operations) > 40
    seen: Counter[int] = Counter()
    with client_of(edge, way) as client:
        for operation in operations:
            said = described["paths"][operation.path][operation.method.lower()]
            allowed = way == "socket" or (way == "read" and said["x-role"] == "read")
            refused = {401} if way == "nobody" else {403}
            expected = {int(status) for status in said["responses"]} - {401, 403} if allowed else refused

            @seed(1)
            @LIMITS
            @given(operation.as_strategy())
            def asked(expected: set[int], case: Any) -> None:
                response = ask(client, case)
                told = f"{case.method} {case.path} {case.body!r}: {response.status_code}"
                seen[response.status_code] += 1
                assert response.status_code in expected, told
                assert response.status_code < 500, told
                if response.status_code >= 400:
                    assert response.headers["content-type"] == PROBLEM, told
                    assert response.json()["detail"], told

            asked(expected)
    if way == "socket":
        assert seen[200] > EXAMPLES
    else:
        assert not edge.told("api.changed")
        assert not edge.told("api.failed")


@pytest.mark.parametrize("way", ["socket", "read", "nobody"])
def test_methods_and_paths_that_are_not_there_are_refused(edge: SecuredEdge, way: str) -> None:
    with client_of(edge, way) as client:

        @seed(1)
        @settings(LIMITS, max_examples=60)
        @given(
            method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"]),
            path=st.lists(st.text("av1/.%-~", max_size=6), max_size=4).map("/".join),
        )
        def asked(method: str, path: str) -> None:
            response = client.request(method, httpx.URL(client.base_url).copy_with(raw_path=b"/x" + path.encode()))
            assert response.status_code == (401 if way == "nobody" else 404), (method, path)

        asked()
