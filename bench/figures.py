"""Draws what was measured, beside what a paper says of the same, and keeps the data next to the picture.

The same data make the same picture, octet by octet, so that a change of docs/figures is a change of what was measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
PANEL_INCHES = (5.4, 4.4)
STYLE = Path(__file__).with_name("figures.mplstyle")
PAPER_COLOUR = "#777777"
GROUP_WIDTH = 0.8
# Characters of text that fit beside each other over or under a panel, and beside bars that lie.
PANEL_CHARACTERS, LABEL_CHARACTERS, LABEL_LINES = 60, 26, 3
# What a series adds to its name behind a comma has the colour of the name, and is told apart by these.
VARIANTS = ("-", "-.", ":")


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
    """A bar in each group of a panel; None leaves one out. `bounds` are the least and the greatest of each."""

    name: str
    heights: Sequence[float | None]
    bounds: Sequence[tuple[float, float]] = ()
    of_paper: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A diagram: lines, or with `groups` bars, which lie where the groups' names are too long to stand side by side."""

    title: str
    x: str
    y: str
    shown: Sequence[Line | Bars]
    groups: Sequence[str] = ()
    log_x: bool = False
    log_y: bool = False
    # Where the vertical axis begins; a logarithmic one chooses by itself.
    least: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is told from others."""

    colour: str
    dashes: str = "-"


def keep(name: str, data: object, panels: Sequence[Panel], folder: Path = FIGURES) -> Path:
    """Write NAME.json with the data and NAME.svg with the panels side by side; return the picture's path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    picture = folder / f"{name}.svg"
    with style.context(STYLE):
        size = (PANEL_INCHES[0] * len(panels), PANEL_INCHES[1])
        figure = Figure(size, layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)
        looks = _looks(panels)
        for panel, area in zip(panels, axes[0], strict=True):
            _draw(panel, area, looks)
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    # Blanks at the ends of lines are no part of a picture.
    picture.write_text("".join(f"{line.rstrip()}\n" for line in picture.read_text().splitlines()))
    return picture


def _looks(panels: Sequence[Panel]) -> dict[str, Look]:
    """Return how each series looks in all panels: in the next one it is the same series still."""
    of_bars: dict[str, str] = {}
    of_lines: dict[str, str] = {}
    variants: dict[str, list[str]] = {}
    looks = {}
    for one in (one for panel in panels for one in panel.shown):
        if one.of_paper:
            looks[one.name] = Look(PAPER_COLOUR, "--")
            continue
        if isinstance(one, Bars):
            looks[one.name] = Look(of_bars.setdefault(one.name, f"C{len(of_bars)}"))
            continue
        kind, _, variant = one.name.partition(", ")
        colour = of_lines.setdefault(kind, f"C{len(of_lines)}")
        known = variants.setdefault(kind, [])
        if variant not in known:
            known.append(variant)
        looks[one.name] = Look(colour, VARIANTS[known.index(variant) % len(VARIANTS)])
    return looks


def _draw(panel: Panel, area: Axes, looks: Mapping[str, Look]) -> None:
    area.set_title(fill(panel.title, PANEL_CHARACTERS), fontsize=10)
    labels = _labels_side_by_side(panel.groups)
    lying = labels is None
    area.set_xlabel(panel.y if lying else panel.x)
    area.set_ylabel(panel.x if lying else panel.y)
    if panel.log_x:
        area.set_xscale("log")
    if panel.log_y:
        area.set_yscale("log")
    bars = sum(isinstance(one, Bars) for one in panel.shown)
    drawn = 0
    for one in panel.shown:
        if isinstance(one, Bars):
            _draw_bars(one, area, GROUP_WIDTH / bars, drawn - (bars - 1) / 2, looks[one.name].colour, lying)
            drawn += 1
        else:
            _draw_line(one, area, looks[one.name])
    if lying:
        area.set_yticks(range(len(panel.groups)), [fill(name, LABEL_CHARACTERS) for name in panel.groups])
        area.invert_yaxis()
        area.grid(axis="y", visible=False)
    elif labels:
        area.set_xticks(range(len(labels)), labels)
        area.grid(axis="x", visible=False)
    if panel.least is not None and not panel.log_y:
        (area.set_xlim if lying else area.set_ylim)(panel.least)
    if len(panel.shown) > 1:
        area.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def _labels_side_by_side(groups: Sequence[str]) -> list[str] | None:
    """Return the names in lines that fit under their bars, or None where they do not."""
    if not groups:
        return []
    width = PANEL_CHARACTERS // len(groups)
    labels = [name if "\n" in name else fill(name, width, break_long_words=False) for name in groups]
    lines = [label.splitlines() for label in labels]
    fit = all(len(label) <= LABEL_LINES and max(map(len, label)) <= width for label in lines)
    return labels if fit else None


def _draw_bars(bars: Bars, area: Axes, width: float, place: float, colour: str, lying: bool) -> None:
    there = [(group + place * width, height) for group, height in _there(bars)]
    (area.barh if lying else area.bar)(
        [at for at, _ in there],
        [height for _, height in there],
        width * 0.94,
        label=bars.name,
        color=colour,
        hatch="//" if bars.of_paper else None,
        edgecolor="white",
    )
    if bars.bounds:
        low = [max(height - bars.bounds[group][0], 0.0) for group, height in _there(bars)]
        high = [max(bars.bounds[group][1] - height, 0.0) for group, height in _there(bars)]
        places, heights = zip(*there, strict=True)
        across, up = (heights, places) if lying else (places, heights)
        sideways, upwards = ((low, high), None) if lying else (None, (low, high))
        area.errorbar(across, up, upwards, sideways, fmt="none", ecolor="#444444", elinewidth=0.9, capsize=1.5)


def _there(bars: Bars) -> list[tuple[int, float]]:
    return [(group, height) for group, height in enumerate(bars.heights) if height is not None]


def _draw_line(line: Line, area: Axes, look: Look) -> None:
    across = [x for x, _ in line.points]
    up = [y for _, y in line.points]
    mark = "o" if line.marks and (line.scattered or not line.of_paper) else None
    area.plot(
        across,
        up,
        linestyle="none" if line.scattered else look.dashes,
        label=line.name,
        color=look.colour,
        marker=mark,
        markersize=3.5,
        linewidth=1.3,
        drawstyle="steps-post" if line.steps else "default",
    )
    if line.bounds:
        below = [max(y - low, 0.0) for y, (low, _) in zip(up, line.bounds, strict=True)]
        above = [max(high - y, 0.0) for y, (_, high) in zip(up, line.bounds, strict=True)]
        area.errorbar(across, up, yerr=(below, above), fmt="none", ecolor=look.colour, elinewidth=0.9, capsize=2)
