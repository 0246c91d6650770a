"""What figure 9 of the Shim6 paper measures on the virtual clock."""

from __future__ import annotations

import pytest

from bench.lateness import Wait
from bench.shim6 import recovering
from bench.shim6.recovering import ALONE, NOTIFIED, Point, each_on_the_virtual_clock


def test_an_application_has_everything_again_and_waited_for_the_detection_at_least() -> None:
    waits = each_on_the_virtual_clock(0.5, False, range(2, 5))
    assert all(0.45 < wait.longest <= wait.behind for wait in waits)
    assert len(set(waits)) == 3, "each seed has its own moment and pace"


def test_a_point_is_judged_by_what_nine_of_ten_waited() -> None:
    waits = [Wait(behind=0.6, longest=0.52)] * 9 + [Wait(behind=1.6, longest=1.5)]
    point = Point.of(0.5, waits)
    assert (point.longest.median, point.longest.worst) == (0.52, 1.5)
    assert point.beyond == pytest.approx(0.02 + 0.098)


def test_without_root_linux_is_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovering, "missing_for_namespaces", lambda: "need root")
    monkeypatch.setattr(recovering, "QUICK_RUNS", 1)
    result = recovering.run(1, quick=True)
    assert result.text[-1].startswith("skipped: Linux's TCP live")
    assert isinstance(result.data, dict)
    assert set(result.data["measured"]) == {NOTIFIED, ALONE}
