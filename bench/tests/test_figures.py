"""Figures are made of data alone."""

from __future__ import annotations

import json
from pathlib import Path

from bench.figures import Bars, Line, Panel, keep

PANELS = (
    Panel(
        "lines",
        "x",
        "y",
        (Line("ours", ((1, 2), (2, 3)), ((1, 3), (2, 4))), Line("paper", ((1, 1), (2, 1)), of_paper=True)),
    ),
    Panel("bars", "", "y", (Bars("one", (1.0, None)), Bars("two", (2.0, 20.0))), ("a", "b"), log_y=True),
)


def test_the_same_data_make_the_same_picture(tmp_path: Path) -> None:
    pictures = [keep("it", {"seen": 1}, PANELS, tmp_path / name).read_bytes() for name in ("one", "two")]
    assert pictures[0] == pictures[1]
    assert json.loads((tmp_path / "one" / "it.json").read_text()) == {"seen": 1}


def test_a_picture_names_what_it_shows(tmp_path: Path) -> None:
    switch_snapshot = keep("it", {}, PANELS, tmp_path).read_text()
    for name in ("lines", "bars", "ours", "paper", "one", "two"):
        assert f">{name}<" in switch_snapshot
