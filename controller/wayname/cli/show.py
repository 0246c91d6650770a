"""Answers for people: tables that fit the terminal, plain where there is none."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wayname.escape import escaped

WIDE = 1000
"""Columns where no terminal sets the width: nothing is folded or cut for a program or a file."""

GAP = 2
"""Columns between two of a table."""


def console() -> Console:
    """Where answers go."""
    width = None if sys.stdout.isatty() else WIDE
    # Texts come out as they are: rich would take `:100:` in an IPv6 address for an emoji, and `[red]` for a style.
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False, width=width)


def show_json(answer: Any) -> None:
    """Write an answer for programs."""
    print(json.dumps(answer, indent=2))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Write rows under their columns' names, numbers to the right; say so if there are none.

    A cell that is a list has a line for each text in it. Where the terminal has not room for the words of all columns,
    each key has a line of its own.
    """
    given = list(rows)
    if not given:
        print(empty)
        return
    cells = [[in_cell(value) for value in row] for row in given]
    width = console().width
    widths = fitting(columns, cells, width)
    if widths is None:
        for number, row in enumerate(cells):
            if number:
                print()
            show_facts((name, value) for name, value in zip(columns, row, strict=True) if name or value)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(columns):
        numbers = all(isinstance(row[index], int) for row in given)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold", width=widths[index])
    for texts in cells:
        table.add_row(*texts)
    print_table(table)


def fitting(columns: Sequence[str], cells: Sequence[Sequence[Text]], width: int) -> list[int] | None:
    """How wide each column is where no word is broken, so that they fit; None if they do not."""
    by_column = [
        [head, *(line for row in cells for line in row[index].plain.split("\n"))] for index, head in enumerate(columns)
    ]
    least = [max(max(map(cell_len, line.split()), default=0) for line in lines) for lines in by_column]
    wanted = [max(map(cell_len, lines)) for lines in by_column]
    room = width - sum(least) - GAP * (len(columns) - 1)
    if room < 0:
        return None
    # The narrow ones first: they need little to stay on a line.
    for index in sorted(range(len(columns)), key=lambda each: wanted[each] - least[each]):
        more = min(wanted[index] - least[index], room)
        least[index] += more
        room -= more
    return least


def show_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Write names and values."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(in_cell(name), in_cell(value))
    print_table(table)


def in_cell(value: object) -> Text:
    """A value as it stands in a table: names in it may come from anywhere."""
    match value:
        case None:
            return Text()
        case Text():
            return value
        case list():
            return Text("\n").join(map(in_cell, value))
    return Text(escaped(str(value)))


def print_table(table: Table) -> None:
    """Write a table; rich fills up its last column, which is good for a terminal only."""
    out = console()
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as written:
        out.print(table)
    print("\n".join(line.rstrip() for line in written.get().splitlines()))


def good_or_bad(text: str, good: bool) -> Text:
    """A word in green or red, where there are colours."""
    return Text(escaped(text), style="green" if good else "red")
