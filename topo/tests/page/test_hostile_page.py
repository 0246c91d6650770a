"""Names that somebody on the network chose, in each place of the page: all are text, and nothing of them runs."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from harness.browser import CHROMIUM, DRIVER, MISSING, Browser, chromium
from wayname.api.audit import Audit
from wayname.api.listeners import open_listeners
from wayname.api.page import serve_page
from wayname.api.server import serve
from wayname.api.streams import Streams
from wayname.api.traces import Outcome, PacketWay, TableLookup
from wayname.config.api import ApiConfig
from wayname.page.loopback import loopback

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)

HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    "</title></svg><a href=\"javascript:document.title='owned'\">x</a>\"'`${document.title='owned'}\u202e"
)
PLACES = ("#state", "#topology", "#incidents", "#figures", "#sessions", "#drops", "#tables", "#events")
MOST_CONNECTIONS = 64


def frame() -> dict[str, Any]:
    """A whole frame in which each text is hostile."""
    session = {"number": 1, "local": HOSTILE, "peer": HOSTILE, "path": 0, "paths": 2, "provider": HOSTILE}
    path = {"provider": HOSTILE, "to": HOSTILE, "sessions": 1, "known": 1, "silent": 0, "round_trip": 0.02}
    event = {"number": 1, "time": time.time(), "subject": HOSTILE, "text": HOSTILE, "from": HOSTILE, "to": HOSTILE}
    provider = {"name": HOSTILE, "used": False, "why": HOSTILE, "prefixes": [HOSTILE], "loss": 0.5, "delay": 0.1}
    return {
        "run": "run",
        "time": time.time(),
        "whole": True,
        "edge": {
            **dict.fromkeys(("name", "version", "pipeline", "switch", "state"), HOSTILE),
            "waits_for": [HOSTILE],
            "stations": 1,
            "neighbours": 1,
            "inside": [1],
        },
        "providers": [{**provider, "sessions": 1, "ports": [1]}],
        "sites": {"more": 0, "sites": [{"prefix": HOSTILE, "sessions": 1, "paths": [path]}]},
        "sessions": {
            "total": 1,
            "is_complete": True,
            "shown": [{**session, **dict.fromkeys(("from", "to", "state", "health", "reason"), HOSTILE)}],
        },
        "paths": [{"name": HOSTILE, "by": HOSTILE, "delay": 0.1, "loss": 0.1}],
        "tables": [{"name": HOSTILE, "entries": 1, "size": 2}],
        "ports": [{"number": 1, "name": HOSTILE, "received": 1, "sent": 1}],
        "drops": [{"reason": 1, "name": HOSTILE, "where": HOSTILE, "packets": 1, "is_loss": True}],
        "events": {
            "passed": 1,
            "counts": [[HOSTILE, HOSTILE, 1]],
            "told": [{**event, "kind": HOSTILE, "severity": "error"}],
        },
    }


class HostileFeed:
    """A controller on a network where each name is hostile."""

    async def follow(self, last_seen: str | None, end: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """Frames until the end."""
        for number in range(1_000):
            if end.is_set():
                return
            text = json.dumps({**frame(), "time": time.time()})
            yield f"id: run.{number}\nevent: frame\ndata: {text}\n\n".encode()
            await asyncio.sleep(0.2)


async def hostile_way(number: int) -> PacketWay:
    """The way of a packet through tables whose names somebody chose."""
    lookup = TableLookup(
        copy_of_packet=0, block=HOSTILE, table=HOSTILE, key={HOSTILE: HOSTILE}, hit=True, action=HOSTILE, arguments={}
    )
    outcome = Outcome(copy_of_packet=0, what="lost", port=number, port_name=HOSTILE, reason=None, why=HOSTILE)
    return PacketWay(port=number, port_name=HOSTILE, tables=[lookup], outcomes=[outcome])


async def test_hostile_names_are_text() -> None:
    app, pages = FastAPI(openapi_url=None), Streams()
    serve_page(app, HostileFeed(), pages, hostile_way)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "api"
        audit = Audit(lambda *_: None, time.monotonic)
        serving = asyncio.create_task(
            serve(app, open_listeners(ApiConfig(socket=f"unix:{socket}")), MOST_CONNECTIONS, audit, pages.end.set)
        )
        transport = httpx.AsyncHTTPTransport(uds=str(socket))
        try:
            async with (
                httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
                loopback({"<b>a<b>": client, HOSTILE: client}) as page,
            ):
                await asyncio.to_thread(look, page.address, Path(folder))
        finally:
            serving.cancel()
            await asyncio.wait({serving})


def look(address: str, folder: Path) -> None:
    """See all places where a name stands, in a browser."""
    with chromium(folder) as browser:
        browser.open(address)
        for place in PLACES:
            browser.until(partial(shows, browser, place), f"{place} does not show the name")
        browser.run("document.querySelector('#sessions button').click()")
        for place in ("#way", "#lookups"):
            browser.until(partial(shows, browser, place), f"{place} does not show the name")
        assert browser.text("#name") == "<b>a<b>"
        assert "onerror" in browser.text("nav")
        assert (
            browser.run("return document.querySelectorAll('img, script:not([src]), a[href^=javascript], b b').length")
            == 0
        )
        assert browser.run("return document.title").startswith("<b>a<b> ")
        # What the page is allowed does not even let its own scripts make markup of text.
        refused = "try { document.body.innerHTML = arguments[0]; return 'done'; } catch (error) { return error.name; }"
        assert browser.run(refused, HOSTILE) == "TypeError"
        assert [line for line in browser.console() if "TrustedHTML" not in line] == []


def shows(browser: Browser, place: str) -> bool:
    """Whether a hostile name stands in a place."""
    return "onerror" in browser.text(place)
