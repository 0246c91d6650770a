"""What is made of runs over several paths: points of the sweep, entries by the million, summaries, the page."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path

import pytest

from bench.multipath import (
    crossed,
    disturbed,
    edges,
    fed,
    ideal,
    page,
    redundant,
    sender_fairness,
    silence,
    sweep,
    tables,
)
from bench.multipath.copies import copies
from bench.multipath.draws import DRAWS, near
from bench.multipath.experiment import run
from bench.multipath.network import program
from bench.multipath.path import Route
from bench.multipath.report import Goal, share, summary
from wayname.config.schedules import Source
from wayname.p4_constants import SessionMode
from wayname.pipeline import sessions
from wayname.pipeline.entries import Entity
from wayname.pipeline.schedules import session_schedule
from wayname_lab.virtual.clock import MILLISECOND


def test_points_of_the_sweep_are_within_its_bounds() -> None:
    rng = random.Random(1)
    for setup in [sweep.drawn(paths, rng) for paths in sweep.PATHS for _ in range(20)]:
        rates, delays = [route.rate for route in setup.routes], [route.delay for route in setup.routes]
        assert 1e6 <= min(rates) <= max(rates) <= 1e9
        assert 1 * MILLISECOND <= min(delays) <= max(delays) <= 200 * MILLISECOND
        assert setup.warm_up < setup.seconds


def test_the_sweep_is_the_same_with_the_same_seed() -> None:
    assert sweep.drawn(5, random.Random(7)) == sweep.drawn(5, random.Random(7)) != sweep.drawn(5, random.Random(8))


def test_the_window_at_a_corner_is_twice_what_is_under_way() -> None:
    setup = sweep.at_corner(((1, 1), (1, 200)))
    assert [route.rate for route in setup.routes] == [1e6, 1e6]
    assert setup.window == round(2 * 2e6 * 0.4 / 10_000) + 10
    assert all(route.queue == 2 * setup.window for route in setup.routes)


def test_windows_are_no_longer_than_the_host_has() -> None:
    setup = sweep.at_corner(((1000, 200), (1000, 200)))
    assert setup.window * 1190 <= 1 << 26


def test_draws_are_near_the_scene_and_the_same_with_the_same_seed() -> None:
    routes = (Route(2e6, 20 * MILLISECOND, 50), Route(5e6, 20 * MILLISECOND, 50))
    drawn = list(near(routes, False, 7))
    assert drawn == list(near(routes, False, 7)) != list(near(routes, False, 8))
    assert len(drawn) == len({draw.seed for draw in drawn}) == DRAWS >= 30
    for draw in drawn:
        for route, named in zip(draw.routes, routes, strict=True):
            assert 0.95 <= route.rate / named.rate <= 1.05
            assert 0.75 <= route.delay / named.delay <= 1.25
            assert route.queue == named.queue


def test_disturbances_say_what_is_left() -> None:
    for draw in near(disturbed.ROUTES, True, 7):
        cases = disturbed.disturbances(10.0, draw)
        most, third = sum(route.rate for route in draw.routes) * 10, draw.routes[2].rate * 10
        assert cases["nothing"][1] == pytest.approx(most)
        assert most - 0.8 * third <= cases["a path dies"][1] <= most - 0.6 * third
        slower = (cases["a path degrades slowly"][1] - most) / (cases["a path dies"][1] - most)
        assert slower == pytest.approx(0.44)
        assert cases["a path dies"][1] < cases["a path flaps"][1] < most
        assert cases["both edges schedule and send"][1] < most


def test_others_come_at_drawn_times_and_the_limit_is_what_they_leave() -> None:
    for draw in near(crossed.ROUTES, True, 7):
        setup = crossed.setup(draw)
        begins = [one.begin for one in setup.cross]
        assert all(abs(at - one.begin) <= 0.5 for at, one in zip(begins, crossed.CROSS, strict=True))
        assert len({at - one.begin for at, one in zip(begins, crossed.CROSS, strict=True)}) == 3
        assert 0.75 < crossed.limit(setup) / (sum(route.rate for route in setup.routes) * 1190 / 1250) < 0.95


def test_each_connection_begins_when_it_is_drawn() -> None:
    (draw, *_) = near(sender_fairness.ROUTES, True, 7)
    beside = replace(sender_fairness.scenes(draw, 1.0)[sender_fairness.FAIR], begins=(0.0, 0.5))
    first, second = run(beside).goodputs
    assert first > 2 * second > 0


def test_each_draw_cuts_each_link_in_each_way_and_the_same_seed_draws_the_same() -> None:
    drawn = list(silence.cuts(2, 7))
    assert drawn == list(silence.cuts(2, 7)) != list(silence.cuts(2, 8))
    assert len({(cut.link, cut.way) for cut in drawn[:36]}) == 18
    assert len({(cut.moment, cut.seed) for cut in drawn}) == 2
    losers = {(cut.link, cut.way): cut.loser for cut in drawn}
    assert losers["a-p", silence.Way.DATA] == "a"
    assert losers["b-p", silence.Way.DATA] == "p"
    assert losers["b-p", silence.Way.ACKS] == "b"
    assert losers["b-p", silence.Way.BOTH] is None


def test_a_cut_is_seen_as_silence_and_leaves_the_other_paths() -> None:
    seen = silence.run(silence.Cut(Source.MARKS, "a-r", silence.Way.BOTH, 0.03, 1))
    assert seen.paths == 2
    assert 0 < seen.seconds < silence.WATCHED
    assert seen.octets > 0


def test_a_cut_costs_datagrams_that_go_by_one_path_and_none_that_go_by_two() -> None:
    (cut, *_) = redundant.cuts(1, 7)
    assert cut == next(redundant.cuts(30, 7)) != next(redundant.cuts(30, 8))
    cut = replace(cut, link="a-r", way=silence.Way.BOTH)
    once, twice = (redundant.run(policy, cut) for policy in redundant.POLICIES)
    assert once.datagrams > 0 == twice.datagrams
    assert once.seconds > twice.seconds


def test_a_point_is_compared_with_each_of_its_paths_alone() -> None:
    assert ideal.alone((4, 5, 0)) == [(4, 0, 0), (0, 5, 0)]
    assert ideal.alone((0, 5, 0)) == [(0, 5, 0)]
    assert ideal.told_point((4, 0, 10)) == "4 and 10"


def test_goals_are_judged_by_nine_draws_in_ten() -> None:
    shares = [80.0, *[95.0] * 20]
    met, missed = (Goal.of_nine_draws_in_ten("it", shares, wanted) for wanted in (95.0, 95.1))
    assert (met.met, missed.met) == (True, False)
    assert "worst: 80.00 %" in met.text


@pytest.mark.parametrize("number", [1, 255, 256, 65_536, 1_000_000])
def test_copies_are_what_would_have_been_encoded(number: int) -> None:
    schema = program()[1]

    def identities(session: int) -> Entity:
        local, remote = tables.host_address(0, 0), IPv6Address("2001:db8:b::")
        far = IPv6Address(int(remote) + session)
        return sessions.identities(
            local, far, session, 0, 1, send_timeout=0.0, keepalive=0.0, mode=SessionMode.SCHEDULE, idle=0.0
        )

    def schedule(number: int) -> Entity:
        return session_schedule(number, 5, {0: 0, 1: 1})

    for make in (identities, schedule):
        assert list(copies(schema, make, [number])) == [make(number).encode(schema)]


def test_what_arrived_is_told_from_what_other_connections_got() -> None:
    arrived = edges.Arrived()
    for flow, port, octets in ((2, 5001, 700), (3, 5002, 900)):
        arrived.take("b1", {"event": "tcp_connected", "flow": flow, "local": f"[2001:db8::1]:{port}"})
        arrived.take("b1", {"event": "rate", "flow": flow, "total_bytes": octets})
    arrived.take("a1", {"event": "rate", "flow": 2, "total_bytes": 1})
    arrived.take("b1", {"event": "rate", "flow": 9, "total_bytes": 2})
    assert arrived.octets == {5001: 700, 5002: 900}


@pytest.mark.parametrize("source", list(Source))
def test_the_sender_is_fed_from_the_source_that_is_asked_for(source: Source) -> None:
    scene = fed.drawn_scenes(6.0, 7).scenes["a delay said to be 20 to 40 ms longer"]
    assert scene.configured is not None
    sender, receiver = (edge.configuration for edge in fed.lab_with(source, scene).edges)
    assert f'source = "{source.value}"' in sender
    assert sender.count(f"delay = {scene.configured[1]}\n") == 1
    assert sender.count("delay = 0.02\n") == 2
    measured = 3 if source is Source.IOAM else 0
    assert (sender.count('trace = "1:'), sender.count('probe = "2001:')) == (measured, measured)
    assert receiver.count("delay = 0.02\n") == 3
    reports = Source.FEEDBACK if source is Source.FEEDBACK else Source.MARKS
    assert f'source = "{reports}"' in receiver


def test_a_path_that_becomes_slower_lowers_the_limit() -> None:
    draw = fed.drawn_scenes(6.0, 7)
    slower = draw.scenes["a path's bandwidth falls from 5 to 1.5 to 2.5 Mbit/s"]
    assert slower.rate is not None
    assert slower.limit == 11e6 - (5e6 - slower.rate) * (6 - draw.change) / 6


def test_each_draw_has_all_runs_through_the_edges_in_an_order_of_its_own() -> None:
    drawn = edges.drawn_runs(3, 3.0, 7)
    assert drawn == edges.drawn_runs(3, 3.0, 7) != edges.drawn_runs(3, 3.0, 8)
    assert len({tuple(run.name for run in of_draw) for of_draw in drawn}) > 1
    assert all(len({run.name for run in of_draw}) == 8 for of_draw in drawn)


def test_a_summary_counts_goals_and_names_those_missed() -> None:
    goals = {"5": [Goal("two paths", True), Goal("order", False)], "cost": [Goal("flat", True)], "live": []}
    assert summary(goals) == [
        "5: 1 of 2 goals met",
        "cost: 1 of 1 goals met",
        "live: 0 of 0 goals met",
        "5, MISSED: order",
    ]


def test_shares_are_in_percent() -> None:
    assert share(1, 4) == "25.00 %"
    assert share(1, 0) == "-"


def test_what_was_printed_replaces_what_the_page_said(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("# Page\n\n<!-- 9 -->\nold\n<!-- end of 9 -->\n\nafter\n")
    page.put("9", ["new", "lines"], file)
    once = file.read_text()
    assert once == "# Page\n\n<!-- 9 -->\n\n```text\nnew\nlines\n```\n\n<!-- end of 9 -->\n\nafter\n"
    page.put("9", ["new", "lines"], file)
    page.put("7", ["nothing"], file)
    assert file.read_text() == once


def test_the_page_has_a_place_for_each_experiment() -> None:
    text = page.PAGE.read_text()
    for name in (
        "5",
        "7",
        "table-1",
        "9",
        "disturbances",
        "feedback",
        "fed",
        "fairness",
        "policies",
        "cost",
        "live",
        "edges",
        "sweep",
    ):
        assert text.count(f"<!-- {name} -->\n") == text.count(f"<!-- end of {name} -->\n") == 1
