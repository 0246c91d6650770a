"""A lab cuts by itself only what it can do without."""

import pytest

from wayname_lab.demonstration import CUT_FOR, EVERY, FIRST_CUT, expendable, is_due
from wayname_lab.load import find_lab


@pytest.mark.parametrize(("lab", "links"), [("line", []), ("two-providers", ["a-p", "a-q", "b-p", "b-q"])])
def test_expendable_links(lab: str, links: list[str]) -> None:
    assert [link.name for link in expendable(find_lab(lab))] == links


def test_cuts_have_quiet_before_and_between() -> None:
    moments = (FIRST_CUT - 0.1, FIRST_CUT, FIRST_CUT + CUT_FOR, FIRST_CUT + EVERY)
    assert [is_due(moment) for moment in moments] == [False, True, False, True]
