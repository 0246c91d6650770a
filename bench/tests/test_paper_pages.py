"""Pages of papers say of our figures what was measured and drawn."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.multipath.report import rates_of

DOCS = Path(__file__).resolve().parents[2] / "docs"


def data(name: str) -> Any:
    return json.loads((DOCS / "figures" / f"{name}.json").read_text())


def row(page: str, section: str, begins: str) -> list[str]:
    """Return the cells of a row."""
    text = (DOCS / "papers" / f"{page}.md").read_text().partition(f"## {section}")[2].partition("\n## ")[0]
    [found] = re.findall(rf"^\| {re.escape(begins)} \|.*$", text, flags=re.MULTILINE)
    return [cell.strip() for cell in found.strip("| ").split("|")]


def spread(rates: Sequence[float]) -> list[str]:
    """Return median, 10th and 90th percentile of 30 draws, as a page has them."""
    assert len(rates) >= 30
    return list(rates_of(rates).cells(2)[:3])


@pytest.mark.parametrize(("said", "kind"), [("none",) * 2, ("marks and closing of paths", "marks and closing")])
def test_cross_traffic(said: str, kind: str) -> None:
    found = data("multipath-figure-9")
    _, paper, ours = row("multipath", "Figure 9", said)
    assert (float(paper), ours) == (found["paper"][kind], f"{found['measured'][kind]['goodput'] / 1e6:.2f}")


def test_cross_traffic_with_what_is_ours() -> None:
    found = data("multipath-figure-9")
    name = "and duplicates held back"
    goodput = found["measured"][name]["goodput"]
    assert row("multipath", "Figure 9", name)[2] == f"{goodput / 1e6:.2f}"
    assert f"{goodput / found['limit']:.1%}".replace("%", " %") in (DOCS / "papers" / "multipath.md").read_text()


@pytest.mark.parametrize(("said", "which"), [("2 alone", "2"), ("4 alone", "4"), ("together", "2 and 4 and 5")])
def test_ideal_paths(said: str, which: str) -> None:
    assert row("multipath", "Table I", said)[2:] == spread(data("multipath-table-1")["goodput"][which])


@pytest.mark.parametrize("rate", [0, 2, 6, 10])
def test_a_third_path(rate: int) -> None:
    # One draw: of before the benchmark drew.
    goodput = {third: each for _, _, third, each in data("multipath-figure-7")["goodput"]}[rate]
    assert row("multipath", "Figure 7", str(rate))[2].startswith(f"{goodput / 1e6:.2f}")
