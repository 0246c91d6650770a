"""Whether docs/threat-model.md speaks of what is there: tests, attacks, meters, tables and their sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from finsy.proto import p4i
from google.protobuf import text_format

from bench.attacks.catalogue import ATTACKS, named

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "threat-model.md"
TEST_FOLDERS = ("controller", "topo", "p4src", "ptf-tests", "bench", "switch")
QUOTED = re.compile(r"`([^`]+)`")


def page() -> str:
    return re.sub(r"^```.*?^```$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def names_of_tests() -> frozenset[str]:
    """The names of all tests, and of the files that they are in."""
    names: set[str] = set()
    for folder in TEST_FOLDERS:
        for path in (ROOT / folder).rglob("test_*.py"):
            if "target" not in path.parts:
                names.add(path.name)
                names.update(re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return frozenset(names)


@cache
def p4info() -> p4i.P4Info:
    text = (ROOT / "p4src" / "wayname.p4info.txtpb").read_text(encoding="utf-8")
    return text_format.Parse(text, p4i.P4Info())


def rows(heading: str) -> Iterator[list[str]]:
    """Yield the cells of a table behind a heading, without its head."""
    behind = page().split(f"\n{heading}\n", 1)[1]
    section = re.split(r"^#", behind, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def quoted(pattern: str) -> list[str]:
    return sorted({text for text in QUOTED.findall(page()) if re.fullmatch(pattern, text)})


@pytest.mark.parametrize("name", quoted(r"test_\w+(\.py)?"))
def test_a_test_that_the_page_names_is_there(name: str) -> None:
    assert name in names_of_tests()


@pytest.mark.parametrize("only", quoted(r"ONLY=\S+"))
def test_an_attack_that_the_page_names_is_there(only: str) -> None:
    assert named(only.removeprefix("ONLY="))


def test_all_meters_are_on_the_page_and_no_others() -> None:
    told = [name for cells in rows("### Meters") for name in QUOTED.findall(cells[0])]
    assert sorted(told) == sorted(meter.preamble.alias for meter in p4info().meters)


def test_tables_have_the_sizes_that_the_page_says() -> None:
    sizes = {table.preamble.alias: table.size for table in p4info().tables}
    told = {name: int(cells[1]) for cells in rows("### Tables") for name in QUOTED.findall(cells[0])}
    assert told and told == {name: sizes[name] for name in told}


def test_each_attack_has_a_name_of_its_own() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names)
