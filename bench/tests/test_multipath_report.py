"""What is made of runs over several paths: points of the sweep, entries by the million, summaries, the page."""

from __future__ import annotations

import random
from ipaddress import IPv6Address
from pathlib import Path

import pytest

from bench.multipath import disturbed, edges, fed, ideal, page, silence, sweep, tables
from bench.multipath.copies import copies
from bench.multipath.network import program
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


def test_disturbances_say_what_is_left() -> None:
    cases = disturbed.disturbances(10.0, 1)
    assert cases["nothing"][1] == pytest.approx(110e6)
    assert cases["a path dies"][1] == pytest.approx(60e6 + 15e6)
    assert cases["a path degrades slowly"][1] == pytest.approx(110e6 - 35e6 * 0.44)
    assert 75e6 < cases["a path flaps"][1] < 110e6
    assert cases["both edges schedule and send"][1] < 110e6


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
    seen = silence.run(silence.Cut(silence.SOURCES[0], "a-r", silence.Way.BOTH, 0.03, 1))
    assert seen.paths == 2
    assert 0 < seen.seconds < silence.WATCHED
    assert seen.octets > 0


def test_paths_of_rate_nought_are_not_there() -> None:
    none = ideal.Ideal(quick=True, seed=1)
    assert none.over(0, 0) is None
    assert none.goodput(0) == none.steady_goodput(0) == none.alone(0, 0) == 0.0


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
    scene = fed.scenes(6.0)["a delay said to be 30 ms longer"]
    sender, receiver = (edge.configuration for edge in fed.lab_with(source, scene).edges)
    assert f'source = "{source.value}"' in sender
    assert sender.count("delay = 0.05\n") == 1
    assert sender.count("delay = 0.02\n") == 2
    measured = 3 if source is Source.IOAM else 0
    assert (sender.count('trace = "1:'), sender.count('probe = "2001:')) == (measured, measured)
    assert receiver.count("delay = 0.02\n") == 3


def test_a_path_that_becomes_slower_lowers_the_limit() -> None:
    assert fed.scenes(6.0)["a path's bandwidth falls from 5 to 2 Mbit/s"].limit == 11e6 - 3e6 * 5 / 6


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
        "fed",
        "fairness",
        "policies",
        "cost",
        "live",
        "edges",
        "sweep",
    ):
        assert text.count(f"<!-- {name} -->\n") == text.count(f"<!-- end of {name} -->\n") == 1
