"""A lab cuts by itself only what it can do without."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from wayname_lab.demonstration import CUT_FOR, EVERY, FIRST_CUT, expendable, is_due
from wayname_lab.load import find_lab
from wayname_lab.model import Link
from wayname_lab.plan import plan_lab
from wayname_lab.running import RunningLab
from wayname_lab.show import Lines, Show
from wayname_lab.traffic import Traffic
from wayname_lab.wires import Wires


@pytest.mark.parametrize(("lab", "links"), [("line", []), ("two-providers", ["a-p", "a-q", "b-p", "b-q"])])
def test_expendable_links(lab: str, links: list[str]) -> None:
    assert [link.name for link in expendable(find_lab(lab))] == links


def test_cuts_have_quiet_before_and_between() -> None:
    moments = (FIRST_CUT - 0.1, FIRST_CUT, FIRST_CUT + CUT_FOR, FIRST_CUT + EVERY)
    assert [is_due(moment) for moment in moments] == [False, True, False, True]


class Uncut(RunningLab):
    """A lab that is not started, and only notes which links are cut."""

    async def set_cut(self, link: Link, cut: bool) -> None:
        (self.cut_links.add if cut else self.cut_links.discard)(link.name)


@pytest.mark.parametrize(
    ("key", "cut"),
    [("a", set()), ("1", set()), ("2", {"a-q"})],
    ids=["no cuts by itself any more", "the link that it cut", "another link"],
)
async def test_who_takes_over_finds_no_link_cut_by_the_lab(tmp_path: Path, key: str, cut: set[str]) -> None:
    plan = plan_lab(find_lab("two-providers"))
    traffic = Traffic(plan)
    running = Uncut(plan, Wires(plan, tmp_path), tmp_path, traffic.take)
    show: Any = Show(running, traffic, "", "", Lines(as_json=False))
    first, second = plan.lab.links[:2]
    assert (first.name, second.name) == ("a-p", "a-q")
    await running.set_cut(first, True)
    show._pressed(key)
    await asyncio.sleep(0)
    assert running.cut_links == cut
    # What a person cut stays so.
    show._pressed("2")
    await asyncio.sleep(0)
    show._pressed("1")
    await asyncio.sleep(0)
    assert running.cut_links == {"a-p"} | ({"a-q"} - cut)
