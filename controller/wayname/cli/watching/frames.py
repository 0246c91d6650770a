"""Reads frames, and keeps what is known of an edge."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import httpx

from wayname.failure import Failure

MOST_EVENTS = 500
AGAIN = 0.5  # seconds
# Frames come each second.
TIMEOUT = httpx.Timeout(10.0)


@dataclass(slots=True)
class Watched:
    """An edge as the last frames tell of it."""

    sections: dict[str, Any] = field(default_factory=dict)
    events: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=MOST_EVENTS))
    # By port, bits a second that came and went.
    rates: dict[int, tuple[float, float]] = field(default_factory=dict)
    events_a_second: float = 0.0
    trouble: str = ""
    _run: str = ""
    _time: float = 0.0
    _ports: tuple[float, dict[int, tuple[int, int]]] = (0.0, {})

    def take(self, frame: dict[str, Any]) -> list[dict[str, Any]]:
        """Take a frame; return the events that are new."""
        if frame["run"] != self._run:
            self._run, self.sections = frame["run"], {}
            self.events.clear()
        events = frame.pop("events", {"passed": 0, "told": []})
        self.events_a_second = events["passed"] / max(frame["time"] - self._time, 0.25) if self._time else 0.0
        self._time, self.trouble = frame["time"], ""
        self.sections |= frame
        if frame.get("ports"):
            self._measure(frame["time"], frame["ports"])
        last = self.events[-1]["number"] if self.events else 0
        new = [event for event in events["told"] if event["number"] > last]
        self.events.extend(new)
        return new

    def _measure(self, now: float, ports: list[dict[str, Any]]) -> None:
        then, before = self._ports
        counted = {port["number"]: (port["received"], port["sent"]) for port in ports}
        self.rates = {
            # A switch that began anew counts from 0.
            number: (
                max(0, came - before[number][0]) * 8 / (now - then),
                max(0, went - before[number][1]) * 8 / (now - then),
            )
            for number, (came, went) in counted.items()
            if number in before and now > then
        }
        self._ports = now, counted


async def frames(client: httpx.AsyncClient, watched: Watched) -> AsyncGenerator[dict[str, Any], None]:
    """Yield frames without end; while the controller is away, `watched` says so. A refusal is a failure."""
    last_seen = ""
    while True:
        headers = {"Last-Event-ID": last_seen} if last_seen else {}
        try:
            async with client.stream("GET", "/page/feed", headers=headers, timeout=TIMEOUT) as answer:
                if answer.status_code in {401, 403, 404}:
                    await answer.aread()
                    raise Failure(refusal(answer))
                async for line in answer.aiter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id":
                        last_seen = value
                    elif name == "data":
                        yield json.loads(value)
                is_full = answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
            watched.trouble = "too many look at this controller" if is_full else "the controller ended the feed"
        except httpx.HTTPError as error:
            watched.trouble = f"no controller answers ({str(error) or type(error).__name__})"
        await asyncio.sleep(AGAIN)


def refusal(answer: httpx.Response) -> str:
    """Say why a controller shows nothing."""
    if answer.status_code == 404:
        return "this controller has no live page: it is older than this command"
    try:
        problem = answer.json()
        return f"{problem['title']}: {problem['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"the controller refuses (HTTP status {answer.status_code})"
