"""Frames for pages: made while somebody looks, once for all who do, and kept for who was away for a moment.

A frame has the sections that changed since the one before it; a whole one has all. Frames are numbered behind the
number of the controller's run: who knows the last one that he saw gets those behind it. Who takes them slower than they
are made gets a whole one instead of those that he missed, so nobody makes the controller work or keep more.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from wayname.adapter import SwitchError
from wayname.api.live import sections
from wayname.api.live.event_digest import EventDigest
from wayname.api.live.sections import Section
from wayname.api.live.session_tally import SessionTally
from wayname.api.views import DROP_COUNTERS
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import SwitchSnapshot, read_snapshot

# Seconds between frames: where something happens, and where nothing does.
SOON, LATER = 0.25, 1.0
# For an answer of the switch; without one a frame tells nothing of it.
READ_SECONDS = 1.0
# Counters are read no more often than this, however much happens.
READ_EVERY = 1.0
AWAY = 5.0
# Who is farther behind gets a whole frame.
MOST_BEHIND = 8
MOST_MOVED = 10
Frame = tuple[int, bytes]


class LiveFeed:
    """Makes frames as long as somebody waits for the next one."""

    def __init__(self, running: Running, by_kind: Mapping[tuple[str, str], int], version: str) -> None:
        self._running = running
        self._version = version
        self._run = secrets.token_hex(8)
        self._tally = SessionTally(lambda: running.edge.managers, lambda: running.config)
        self._events = EventDigest(running.events, by_kind)
        self._moved: deque[int] = deque(maxlen=MOST_MOVED)
        self._sections: dict[str, Section] = {}
        self._frames: deque[Frame] = deque(maxlen=MOST_BEHIND)
        self._number = 0
        self._made = float("-inf")
        self._read = float("-inf")
        self._making: asyncio.Task[None] | None = None

    async def follow(self, last_seen: str | None, end: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """The frames behind the one that was seen last, or a whole one, and then each new one until the end."""
        run, _, after = (last_seen or "").partition(".")
        seen = int(after) if run == self._run and after.isdecimal() else None
        ending = asyncio.create_task(end.wait())
        try:
            while not ending.done():
                behind = self._behind(seen)
                if behind is None and self._sections:
                    seen = self._number
                    yield self._whole()
                for number, octets in behind or ():
                    seen = number
                    yield octets
                if seen is None or seen >= self._number:
                    await self._next(ending)
        finally:
            ending.cancel()

    def _behind(self, seen: int | None) -> list[Frame] | None:
        """Return the frames behind one, if they are still there and not too many."""
        if seen is None or seen > self._number or self._number - seen > min(MOST_BEHIND, len(self._frames)):
            return None
        return [frame for frame in self._frames if frame[0] > seen]

    async def _next(self, ending: asyncio.Task[bool]) -> None:
        """Wait for the next frame, which the first one who waits has made."""
        if self._making is None or self._making.done():
            self._making = asyncio.create_task(self._make())
        making = self._making
        await asyncio.wait({making, ending}, return_when=asyncio.FIRST_COMPLETED)
        if making.done():
            making.result()

    async def _make(self) -> None:
        """Make a frame when one is due."""
        now = asyncio.get_running_loop().time
        if now() > self._made + AWAY:
            # Nobody looked for a while: what happened then is kept for him who comes, and is no news.
            self._events.take()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._made + LATER):
                await self._running.events.wait(self._events.seen)
        await asyncio.sleep(self._made + SOON - now())
        self._made = now()
        happened = self._events.take()
        self._moved.extendleft(
            int(event["subject"])
            for event in (happened["told"] if happened else ())
            if event["kind"] == "session.moved"
            and event["subject"].isdecimal()
            and int(event["subject"]) not in self._moved
        )
        self._tally.step()
        current = self._look() | await self._look_at_switch()
        known = self._sections
        changed = {name: each for name, each in current.items() if name not in known or each != known[name]}
        self._sections |= changed
        self._number += 1
        self._frames.append((self._number, self._encode(changed | ({"events": happened} if happened else {}))))

    def _look(self) -> dict[str, Section]:
        running, tally = self._running, self._tally.last
        return {
            "edge": sections.edge_section(running, self._version),
            "providers": sections.providers_section(running, tally),
            "sites": sections.sites_section(tally),
            "sessions": sections.sessions_section(running, self._tally, islice(self._moved, MOST_MOVED)),
            "paths": sections.paths_section(running, tally),
            "tables": sections.tables_section(running),
        }

    async def _look_at_switch(self) -> dict[str, Section]:
        """Read counters, not more often than is of use."""
        now = asyncio.get_running_loop().time()
        if self._read + READ_EVERY > now:
            return {}
        self._read = now
        counters = await self._counters()
        if counters is None:
            return {"ports": None, "drops": None}
        ports = sections.ports_section(self._running.config, counters)
        return {"ports": ports, "drops": sections.drops_section(counters)}

    async def _counters(self) -> SwitchSnapshot | None:
        running = self._running
        if not running.connected:
            return None
        cells = [port.number for port in running.config.ports]
        with suppress(SwitchError, TimeoutError):
            async with asyncio.timeout(READ_SECONDS):
                return await read_snapshot(
                    running,
                    (),
                    [counter for _, counter in DROP_COUNTERS],
                    {"port_received": cells, "port_sent": cells},
                )
        return None

    def _whole(self) -> bytes:
        """Return a frame with all that is known, and the last events."""
        kept = {"passed": 0, "counts": [], "told": list(self._events.kept)}
        return self._encode({"whole": True, **self._sections, "events": kept})

    def _encode(self, content: Mapping[str, Any]) -> bytes:
        frame = {"run": self._run, "time": time.time(), **content}
        text = json.dumps(frame, separators=(",", ":"))
        return f"id: {self._run}.{self._number}\nevent: frame\ndata: {text}\n\n".encode()
