"""Tables on a terminal of 80 columns: no word is broken, and no address."""

from __future__ import annotations

import pytest

from wayname.cli import show

ADDRESS = "2001:db8:101:10:8a6:8fd8:7cb0:3096"
WHY = "the path that it was on did not answer for 0.207 s, and this is the first of those that are proven to work"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "WIDE", 80)


@pytest.mark.usefixtures("terminal")
def test_what_fits_stays_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    show.show_table(("session", "host", "because"), [(1, ADDRESS, WHY), (2, ADDRESS, "it was the first")], "")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(ADDRESS in line for line in lines) == 2
    assert lines[0].split() == ["session", "host", "because"]
    assert " ".join(line[45:].strip() for line in lines[1:-1]) == WHY


@pytest.mark.usefixtures("terminal")
def test_what_does_not_has_a_line_for_each_key(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(number, ADDRESS, ADDRESS, ["works", ADDRESS]) for number in (1, 2)]
    show.show_table(("path", "our locator", "the peer's", "state"), rows, "")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:3] == ["path         1", f"our locator  {ADDRESS}", f"the peer's   {ADDRESS}"]
    assert sum(ADDRESS in line for line in lines) == 6
    assert "" in lines


def test_what_no_terminal_reads_is_never_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    show.show_table(("host", "peer", "because"), [(ADDRESS, ADDRESS, WHY)], "")
    assert len(capsys.readouterr().out.splitlines()) == 2
