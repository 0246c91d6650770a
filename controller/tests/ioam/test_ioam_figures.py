"""Figures of paths as people read them."""

from __future__ import annotations

import pytest

from wayname.cli.ioam import in_time, queue


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 us"),
        (1.28, "0 us"),
        (-1, "0 us"),
        (340, "0.3 us"),
        (999.7, "1 us"),
        (8_440, "8.44 us"),
        (614_960, "615 us"),
        (999_700, "1 ms"),
        (38_520_000, "38.5 ms"),
        (23_000_000, "23 ms"),
        (-1_500_000, "-1.5 ms"),
        (999_600_000, "1 s"),
        (7_200e9, "7200 s"),
    ],
)
def test_times(nanoseconds: float, text: str) -> None:
    assert in_time(nanoseconds) == text


@pytest.mark.parametrize(
    ("smoothed", "most", "text"), [(5.9e-06, 3, "0 (3)"), (0.67, 40, "0.7 (40)"), (1234.4, 2000, "1234.4 (2000)")]
)
def test_queues(smoothed: float, most: int, text: str) -> None:
    assert queue({"smoothed": smoothed, "most": most}) == text
