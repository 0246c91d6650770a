"""The tests that docs/p4runtime.md names are tests of the switch."""

from __future__ import annotations

import re

from repository import REPOSITORY

PAGE = (REPOSITORY / "docs" / "p4runtime.md").read_text()
CRATES = REPOSITORY / "switch" / "crates"
TEST = re.compile(r"#\[(?:tokio::)?test\]\n(?:\s*#\[[^\n]*\n)*\s*(?:async )?fn (\w+)")
# Names of tests are sentences; nothing else on the page has two underscores and no capitals.
NAMED = re.compile(r"`([a-z0-9]+(?:_[a-z0-9]+){2,})`")


def names_in(text: str) -> set[str]:
    return set(TEST.findall(text))


def test_each_test_that_the_page_names_is_there() -> None:
    there = set[str]().union(*(names_in(path.read_text()) for path in CRATES.rglob("*.rs")))
    named = set(NAMED.findall(PAGE)) - {"meter_counter_data", "psa_empty_group_action"}
    assert len(named) > 50
    assert not named - there


def test_each_row_is_shown_or_has_a_reason() -> None:
    rows = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[0].strip() not in ("section", "---")]
    assert len(rows) > 50
    assert all(len(row) == 3 for row in rows)
    assert not [
        row for row in rows if not NAMED.search(row[2]) and "**No**: " not in row[2] and "; untested" not in row[2]
    ]


def test_a_function_that_is_no_test_is_not_taken_for_one() -> None:
    text = "fn a_plain_one() {}\n#[test]\n#[allow(deprecated)]\nfn a_b_c() {}\n#[tokio::test]\nasync fn d_e_f() {}\n"
    assert names_in(text) == {"a_b_c", "d_e_f"}
