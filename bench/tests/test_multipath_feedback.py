"""Scenes of edges that tell each other what came: what a draw asks for, what is counted, and a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.multipath import feedback
from bench.multipath.disturbed import ROUTES
from bench.multipath.draws import near
from bench.multipath.feedback_octets import FeedbackOctets
from bench.multipath.measured_scene import Seen, run
from bench.multipath.path import Route
from bench.multipath.scenes import CUT_LINKS, QUICK, WARM_UP, Lengths, Row, Scene, scenes
from bench.multipath.whole_edges import SECOND_LINK, WholeEdges
from wayname_lab.virtual.clock import MILLISECOND

IPV6, SHIM6, ESP, NOTHING = 41, 140, 50, 59


def drawn(seed: int = 7, number: int = 0, lengths: Lengths = QUICK) -> dict[Row, list[Scene]]:
    """The scenes of a draw, by row."""
    (draw, *_) = near(ROUTES, True, seed)
    found: dict[Row, list[Scene]] = {}
    for scene in scenes(draw, number, lengths):
        found.setdefault(scene.row, []).append(scene)
    return found


def framed(inner: int, behind: bytes, option: int = 0x1E, option_octets: int = 12) -> bytes:
    """A packet with a destination option, and what follows it."""
    options = bytes([inner, (4 + option_octets) // 8 - 1, option, option_octets]) + bytes(option_octets)
    length = len(options + behind).to_bytes(2)
    return bytes(12) + b"\x86\xdd" + b"\x60\0\0\0" + length + bytes([60, 64]) + bytes(32) + options + behind


def test_the_same_seed_draws_the_same_scenes() -> None:
    assert drawn() == drawn() != drawn(8)
    assert drawn().keys() == set(Row) - {Row.BACKWARD}


def test_each_draw_cuts_each_link_once_and_three_draws_in_each_way() -> None:
    cut = [scene for number in range(3) for row in feedback.CUT for scene in drawn(7, number).get(row, [])]
    told = {(scene.row, scene.disturbances.cuts[0].link) for scene in cut}
    assert len(cut) == len(told) == 3 * len(CUT_LINKS)
    losers = {(scene.row, scene.disturbances.cuts[0].link): scene.disturbances.cuts[0].loser for scene in cut}
    assert losers[Row.LOSES_DATA, "a-p"] == "a"
    assert losers[Row.LOSES_DATA, "b-p"] == "p"
    assert losers[Row.LOSES_ACKS, "b-p"] == "b"
    assert losers[Row.DIES, "b-p"] is None


def test_a_limit_is_what_is_left() -> None:
    found = drawn(lengths=Lengths())
    [plain], [halved], [lossy], [longer] = (found[row] for row in (Row.THREE, Row.HALVED, Row.LOSS_5, Row.SOONER))
    total = sum(route.rate for route in plain.routes)
    ((at, number, route),) = halved.disturbances.changes
    here = halved.routes[number].rate
    left = 1 - (at - WARM_UP) / halved.seconds
    assert plain.limit == total
    assert halved.limit == pytest.approx(total - here / 2 * left)
    assert lossy.limit == pytest.approx(total - 0.05 * here * left)
    assert route.rate == here / 2
    assert longer.limit == total
    assert all(0 < scene.limit < total for row in (Row.CROSS, Row.FLAPS, Row.DIES) for scene in found[row])
    assert all(scene.limit == total for scene in found[Row.LOSES_ACKS])
    # Half of the time at most, or less if it is the shorter path.
    [flapping] = found[Row.FLAPS]
    begins = [cut.begin for cut in flapping.disturbances.cuts]
    assert 0.2 <= (begins[1] - begins[0] if len(begins) > 1 else 10.0) <= 10.0


def test_delays_leave_room_for_the_second_link() -> None:
    routes = [route for of_row in drawn().values() for scene in of_row for route in scene.routes]
    routes += [then for of_row in drawn().values() for scene in of_row for _, _, then in scene.disturbances.changes]
    assert all(route.delay > SECOND_LINK for route in routes)


def test_what_edges_tell_is_told_from_what_hosts_send() -> None:
    octets = FeedbackOctets()
    octets.note(bytes(12) + b"\x86\xdd" + b"\x60\0\0\0" + (20).to_bytes(2) + bytes([6, 64]) + bytes(32 + 20))
    octets.note(framed(SHIM6, bytes([6, 0]) + bytes(6) + bytes(100)))
    octets.note(framed(SHIM6, bytes([6, 0]) + bytes(6), option=0x05))
    assert (octets.numbers, octets.reports, octets.packets) == (16, 0, 0)
    octets.note(framed(SHIM6, bytes([NOTHING, 0]) + bytes(6)))
    octets.note(framed(ESP, bytes(8)))
    octets.note(framed(ESP, bytes(100)))
    assert (octets.numbers, octets.reports, octets.packets) == (32, 0, 64 + 64)
    octets.note(framed(SHIM6, bytes([6, 0]) + bytes(6), option_octets=20))
    assert (octets.numbers, octets.reports) == (40, 16)
    assert octets.share_of_numbers == pytest.approx(100 * 40 / octets.all)
    assert octets.share_of_reports == pytest.approx(100 * (16 + 128) / octets.all)
    assert octets.all == 60 + 164 + 64 + 64 + 64 + 156 + 72


def test_two_paths_carry_what_one_with_their_rates_does() -> None:
    (two,), (as_one,) = (drawn()[row] for row in (Row.TWO, Row.TWO_AS_ONE))
    short = replace(two, seconds=1.5)
    apart, together = run(short), run(replace(as_one, seconds=1.5))
    assert apart.bits > 0.98 * together.bits > 0
    assert apart.goodput > 85
    assert apart.reordered == 0
    assert 1 < apart.numbers < 2
    assert 0 < apart.reports < 1.5
    assert (together.numbers, together.reports) == (0, 0)
    assert run(short) == apart


def test_a_path_that_dies_is_left() -> None:
    (scene, *_) = drawn()[Row.DIES]
    seen = run(replace(scene, seconds=2.0))
    assert seen.silence > 0
    alone = sum(route.rate for route in scene.routes[1:]) / scene.limit * 100
    assert seen.goodput > 0.6 * alone


def test_paths_that_carry_nothing_are_no_scene() -> None:
    routes = [Route(4e6, 20 * MILLISECOND), Route(5e6, 20 * MILLISECOND, loss=1.0)]
    with pytest.raises(ValueError, match="2 were to be taken by each"):
        WholeEdges(routes, 1)


def test_goals_say_what_was_met() -> None:
    best = Seen(100.0, 100.0, 100.0, 1e7, 0, 0, 150.0, 0.5, 0.3, 0.9)
    runs = {row: [best] * 3 for row in Row}
    shares = {row: [100.0] * 3 for row in Row}
    goals = list(feedback.goals(runs, shares))
    assert all(goal.met for goal in goals)
    silent = runs | {Row.DIES: [best, best, replace(best, silence=201.0)]}
    assert [goal.text.split(":")[0] for goal in feedback.goals(silent, shares) if not goal.met] == ["a path dies"]
    fewer = shares | {Row.UDP: [96.0] * 3, Row.CROSS: [94.0] * 3}
    missed = [goal.text for goal in feedback.goals(runs, fewer) if not goal.met]
    assert [text.split(":")[0] for text in missed] == ["Table II", "UDP"]
