"""Networks that are measured side by side."""

from __future__ import annotations

import time
from threading import Barrier

from bench.side_by_side import side_by_side


def started_and_measured(seconds: float, all_started: Barrier) -> tuple[float, float]:
    """Be a part that takes so long to start, and say when it had and when it began to measure."""
    time.sleep(seconds)
    started = time.monotonic()
    all_started.wait()
    return started, time.monotonic()


def test_nobody_measures_while_another_starts() -> None:
    seen = side_by_side(started_and_measured, [0.0, 0.1, 0.2, 0.1, 0.0], at_once=3)
    for together in (seen[:3], seen[3:]):
        assert max(started for started, _ in together) <= min(measures for _, measures in together)
    assert max(measures for _, measures in seen[:3]) <= min(started for started, _ in seen[3:])
