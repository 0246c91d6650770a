"""A lab cuts by itself only what it can do without."""

import pytest

from wayname_lab.demonstration import CUT_FOR, EVERY, FIRST_CUT, expendable, planned
from wayname_lab.load import find_lab


@pytest.mark.parametrize(("lab", "links"), [("line", []), ("two-providers", ["a-p", "a-q", "b-p", "b-q"])])
def test_expendable_links(lab: str, links: list[str]) -> None:
    assert [link.name for link in expendable(find_lab(lab))] == links


def test_cuts_take_turns_with_quiet_between() -> None:
    links = expendable(find_lab("two-providers"))
    assert planned(links, FIRST_CUT - 0.1) is None
    assert planned(links, FIRST_CUT) == links[0]
    assert planned(links, FIRST_CUT + CUT_FOR) is None
    assert planned(links, FIRST_CUT + EVERY) == links[1]
    assert planned(links, FIRST_CUT + 4 * EVERY) == links[0]
    assert planned([], FIRST_CUT) is None
