"""Pages of papers say of our figures what was measured and drawn."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.multipath.report import rates_of, shares_of

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


def test_two_ideal_paths() -> None:
    found = data("multipath-figure-5")
    _, paper, *ours = row("multipath", "Figure 5", "10 and 10 Mbit/s")
    assert (float(paper), ours) == (found["paper"]["10 and 10"], spread(found["goodput"]["10 and 10"]))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("none", "none"),
        ("marks and closing of paths", "marks and closing"),
        ("marks alone", "marks"),
        ("and duplicates held back", "and duplicates held back"),
    ],
)
def test_cross_traffic(said: str, kind: str) -> None:
    found = data("multipath-figure-9")
    _, paper, *ours = row("multipath", "Figure 9", said)
    assert (paper, ours) == (str(found["paper"].get(kind, "not in the paper")), spread(found["goodput"][kind]))


def test_cross_traffic_with_what_is_ours() -> None:
    found = data("multipath-figure-9")
    of_limit = zip(found["goodput"]["and duplicates held back"], found["limit"], strict=True)
    median, tenth, *_ = shares_of([100 * goodput / limit for goodput, limit in of_limit]).cells(1)
    page = (DOCS / "papers" / "multipath.md").read_text()
    assert f"{median} % of it were reached at the median and {tenth} % in nine draws of ten" in page


@pytest.mark.parametrize(("said", "which"), [("2 alone", "2"), ("4 alone", "4"), ("together", "2 and 4 and 5")])
def test_ideal_paths(said: str, which: str) -> None:
    assert row("multipath", "Table I", said)[2:] == spread(data("multipath-table-1")["goodput"][which])


@pytest.mark.parametrize(("rate", "which"), [("0", "4 and 5"), ("5", "4 and 5 and 5"), ("10", "4 and 5 and 10")])
def test_a_third_path(rate: str, which: str) -> None:
    assert row("multipath", "Figure 7", rate)[2:5] == spread(data("multipath-figure-7")["goodput"][which])
