"""Follows at the switch's administration socket which TAP devices it shows a carrier.

The switch says so before Linux does: that goes through all the routes by a device first, which takes tens of
milliseconds for a hundred thousand, and nobody hears of the device meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping

import httpx

RETRY = 1.0
# The switch answers at a change, and every five seconds.
ANSWERS_WITHIN = 10.0


async def follow_carriers(socket: str, hear: Callable[[Mapping[int, bool]], Awaitable[None]]) -> None:
    """Tell what the switch at `unix:/PATH` says, by port, until cancelled; nothing while it does not answer."""
    while True:
        transport = httpx.AsyncHTTPTransport(uds=socket.removeprefix("unix:"))
        # A switch that is not there, or has no such answer: Linux says the same, a little later.
        with contextlib.suppress(httpx.HTTPError):
            async with httpx.AsyncClient(
                transport=transport, base_url="http://switch", timeout=ANSWERS_WITHIN
            ) as client:
                known = 0
                while True:
                    answer = await client.get(f"/carriers/{known}")
                    said = answer.raise_for_status().json()
                    if said["changes"] != known:
                        known = said["changes"]
                        await hear({int(port): up for port, up in said["up"].items()})
        await hear({})
        await asyncio.sleep(RETRY)
