"""A page follows the next packet of a session: one at a time, and it is told why there is none."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import httpx
from access.edge import SITE
from fastapi import FastAPI
from served import Served, client_of

from wayname.api.page import serve_page
from wayname.api.streams import Streams
from wayname.api.traces import PacketWay

WAY = PacketWay(port=1, port_name="h1", tables=[], outcomes=[])


async def test_one_packet_is_followed_at_a_time() -> None:
    asked: list[int] = []
    waits, came = asyncio.Event(), asyncio.Event()

    async def follow_packet(session: int) -> PacketWay:
        asked.append(session)
        waits.set()
        await came.wait()
        return WAY

    app = FastAPI()
    serve_page(app, cast(Any, None), Streams(), follow_packet)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://edge") as client:
        first = asyncio.create_task(client.get("/page/trace/7"))
        await waits.wait()
        other = (await client.get("/page/trace/8")).json()
        assert (other["way"], "one is followed at a time" in other["why"]) == (None, True)
        came.set()
        assert (await first).json() == {"way": WAY.model_dump(), "why": ""}
        # When it came, others may ask.
        assert (await client.get("/page/trace/8")).json()["way"] is not None
    assert asked == [7, 8]


async def test_why_none_was_followed_is_said() -> None:
    async with client_of(Served(SITE)) as client:
        answer = await client.get("/page/trace/999")
        assert answer.status_code == 200
        assert answer.json() == {"way": None, "why": "No such session: 999; `wayname sessions` lists them"}
