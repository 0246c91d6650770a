"""What an experiment comes to, and how it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.figures import Panel


@dataclass(frozen=True, slots=True)
class Result:
    """A figure: its data, its panels, the lines to print, and what was to be reached but was not."""

    name: str
    data: object
    panels: Sequence[Panel]
    text: Sequence[str]
    missed: Sequence[str] = field(default_factory=tuple)


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lay out rows in columns."""
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
