"""Streams end when the controller does, whoever still listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from wayname.adapter.events import EventRing, RecordedEvent


async def follow(events: EventRing, since: int, end: asyncio.Event) -> AsyncIterator[RecordedEvent]:
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
