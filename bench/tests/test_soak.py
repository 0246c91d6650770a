"""What the soak judges by, and a quarter of an hour of it on the virtual clock."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench.soak.day import LAB, Day, Fault
from bench.soak.faults import draw
from bench.soak.records import Life, Sample, broken, events
from wayname_lab.load import load_lab
from wayname_lab.virtual.lab import VirtualLab


def life(*kibibytes: int) -> Life:
    """Return a process with a sample each minute."""
    return Life("edge", 0.0, samples=[Sample(minute, each, 20) for minute, each in enumerate(kibibytes)])


def test_memory_is_judged_from_the_tenth_minute_on() -> None:
    starting = [10_000 * minute for minute in range(1, 11)]
    assert life(*starting, *[100_000] * 10).growth == pytest.approx(0)
    assert life(*starting, *range(100_000, 110_000, 1000)).growth == pytest.approx(0.09)
    assert life(*starting, 100_000).growth is None
    assert life(*starting, *range(100_000, 110_000, 1000)).faults() == ["edge: memory grew by 9.0%"]


def test_logs_are_searched_for_what_must_not_be_there(tmp_path: Path) -> None:
    log = tmp_path / "a-controller.log"
    log.write_text('{"kind": "switch.up"}\nTraceback (most recent call last):\n{"kind": "switch.up"}\n')
    assert broken(log) == ["a-controller: Traceback (most recent call last):"]
    assert events(log) == {"switch.up": 2}


def test_a_seed_draws_the_same_faults() -> None:
    drawn = [(fault.kind, fault.what) for fault in map(draw, [random.Random(1)] * 50)]
    assert drawn == [(fault.kind, fault.what) for fault in map(draw, [random.Random(1)] * 50)]
    assert len({kind for kind, _ in drawn}) == 9


@pytest.fixture
def day() -> Day:
    return Day(VirtualLab(load_lab(LAB), 1), random.Random(1))


def test_a_switch_that_is_killed_comes_through(day: Day) -> None:
    kept = day.begin()
    switch = day.lab.switches["a"]
    day.happens(Fault("switch killed", "a", switch.kill, switch.start), kept)
    assert day.missed == []
    assert day.answered > 10


def test_what_does_not_come_through_is_told(day: Day) -> None:
    kept = day.begin()
    lab = day.lab

    def cut_off() -> None:
        for link in ("a-p", "a-q"):
            lab.cut(link)

    day.happens(Fault("link cut", "both", cut_off, lambda: None), kept)
    connection, routes = day.missed
    assert connection.endswith("both: the connection does not go on")
    assert "entries are missing" in routes
