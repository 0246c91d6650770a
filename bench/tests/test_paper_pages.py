"""Pages of papers say of our figures what was measured and drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def data(name: str) -> Any:
    return json.loads((DOCS / "figures" / f"{name}.json").read_text())


def row(page: str, section: str, begins: str) -> list[str]:
    """Return the cells of a row."""
    text = (DOCS / "papers" / f"{page}.md").read_text().partition(f"## {section}")[2].partition("\n## ")[0]
    [found] = re.findall(rf"^\| {re.escape(begins)} \|.*$", text, flags=re.MULTILINE)
    return [cell.strip() for cell in found.strip("| ").split("|")]


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


@pytest.mark.parametrize("rate", [2, 4, 5])
def test_paths_alone(rate: int) -> None:
    found = data("multipath-table-1")[str(rate)]
    steady = found["steady_goodputs"][0]
    assert row("multipath", "Table I", f"{rate} alone")[2:] == [f"{found['goodput'] / 1e6:.2f}", f"{steady / 1e6:.2f}"]


@pytest.mark.parametrize("rate", [0, 2, 6, 10])
def test_a_third_path(rate: int) -> None:
    goodput = {third: each for _, _, third, each in data("multipath-figure-7")["goodput"]}[rate]
    assert row("multipath", "Figure 7", str(rate))[2].startswith(f"{goodput / 1e6:.2f}")
