"""What is drawn for edges beside MPTCP, what links carry while something happens to them, and how rows are judged."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from bench.mptcp import only_routing, other_addresses
from bench.multipath import beside_mptcp
from bench.multipath.beside_mptcp import COMPARED, FEWER_DRAWS, MAIN, MPTCP, OURS, ROUTES, SECONDS, Run, Seen
from bench.multipath.changing_links import NOTHING, Change, carried, drawn_changes
from bench.multipath.draws import DRAWS
from bench.multipath.many_paths import many_paths
from wayname.config.schedules import Source
from wayname_lab.model import Quality
from wayname_lab.plan import plan_lab

QUALITY = Quality(rate=4_000_000, delay=10_000_000, queue=100)
DEAD = replace(QUALITY, loss=1.0)


def test_both_ways_have_each_draw_and_its_order_is_drawn() -> None:
    drawn = beside_mptcp.drawn_runs(False, 7)
    assert drawn == beside_mptcp.drawn_runs(False, 7) != beside_mptcp.drawn_runs(False, 8)
    met = Counter((run.row, run.way) for of_draw in drawn for run in of_draw)
    for row in drawn_changes(drawn[0][0].links["a-p"], SECONDS, random.Random(1)):
        assert {met[row, way] for way in COMPARED} == {DRAWS if row in MAIN else FEWER_DRAWS}
    for of_draw in drawn:
        assert len({str(run.links) for run in of_draw}) == 1
        changes = {run.row: run.changes for run in of_draw}
        assert all(run.changes == changes[run.row] for run in of_draw)
    assert len({tuple((run.row, run.way) for run in of_draw) for of_draw in drawn}) > 1


def test_each_path_is_disturbed_in_turn() -> None:
    drawn = beside_mptcp.drawn_runs(False, 7)
    dying = [next(run.changes[0].link for run in of_draw if run.row == "a path dies") for of_draw in drawn]
    assert [link[1:] for link in dying] == ["-p", "-q", "-r"] * (DRAWS // 3)
    assert {link[0] for link in dying} == {"a", "b"}


def test_moments_are_within_the_run_and_in_order() -> None:
    link = beside_mptcp.links_of(ROUTES)["b-q"]
    for seed in range(20):
        for changes in drawn_changes(link, SECONDS, random.Random(seed)).values():
            moments = [change.at for change in changes]
            assert moments == sorted(moments)
            assert all(change.link == "b-q" and change.at <= SECONDS for change in changes)


@pytest.mark.parametrize(
    ("changes", "megabits"),
    [
        ([], 12.0),
        ([Change(1.0, "a-q", DEAD)], 4.0),
        ([Change(1.0, "a-q", DEAD), Change(2.0, "a-q", QUALITY)], 8.0),
        ([Change(2.0, "a-q", replace(QUALITY, rate=2_000_000))], 10.0),
        ([Change(-1.0, "a-q", replace(QUALITY, delay=50_000_000)), Change(1.0, "a-q", QUALITY)], 12.0),
        ([Change(0.0, "a-q", replace(QUALITY, loss=0.05))], 11.4),
    ],
)
def test_a_link_carries_what_its_changes_leave(changes: list[Change], megabits: float) -> None:
    assert carried(QUALITY, changes, 3.0) == pytest.approx(megabits * 1e6)


def test_the_limit_has_no_headers_and_not_what_a_dead_path_had() -> None:
    links = beside_mptcp.links_of(ROUTES)
    whole = Run(NOTHING, OURS, links).limit
    assert whole == pytest.approx(11e6 * 1428 / 1514)
    dying = Run("a path dies", OURS, links, [Change(SECONDS / 2, "b-r", replace(links["b-r"].quality, loss=1.0))])
    assert whole - dying.limit == pytest.approx(2.5e6 * 1428 / 1514)


def seen_with(row: str, ours: list[float], other: list[float]) -> list[Seen]:
    goodputs = [(OURS, ours), (MPTCP, other)]
    return [Seen(row, way.name, goodput, 1e7, 3) for way, some in goodputs for goodput in some]


def test_a_row_is_judged_by_medians_and_by_nine_pairs_in_ten() -> None:
    better = seen_with(NOTHING, [9e6] * 10, [8e6] * 10)
    mostly = seen_with("a path dies", [9e6] * 8 + [4e6] * 2, [8e6] * 10)
    worse = seen_with("a path flaps", [4e6] * 10, [8e6] * 10)
    text, goals = beside_mptcp.summed_up(worse + better + mostly)
    assert [goal.met for goal in goals] == [True, True, True, False, False, False]
    assert [line.split()[0] for line in text if line.startswith("nothing")] == ["nothing"] * 3
    assert any(line.split()[-4:] == ["50.0"] * 4 for line in text)


def test_without_edges_that_speak_for_hosts_these_have_an_address_of_each_provider() -> None:
    plan = only_routing(plan_lab(many_paths(Source.FEEDBACK)))
    assert not any(router.shim6 or router.configuration for router in plan.routers.values())
    for host, site in (("a1", 1), ("b1", 2)):
        prefixes = [f"{address.exploded[:14]}" for address in other_addresses(plan, plan.hosts[host])]
        assert prefixes == [f"2001:0db8:020{site}", f"2001:0db8:030{site}"]
