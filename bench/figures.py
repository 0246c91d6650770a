"""Draws what was measured, beside what a paper says of the same, and keeps the data next to the picture.

The same data make the same picture, octet by octet, so that a change of docs/figures is a change of what was measured.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
PANEL_INCHES = (5.4, 4.4)
STYLE = Path(__file__).with_name("figures.mplstyle")
PAPER_COLOUR = "#777777"
GROUP_WIDTH = 0.8


@dataclass(frozen=True, slots=True)
class Line:
    """Points; `bounds` are the least and the greatest at each."""

    name: str
    points: Sequence[tuple[float, float]]
    bounds: Sequence[tuple[float, float]] = ()
    of_paper: bool = False
    marks: bool = True
    steps: bool = False
    scattered: bool = False  # points that no line joins


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar in each group of a panel; None leaves one out."""

    name: str
    heights: Sequence[float | None]
    of_paper: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A diagram: lines, or with `groups` bars."""

    title: str
    x: str
    y: str
    shown: Sequence[Line | Bars]
    groups: Sequence[str] = ()
    log_x: bool = False
    log_y: bool = False
    # Where the vertical axis begins; a logarithmic one chooses by itself.
    least: float | None = 0.0


def keep(name: str, data: object, panels: Sequence[Panel], folder: Path = FIGURES) -> Path:
    """Write NAME.json with the data and NAME.svg with the panels side by side; return the picture's path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    picture = folder / f"{name}.svg"
    with style.context(STYLE):
        size = (PANEL_INCHES[0] * len(panels), PANEL_INCHES[1])
        figure = Figure(size, layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)
        for panel, area in zip(panels, axes[0], strict=True):
            _draw(panel, area)
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    # Blanks at the ends of lines are no part of a picture.
    picture.write_text("".join(f"{line.rstrip()}\n" for line in picture.read_text().splitlines()))
    return picture


def _draw(panel: Panel, area: Axes) -> None:
    area.set_title(panel.title, fontsize=10)
    area.set_xlabel(panel.x)
    area.set_ylabel(panel.y)
    if panel.log_x:
        area.set_xscale("log")
    if panel.log_y:
        area.set_yscale("log")
    bars = sum(isinstance(one, Bars) for one in panel.shown)
    drawn = 0
    for one in panel.shown:
        colour = PAPER_COLOUR if one.of_paper else None
        if isinstance(one, Bars):
            _draw_bars(one, area, GROUP_WIDTH / bars, drawn - (bars - 1) / 2, colour)
            drawn += 1
        else:
            _draw_line(one, area, colour)
    if panel.groups:
        area.set_xticks(range(len(panel.groups)), panel.groups)
        area.grid(axis="x", visible=False)
    if panel.least is not None and not panel.log_y:
        area.set_ylim(bottom=panel.least)
    if len(panel.shown) > 1:
        area.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def _draw_bars(bars: Bars, area: Axes, width: float, place: float, colour: str | None) -> None:
    there = [(group + place * width, height) for group, height in enumerate(bars.heights) if height is not None]
    area.bar(
        [at for at, _ in there],
        [height for _, height in there],
        width * 0.94,
        label=bars.name,
        color=colour,
        hatch="//" if bars.of_paper else None,
        edgecolor="white",
    )


def _draw_line(line: Line, area: Axes, colour: str | None) -> None:
    across = [x for x, _ in line.points]
    up = [y for _, y in line.points]
    style = "" if line.scattered else "--" if line.of_paper else "-"
    mark = "o" if line.marks and not line.of_paper else None
    drawn = area.plot(
        across,
        up,
        style,
        label=line.name,
        color=colour,
        marker=mark,
        markersize=3.5,
        linewidth=1.3,
        drawstyle="steps-post" if line.steps else "default",
    )
    if line.bounds:
        below = [max(y - low, 0.0) for y, (low, _) in zip(up, line.bounds, strict=True)]
        above = [max(high - y, 0.0) for y, (_, high) in zip(up, line.bounds, strict=True)]
        area.errorbar(
            across, up, yerr=(below, above), fmt="none", ecolor=drawn[0].get_color(), elinewidth=0.9, capsize=2
        )
