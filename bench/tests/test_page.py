"""The live page's bench judges what was seen, and its load is what it says."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace

import pytest

from bench.page.__main__ import Phase, judge
from bench.page.edge import make_events
from bench.page.seen import Seen
from wayname.edge.boundary import Severity


def phases(alone: float, watched: float) -> list[Phase]:
    return [Phase(name, 10.0, [each] * 10) for name, each in zip("abcd", (alone, alone, watched, alone), strict=True)]


def seen(longest: float = 100.0, oldest: float = 0.5, grown: float = 1.0) -> Seen:
    heap = [10.0, 20.0, 20.0, 20.0 * grown]
    return Seen([60.0, longest], [0.1, oldest], [int(each * 2**20) for each in heap], [100] * 4, 1000, "100")


def test_what_meets_the_goals_is_met() -> None:
    assert judge(seen(), phases(0.01, 0.0109), []) == []
    # Memory settles in the first half.
    assert judge(seen(grown=1.05), phases(0.01, 0.01), []) == []


@pytest.mark.parametrize(
    ("found", "times", "complaints", "word"),
    [
        (seen(longest=201.0), (0.01, 0.01), [], "main thread"),
        (seen(oldest=1.1), (0.01, 0.01), [], "on screen"),
        (seen(grown=1.2), (0.01, 0.01), [], "memory"),
        (seen(), (0.01, 0.012), [], "packet-in"),
        (seen(), (0.01, 0.01), ["error"], "console"),
    ],
)
def test_what_does_not_is_missed(found: Seen, times: tuple[float, float], complaints: list[str], word: str) -> None:
    [missed] = judge(found, phases(*times), complaints)
    assert word in missed


def test_garbage_is_not_what_a_page_keeps() -> None:
    found = seen()
    found.heap = [each * 2**20 for each in (2, 3, 2, 3, 2, 4, 2, 4)]
    assert judge(found, phases(0.01, 0.01), []) == []


async def test_events_come_as_often_as_is_asked_for() -> None:
    counted: Counter[str] = Counter()

    def report(kind: str, severity: Severity, subject: str, text: str) -> None:
        counted[kind] += 1

    class EnoughError(Exception):
        pass

    def enough(kind: str, severity: Severity, subject: str, text: str) -> None:
        report(kind, severity, subject, text)
        if counted.total() >= 200:
            raise EnoughError

    with pytest.raises(EnoughError):
        async with asyncio.timeout(60):
            await make_events(SimpleNamespace(report=enough), [], 100_000, 1)  # type: ignore[arg-type]
    assert counted == {"station.seen": 180, "neighbour.up": 20}
