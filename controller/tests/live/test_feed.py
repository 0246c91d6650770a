"""Frames of the live page: whole for who comes, then what changed, behind what was seen last, whoever reads slowly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from access.edge import SITE
from served import Served

from wayname.api.live import feed
from wayname.api.live.feed import MOST_BEHIND, LiveFeed
from wayname.edge.boundary import Severity

PATIENCE = 30.0
ALL = {"edge", "providers", "sites", "sessions", "paths", "tables", "ports", "drops"}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "SOON", 0.0)
    monkeypatch.setattr(feed, "LATER", 0.01)
    monkeypatch.setattr(feed, "READ_EVERY", 0.0)


@pytest.fixture
def served() -> Served:
    return Served(SITE)


def feed_of(served: Served) -> LiveFeed:
    return LiveFeed(served, served.log.by_kind, "1.2.3")


Reader = AsyncIterator[bytes]


@asynccontextmanager
async def reading(live: LiveFeed, last_seen: str | None = None) -> AsyncIterator[Reader]:
    async with asyncio.timeout(PATIENCE), aclosing(live.follow(last_seen, asyncio.Event())) as frames:
        yield frames


def read(octets: bytes) -> tuple[str, dict[str, Any]]:
    """The id and the content of a frame."""
    lines = octets.decode().removesuffix("\n\n").split("\n")
    fields = dict(line.split(": ", 1) for line in lines)
    assert fields["event"] == "frame"
    return fields["id"], json.loads(fields["data"])


async def test_who_comes_gets_all_and_then_what_changed(served: Served) -> None:
    async with reading(feed_of(served)) as frames:
        _, whole = read(await anext(frames))
        assert whole["whole"]
        assert whole.keys() >= ALL
        assert [each["name"] for each in whole["providers"]] == ["a"]
        assert {each["name"] for each in whole["tables"]} >= {"ports", "routes"}
        served.report("provider.down", Severity.WARNING, "a", "nobody answers")
        changed: dict[str, Any] = {}
        while "events" not in changed:
            _, changed = read(await anext(frames))
            assert "whole" not in changed
            assert "tables" not in changed
        assert changed["events"]["passed"] == 1
        assert [event["text"] for event in changed["events"]["told"]] == ["nobody answers"]


async def test_who_was_away_goes_on_behind_what_he_saw(served: Served) -> None:
    live = feed_of(served)
    async with reading(live) as frames:
        seen, _ = read(await anext(frames))
        served.report("provider.down", Severity.WARNING, "a", "nobody answers")
        await anext(frames)
    async with reading(live, seen) as frames:
        _, next_one = read(await anext(frames))
    assert "whole" not in next_one
    assert next_one["events"]["told"][0]["text"] == "nobody answers"


@pytest.mark.parametrize("last_seen", ["", "else.1", "{run}.999999", "{run}.-1", "{run}.x", "{run}"])
async def test_who_saw_something_else_gets_all(served: Served, last_seen: str) -> None:
    live = feed_of(served)
    async with reading(live) as frames:
        seen, _ = read(await anext(frames))
    async with reading(live, last_seen.format(run=seen.partition(".")[0])) as frames:
        _, first = read(await anext(frames))
    assert first["whole"]


async def test_another_run_of_the_controller_is_told_apart(served: Served) -> None:
    runs = set()
    for _ in range(2):
        async with reading(feed_of(served)) as frames:
            runs.add(read(await anext(frames))[1]["run"])
    assert len(runs) == 2


async def test_frames_are_made_once_for_all_and_only_while_somebody_looks(served: Served) -> None:
    live = feed_of(served)
    reads = 0
    original = served.read

    async def counted(entities: Any) -> Any:
        nonlocal reads
        reads += 1
        return await original(entities)

    served.read = counted  # type: ignore[method-assign]

    async def last_of_five() -> int:
        async with reading(live) as frames:
            return [int(read(await anext(frames))[0].partition(".")[2]) for _ in range(5)][-1]

    made = max(await asyncio.gather(*(last_of_five() for _ in range(4))))
    # Whoever is last may have begun another one.
    await asyncio.sleep(0.05)
    assert reads <= made + 1 < 4 * 5
    await asyncio.sleep(0.05)
    assert reads <= made + 1


async def test_a_slow_page_misses_frames_and_not_what_they_told(served: Served) -> None:
    live = feed_of(served)
    async with reading(live) as slow, reading(live) as quick:
        await anext(slow)
        for number in range(2 * MOST_BEHIND):
            served.report("provider.down", Severity.WARNING, "a", f"number {number}")
            await anext(quick)
        _, frame = read(await anext(slow))
        assert frame["whole"]
        assert frame["events"]["told"][-1]["text"].startswith("number")
        # And nothing of what it missed is still waiting for it.
        served.report("provider.up", Severity.INFO, "a", "the last")
        _, frame = read(await anext(slow))
        assert "whole" not in frame


async def test_a_page_lives_while_the_switch_is_away(served: Served) -> None:
    served.connected = False
    async with reading(feed_of(served)) as frames:
        _, frame = read(await anext(frames))
    assert frame["edge"]["state"] == "connecting"
    assert frame["ports"] is None
    assert frame["drops"] is None


async def test_it_ends_when_the_controller_does(served: Served) -> None:
    end = asyncio.Event()
    frames = feed_of(served).follow(None, end)
    await anext(frames)
    end.set()
    async with asyncio.timeout(PATIENCE):
        async for _ in frames:
            continue
