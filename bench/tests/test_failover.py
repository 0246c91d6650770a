"""What `make bench-failover` draws, compares and judges, and one cut of it live where there is root."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.failover import trace
from bench.failover.draws import FASTEST, SLOWEST, Draw, draws
from bench.failover.live import CUT, running
from bench.failover.measure import MOST_TRIES, Bulk, Paced, Seen, parts
from bench.failover.report import result
from bench.failover.ways import MPTCP, NETWORK, PLAIN, SHIM6, WAYS, network
from bench.lateness import Wait
from wayname_lab.load import load_lab
from wayname_lab.model import LabShim6
from wayname_lab.namespaces import missing_for_namespaces
from wayname_lab.plan import check_for_linux, plan_lab

DRAW = Draw(2.0, 1e6, 1000)


def seen_with(send_timeout: float | None, longest: float, *, lived: bool = True) -> Seen:
    paced = [Paced(DRAW, Wait(longest, longest), send_timeout, lived=True)] * 10
    return Seen(SHIM6 if send_timeout else PLAIN, paced, [Bulk(2e7, 1e7, DRAW, lived)])


def test_the_same_seed_draws_the_same_cuts_and_more_runs_only_add() -> None:
    assert draws(7, 30) == draws(7, 45)[:30] != draws(8, 30)
    assert all(SLOWEST <= draw.pace <= FASTEST for draw in draws(7, 45))


def test_networks_share_all_draws_of_a_way() -> None:
    some = parts({PLAIN: 30, SHIM6: 45}, 30, 7)
    for way, count in ((PLAIN, 30), (SHIM6, 45)):
        assert [draw for part in some if part.way is way for draw in part.paced] == draws(7, count)
        assert [draw for part in some if part.way is way for draw in part.bulk] == draws(7, 30)
    assert max(len(part.paced) + len(part.bulk) for part in some) == 30


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_all_ways_have_the_same_links_and_hosts_that_linux_can_be(way: object) -> None:
    plan = network(SHIM6)
    other = network(next(each for each in WAYS if each is way))
    check_for_linux(other)
    assert other.lab.links == plan.lab.links
    assert CUT in [link.name for link in other.lab.links]


def test_where_edges_only_route_they_speak_for_nobody() -> None:
    for way in (PLAIN, MPTCP):
        assert not any(router.shim6 or router.hip_edge for router in network(way).routers.values())
    assert [bool(network(SHIM6).routers[edge].shim6) for edge in ("a", "b")] == [True, True]


@pytest.mark.parametrize(("longest", "met"), [(0.24, [True, True]), (0.26, [False, False]), (0.249, [True, True])])
def test_edges_are_judged_by_detection_and_in_all(longest: float, met: list[bool]) -> None:
    judged = result([seen_with(None, 3.0), seen_with(0.2, longest)])
    assert [goal.met for goal in judged.goals] == [True, *met]


def test_a_connection_that_does_not_go_on_misses_its_goal_and_tells_its_cut() -> None:
    judged = result([seen_with(0.2, 0.21, lived=False)]).goals[0]
    assert not judged.met
    assert f"1 of 11 connections did not go on, cut after {DRAW.moment:.3f} s" in str(judged)


def test_cuts_that_hit_nothing_are_told() -> None:
    repeated, other = seen_with(0.2, 0.21), seen_with(None, 3.0)
    repeated.repeated = 2
    told = [line for line in result([repeated, other]).text if "made again" in line]
    assert told == [f"{SHIM6.name}: 2 cuts were made again, since a session had left the link before"]


def test_the_report_has_a_row_for_each_way_in_each_table() -> None:
    text = "\n".join(result([seen_with(None, 3.0), seen_with(0.2, 0.25)]).text)
    assert (text.count(PLAIN.name), text.count(SHIM6.name)) == (4, 3)


@pytest.mark.skipif(missing_for_namespaces() != "", reason=missing_for_namespaces())
async def test_a_connection_of_linux_outlives_a_cut_between_providers() -> None:
    # A busy machine stands still for longer than `make run` waits for an answer; sessions would leave before the cut.
    patient = replace(load_lab(NETWORK), shim6=LabShim6(send_timeout=10**9))
    async with running(plan_lab(patient)) as live:
        for _ in range(MOST_TRIES):
            await live.until_steady()
            transfer = await live.transfer(1.0, 2.0, 1000, 0.01)
            assert transfer.arrivals[-1].total == 200 * 1000
            if transfer.is_hit:
                break
    assert any("from path 0" in event.text for event in transfer.told)


def test_a_cut_on_the_virtual_clock_is_traced_until_all_flows_go_on() -> None:
    lab, at = trace.cut(1)
    moved = [event.time for _, event in lab.events if event.kind == "session.moved" and event.time > at]
    assert moved
    # Nothing arrives before the first session has moved.
    for host, kind in (("b1", "rate"), ("a2", "rate"), ("a2", "ping_reply")):
        assert min(moved) - at < trace.gap(lab, host, kind, at) < trace.AFTER
