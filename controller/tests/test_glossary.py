"""Each term of the glossary has a table in P4Info, a command and a page that uses the term."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from repository import REPOSITORY
from test_documented_commands import leads_somewhere, unknown

GLOSSARY = REPOSITORY / "docs" / "glossary.md"
P4INFO = (REPOSITORY / "p4src" / "wayname.p4info.txtpb").read_text()
# In the text format each table's preamble comes first.
TABLES = set(
    re.findall(r'^tables \{\n  preamble \{\n    id: \d+\n    name: ".*"\n    alias: "(\w+)"', P4INFO, re.MULTILINE)
)
# What a reader who knows networks searches for first.
WANTED = {
    *(
        "NPTv6",
        "multihoming",
        "uRPF",
        "BCP 38",
        "ECMP",
        "WCMP",
        "VRF",
        "FDB",
        "SAVI",
        "SLAAC",
        "token bucket",
        "telemetry",
    ),
    *("failover", "drain", "RA guard", "SRv6", "IOAM", "ILA", "RPL", "mirror", "static 1:1 mapping", "flow monitor"),
}


class Row(NamedTuple):
    """A row of the glossary."""

    terms: list[str]
    tables: list[str]
    commands: list[str]
    page: str


def rows() -> list[Row]:
    """Read all rows with a page."""
    found = []
    for line in GLOSSARY.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and (page := re.search(r"\]\((.+)\)", cells[4])):
            tables, commands = (re.findall("`([^`]+)`", cell) for cell in cells[2:4])
            found.append(Row(cells[0].split(", "), tables, commands, page[1]))
    return found


every_row = pytest.mark.parametrize("row", rows(), ids=lambda row: row.terms[0])


@every_row
def test_tables_and_commands_are_there(row: Row) -> None:
    assert row.tables and set(row.tables) <= TABLES
    assert row.commands and not [problem for command in row.commands if (problem := unknown(command.split()[1:]))]


@every_row
def test_the_page_uses_the_term(row: Row) -> None:
    assert leads_somewhere(GLOSSARY, row.page)
    text = (GLOSSARY.parent / row.page.partition("#")[0]).read_text().lower()
    assert not [term for term in row.terms if term.lower() not in text]


def test_what_readers_search_for_is_there() -> None:
    assert {term for row in rows() for term in row.terms} >= WANTED
