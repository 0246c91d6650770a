"""Events of a frame: all are counted, some are told, and how many there are costs nobody anything."""

from __future__ import annotations

from collections import Counter

import pytest

from wayname.adapter.events import EventRing
from wayname.api.live.event_digest import MOST_KINDS, MOST_LETTERS, MOST_TOLD, EventDigest
from wayname.edge.boundary import Event, Severity


class Log:
    """A ring and its counts, as the controller has them."""

    def __init__(self) -> None:
        self.ring = EventRing(1000)
        self.by_kind: Counter[tuple[str, str]] = Counter()
        self.digest = EventDigest(self.ring, self.by_kind)

    def add(self, kind: str, severity: Severity = Severity.INFO, text: str = "") -> None:
        """Record an event."""
        self.ring.append(Event(0.0, kind, severity, "subject", text))
        self.by_kind[kind, severity] += 1


@pytest.fixture
def log() -> Log:
    return Log()


def test_nothing_is_told_where_nothing_happened(log: Log) -> None:
    assert log.digest.take() is None
    log.add("session.up")
    assert log.digest.take()
    assert log.digest.take() is None


def test_of_very_many_all_are_counted_and_the_gravest_are_told_in_their_order(log: Log) -> None:
    log.add("switch.refuses", Severity.ERROR, "first")
    for number in range(10_000):
        log.add("station.seen", text=str(number))
        if number == 9_500:
            log.add("session.moved", Severity.WARNING, "moved")
        if number == 9_600:
            log.add("session.up", text="up")
    found = log.digest.take()
    assert found is not None
    assert found["passed"] == 10_003
    assert sorted(found["counts"]) == [
        ("session.moved", "warning", 1),
        ("session.up", "info", 1),
        ("station.seen", "info", 10_000),
        ("switch.refuses", "error", 1),
    ]
    told = [event["text"] for event in found["told"]]
    # The first one is forgotten already; it is counted.
    assert told[:2] == ["moved", "up"]
    assert told[2:] == [str(number) for number in range(10_000 - MOST_TOLD + 2, 10_000)]


def test_kinds_and_texts_are_bounded(log: Log) -> None:
    for number in range(2 * MOST_KINDS):
        log.add(f"kind.{number}", text="x" * 10_000)
    found = log.digest.take()
    assert found is not None
    assert len(found["counts"]) == MOST_KINDS
    assert {len(event["text"]) for event in found["told"]} == {MOST_LETTERS}
