"""What P4 and Python both say stands in the P4 text, and nothing that is missing goes unnoticed."""

from __future__ import annotations

from pathlib import Path

import p4_text
import pytest
import write_constants
from write_constants import ConstantsError


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all P4 in one file, to change."""
    text = "\n".join(file.read_text() for file in sorted(p4_text.P4SRC.rglob("*.p4")))
    file = tmp_path / "all.p4"
    file.write_text(text)
    monkeypatch.setattr(p4_text, "P4SRC", tmp_path)
    p4_text.text.cache_clear()
    return file


@pytest.fixture(autouse=True)
def forget() -> None:
    p4_text.text.cache_clear()


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_the_module_is_up_to_date() -> None:
    assert write_constants.FILE.read_text() == write_constants.written(), "run p4src/tests/write_constants.py"


def test_a_new_drop_reason_is_one_line(program: Path) -> None:
    reason = "const drop_reason_t DROP_NO_ROUTE "
    change(program, reason, f"const drop_reason_t DROP_TOO_NEW = 250; // came from tomorrow\n{reason}")
    assert '    TOO_NEW = 250, "came from tomorrow"\n' in write_constants.written()


def test_a_constant_without_words_says_how_to_mend_it(program: Path) -> None:
    change(program, "// no route\n", "\n")
    with pytest.raises(ConstantsError, match=r"DROP_NO_ROUTE has no words: write behind it, on its line"):
        write_constants.written()


def test_two_constants_with_one_number_are_refused(program: Path) -> None:
    change(program, "= 43;  // no route", "= 44;  // no route")
    with pytest.raises(ConstantsError, match="DROP_NO_ROUTE and DROP_PROHIBITED are both 44: give one of them"):
        write_constants.written()


def test_a_constant_that_is_gone_says_where_it_is_used(program: Path) -> None:
    change(program, "#define WATCHED_SESSIONS ", "#define FOLLOWED_SESSIONS ")
    with pytest.raises(ConstantsError, match="no constant WATCHED_SESSIONS: take it out of NUMBERS"):
        write_constants.written()


def test_a_type_that_is_gone_says_where_it_is_used(program: Path) -> None:
    program.write_text(program.read_text().replace("const feedback_t ", "const bit<8> "))
    with pytest.raises(ConstantsError, match="no constant of the type feedback_t: take it out of ENUMS"):
        write_constants.written()
