"""Puts what was printed into the page of these experiments, so that it says what the last run said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "experiments-multipath.md"


def put(name: str, lines: Sequence[str], page: Path = PAGE) -> None:
    """Replace what the page has between `<!-- NAME -->` and `<!-- end of NAME -->`; a page without these stays."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if found and ended:
        printed = "".join(f"{line}\n" for line in lines)
        page.write_text(f"{before}{begin}\n```text\n{printed}```\n\n{end}{after}")
