"""Answers without end: so many at a time, and all end when the controller does, whoever still listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from wayname.adapter.events import EventRing, RecordedEvent
from wayname.api.problems import ApiError, Problem

MOST = 16
TOO_MANY: dict[int | str, dict[str, Any]] = {503: {"model": Problem, "description": "too many listen already"}}


class Streams:
    """Who listens."""

    def __init__(self) -> None:
        self.end = asyncio.Event()
        """Set when all have to end."""
        self.open = 0

    def response(self, pieces: AsyncIterator[Any], media_type: str) -> StreamingResponse:
        """Answer piece by piece, if there is room for one more who listens."""
        if self.open >= MOST:
            raise ApiError(503, "Too many streams", f"{MOST} listen already; end one of them")
        self.open += 1
        return _Counted(pieces, media_type, self)


class _Counted(StreamingResponse):
    """Counts from when it is made, so that many asked for at once are not let in together."""

    def __init__(self, pieces: AsyncIterator[Any], media_type: str, streams: Streams) -> None:
        super().__init__(pieces, media_type=media_type)
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.open -= 1


async def follow_events(events: EventRing, since: int, end: asyncio.Event) -> AsyncIterator[RecordedEvent]:
    """The events behind a number that are kept, then each new one until the end."""
    ending = asyncio.create_task(end.wait())
    more = asyncio.create_task(events.wait(since))
    try:
        while True:
            await asyncio.wait({more, ending}, return_when=asyncio.FIRST_COMPLETED)
            if ending.done():
                return
            for recorded in more.result():
                since = recorded.sequence
                yield recorded
            more = asyncio.create_task(events.wait(since))
    finally:
        ending.cancel()
        more.cancel()
