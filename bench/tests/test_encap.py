"""What is measured of encapsulation, and how steps and ratios are judged."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.encap.goals import (
    Cost,
    Goal,
    kernel_goals,
    largest_steps,
    lengths_goal,
    memory_goal,
    ports_goal,
    price_of_octet,
    ratio_goal,
    steps,
    steps_goal,
    summary,
)
from bench.encap.measure import InMemory, Lossless, OnRoad
from bench.encap.points import (
    MARK,
    MODES,
    PAYLOAD_OCTETS,
    PLAIN,
    Point,
    all_points,
    hops,
    main_points,
    site_entries,
    written,
)
from bench.encap.report import Roads, goals, parts, table
from bench.spread import Spread

TRACE, INLINE = MODES[0], MODES[2]
SEED = 5


def of(value: float) -> Spread:
    """What draws came to that were all alike."""
    return Spread.of([value])


def curve(*ns: float, octets: int = 16) -> dict[Point, Cost]:
    return {Point(INLINE, size): Cost(100 + octets * size, time) for size, time in enumerate(ns, 1)}


def test_every_size_of_the_paper_is_measured() -> None:
    sizes = Counter(point.mode.name for point in all_points() if point.mode)
    assert (sizes["trace inline"], sizes["trace tunnel"]) == (61, 61)
    assert {sizes[mode.name] for mode in MODES if mode.panel != "a"} == {36}
    assert TRACE.sizes[-1] == 244
    assert len({point.name for point in all_points()}) == len({point.prefix for point in all_points()})


def test_a_quick_run_has_every_mode_and_the_sizes_of_the_goals() -> None:
    points = main_points()
    assert {point.mode for point in points} == {None, *MODES}
    assert {Point(mode, 3) for mode in MODES[2:7]} < set(points) < set(all_points())
    assert len(points) == 19


def test_the_parts_of_a_packets_time_are_printed() -> None:
    plain = Point(None, 0)
    floods = {
        "switch": {plain: OnRoad(118, of(500_000), 3_000, [1_800]), Point(INLINE, 3): OnRoad(174, of(1), 1, [1])},
        "kernel": {plain: OnRoad(118, of(800_000), 1_250, [0])},
        "ports": {plain: OnRoad(118, of(600_000), 2_500, [900])},
    }
    printed = parts({plain: InMemory(118, of(650), 650)}, Roads(floods, {"switch": {}})).splitlines()[1:]
    assert [" ".join(line.split()) for line in printed] == [
        "ports alone, no pipeline 600 k/s 2500 ns 900 ns 1.50",
        "switch 500 k/s 3000 ns 1800 ns 1.50",
        "kernel 800 k/s 1250 ns 0 ns 1.00",
        "pipeline alone, in memory 1538 k/s 650 ns 1.00",
    ]


def test_steps_are_judged_only_between_neighbours() -> None:
    memory = {Point(INLINE, size): InMemory(100, of(500), 500) for size in (3, 36)}
    assert not [goal for goal in goals(memory, None, steps=False) if "step" in goal.what]
    assert [goal for goal in goals(memory, None, steps=True) if "step" in goal.what]


def test_packets_carry_the_mark_and_meet_their_prefix() -> None:
    for line in written([Point(None, 0), Point(INLINE, 3)], SEED).splitlines():
        name, packet = line.split("\t")
        octets = bytes.fromhex(packet)
        assert name in (PLAIN, "inline 3")
        assert len(octets) == 14 + 40 + PAYLOAD_OCTETS
        assert octets.endswith(MARK)


def test_a_seed_draws_the_same_packets_and_hops_again_and_another_seed_others() -> None:
    points = [Point(None, 0), Point(MODES[-1], 36)]
    assert written(points, SEED) == written(points, SEED)
    assert written(points, SEED) != written(points, SEED + 1)
    assert hops(36, SEED) == hops(36, SEED)
    assert len(set(hops(36, SEED))) == 36
    assert not set(hops(36, SEED)) & set(hops(36, SEED + 1))


def test_the_table_tells_the_spread() -> None:
    plain = Point(None, 0)
    road = OnRoad(118, Spread(30, 500_000, 450_000, 520_000, 530_000, 300_000), 3_000, [1_800])
    rate = Lossless(Spread(30, 400_000, 390_000, 410_000, 420_000, 200_000))
    told = table(
        dict.fromkeys(main_points(), InMemory(118, Spread(30, 650, 640, 660, 700, 900), 650)),
        Roads({"switch": dict.fromkeys(main_points(), road)}, {"switch": {plain: rate}}),
        steps=False,
    )
    [row] = [" ".join(line.split()) for line in told.splitlines() if line.startswith(PLAIN)]
    assert row == ("plain 118 1.54 M/s 650 ns 640 660 900 500 k/s 1800 ns 450 520 300 400.0 k/s 390 410 200")


@pytest.mark.parametrize(
    ("size", "action", "lists"),
    [(1, "push_segments_1", 0), (4, "push_segments_4", 0), (5, "push_segments_1", 1), (36, "push_segments_4", 8)],
)
def test_a_policy_is_a_first_list_and_fours(size: int, action: str, lists: int) -> None:
    entries = list(site_entries([Point(INLINE, size)], SEED))
    [policy] = [entry for entry in entries if entry.table == "sr_policies"]
    assert (policy.action, policy.parameters["extensions"]) == (action, lists)
    assert sum(entry.table.startswith("segment_list_extension_") for entry in entries) == lists


def test_one_cliff_does_not_make_octets_dear() -> None:
    assert price_of_octet(list(curve(500, 516, 532, 900, 916, 932, 948).values())) == pytest.approx(1.0)


def test_octets_that_seem_to_save_time_are_free() -> None:
    assert price_of_octet(list(curve(500, 490, 480).values())) == 0


def test_a_step_is_what_octets_do_not_explain() -> None:
    found = steps(curve(500, 516, 532, 600, 616, 632, 648))
    assert [round(step.loss, 3) for step in found] == [0, 0, round(52 / 600, 3), 0, 0, 0]
    goal = steps_goal("here", largest_steps(curve(500, 516, 532, 600, 616, 632, 648), MODES))
    assert not goal.met
    assert goal.found == "largest 8.7 % from inline 3 to 4; too large in 1 modes"


def test_a_straight_curve_meets_the_goal() -> None:
    goal = steps_goal("here", largest_steps(curve(500, 516, 532, 548), MODES))
    assert goal.met
    assert goal.found == "largest 0.0 % from inline 1 to 2"


def test_a_ratio_is_judged_where_it_is_worst() -> None:
    one, two, three = (Point(INLINE, size) for size in (1, 2, 3))
    goal = ratio_goal("fast", {one: 10.0, two: 30.0, three: 1.0}, {one: 5.0, two: 40.0}, 1.0)
    assert (goal.met, goal.found) == (False, "0.75 to 2.00 times, least at inline 2; below at 1 of 2")
    assert ratio_goal("fast", {one: 10.0}, {one: 10.0}, 1.0).met


def test_the_slowest_mode_decides_in_memory() -> None:
    rates = {Point(mode, 3): 2e6 for mode in MODES[2:7]} | {Point(None, 0): 1.0, Point(INLINE, 36): 1.0}
    assert memory_goal(rates).met
    assert not memory_goal(rates | {Point(MODES[5], 3): 0.9e6}).met


def test_unlike_frames_are_told() -> None:
    one = Point(INLINE, 1)
    assert lengths_goal({one: 158}, {one: 158}).met
    assert lengths_goal({one: 158}, {one: 150}).found == "0 of 1 points, not inline 1"


def test_the_kernels_rate_is_wanted_with_three_segments_and_everywhere() -> None:
    three, many = Point(INLINE, 3), Point(INLINE, 36)
    everywhere, of_three = kernel_goals({three: 10.0, many: 5.0}, {three: 9.0, many: 9.0})
    assert (everywhere.met, of_three.met) == (False, True)
    assert "3 segments" in of_three.what
    assert len(kernel_goals({many: 5.0}, {many: 9.0})) == 1


def test_the_switch_is_judged_by_what_it_takes_more_than_its_ports_in_each_draw() -> None:
    goal = ports_goal([900, 1_900, 950], [700, 1_600, 750])
    assert goal.met
    assert goal.found == "200 ns above (10 %: 200, 90 %: 280, worst: 300)"
    assert not ports_goal([1_001], [750]).met


def test_goals_that_are_missed_are_listed_at_the_end() -> None:
    goals = [Goal("fast", "1.00", True), Goal("small", "9 octets", False)]
    assert [str(goal) for goal in goals] == ["met: fast: 1.00", "MISSED: small: 9 octets"]
    assert summary(goals) == ["1 of 2 goals met", "MISSED: small: 9 octets"]
