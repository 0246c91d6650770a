"""What acknowledgements teach a schedule: late and lost packets, closed paths, and what nobody can make it believe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from schedule_feedback import (
    CLOSING,
    DUE,
    EARLY,
    HEADERS,
    LENGTH,
    MILLISECOND,
    NOPS,
    SECOND,
    TOLERANCE,
    Make,
    kinds,
)
from schedule_site import CLOSE, FOLLOW, RST, SYN, Schedule, block
from schedule_switch import ScheduledSwitch

pytest_plugins = ["schedule_fixtures"]

SHIM6_HEADER = 8  # on packets between the edges


@pytest.mark.parametrize("over", [0, 1])
def test_a_mark_that_is_late_by_more_than_the_tolerance_closes_its_path(make: Make, over: int) -> None:
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    switch.acknowledges(DUE + TOLERANCE + over, LENGTH)
    told = [(each.kind, each.place, each.late) for each in switch.path_events()]
    assert told == ([("late", 0, TOLERANCE + 1)] if over else [])
    assert switch.data(SECOND // 2, LENGTH, LENGTH) == over


def test_an_acknowledgement_by_another_path_is_expected_later(make: Make) -> None:
    switch = make(CLOSING)
    switch.data(0, 0, LENGTH)
    switch.acknowledges(DUE + TOLERANCE + 20 * MILLISECOND, LENGTH, by=1)
    assert kinds(switch) == []


def hears_data(switch: ScheduledSwitch, packets: int, ends: int) -> int:
    """The first path brings data without a pause, and an acknowledgement may end behind it then; since when."""
    for packet in reversed(range(packets)):
        switch.acknowledges(ends - HEADERS - packet * (HEADERS + LENGTH), 0, length=LENGTH)
    return ends - HEADERS - packets * (HEADERS + LENGTH) - SHIM6_HEADER


def test_what_acknowledgements_wait_behind_the_peers_data_makes_no_path_late(make: Make) -> None:
    switch = make(replace(CLOSING, feedback=CLOSE | FOLLOW, probe_interval=1))
    switch.data(0, 0, LENGTH)
    assert hears_data(switch, 20, DUE + 20 * MILLISECOND) < DUE
    switch.acknowledges(DUE + 20 * MILLISECOND, LENGTH)
    assert [(each.kind, each.late, each.delay) for each in switch.path_events()] == [("estimated", 0, 10 * MILLISECOND)]


def test_acknowledgements_wait_no_longer_than_data_came_without_a_pause(make: Make) -> None:
    switch = make(CLOSING)
    switch.data(0, 0, LENGTH)
    began = hears_data(switch, 10, DUE + 20 * MILLISECOND)
    switch.acknowledges(DUE + 20 * MILLISECOND, LENGTH)
    assert [(each.kind, each.late) for each in switch.path_events()] == [("late", began - DUE)]


def test_a_path_that_alone_is_late_is_seen_beside_the_peers_data(make: Make) -> None:
    switch = make(replace(CLOSING, paths=EARLY))
    assert [switch.data(0, number * LENGTH, LENGTH) for number in (0, 1)] == [0, 1]
    assert switch.data(19 * MILLISECOND, 2 * LENGTH, LENGTH) == 0
    switch.acknowledges(DUE, LENGTH)
    hears_data(switch, 17, DUE + 19 * MILLISECOND)
    switch.acknowledges(DUE + 19 * MILLISECOND, LENGTH, options=NOPS + block(2 * LENGTH, 3 * LENGTH))
    hears_data(switch, 1, DUE + 20 * MILLISECOND)
    switch.acknowledges(DUE + 20 * MILLISECOND, 3 * LENGTH)
    assert [(each.kind, each.place, each.late) for each in switch.path_events()] == [("late", 1, 19 * MILLISECOND)]


def test_closing_is_a_choice(make: Make) -> None:
    switch = make(replace(CLOSING, feedback=FOLLOW))
    switch.data(0, 0, LENGTH)
    switch.acknowledges(DUE + SECOND, LENGTH)
    assert ("late", 0) not in kinds(switch)


def test_three_duplicates_close_the_path_of_what_is_missing(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    switch.acknowledges(DUE, LENGTH)
    sent = [switch.data(DUE + 1, number * LENGTH, LENGTH) for number in range(1, 6)]
    assert sent == [0] * 5
    for number in range(3):
        assert kinds(switch) == []
        switch.acknowledges(3 * DUE + number, LENGTH)
    assert kinds(switch) == [("lost", 0)]
    assert switch.data(3 * DUE + 3, LENGTH, LENGTH) == 1, "and it is sent again by another"


def test_duplicates_before_the_missing_packet_is_due_close_nothing(make: Make) -> None:
    switch = make(CLOSING)
    switch.data(0, 0, LENGTH)
    switch.data(0, LENGTH, LENGTH)
    for number in range(4):
        switch.acknowledges(DUE - 5 + number, 0)
    assert kinds(switch) == []
    switch.acknowledges(DUE, 0)
    assert kinds(switch) == [("lost", 0)]


def test_what_is_sent_again_without_duplicates_was_lost_too(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    assert switch.data(SECOND // 2, 0, LENGTH) == 1
    assert kinds(switch) == [("lost", 0)]


def test_the_answer_to_what_was_sent_twice_says_nothing(make: Make) -> None:
    switch = make(CLOSING)
    switch.data(0, 0, LENGTH)
    switch.data(1, 0, LENGTH)
    switch.acknowledges(SECOND, LENGTH)
    assert kinds(switch) == []


def test_a_mark_that_is_only_covered_is_forgotten(make: Make) -> None:
    switch = make(CLOSING)
    assert [switch.data(0, number * LENGTH, LENGTH) for number in (0, 1)] == [0, 0]
    switch.acknowledges(SECOND, 2 * LENGTH)
    assert kinds(switch) == [], "the first was the mark"
    assert switch.data(2 * SECOND, 2 * LENGTH, LENGTH) == 0
    switch.acknowledges(3 * SECOND, 3 * LENGTH)
    assert kinds(switch) == [("late", 0)], "and the next packet is one"


def test_a_missing_packet_that_comes_late_is_measured(make: Make) -> None:
    switch = make(CLOSING)
    assert [switch.data(0, number * LENGTH, LENGTH) for number in (0, 1)] == [0, 0]
    switch.acknowledges(DUE - 1, 0)
    switch.acknowledges(DUE + TOLERANCE + 7, 2 * LENGTH)
    assert [(each.kind, each.late) for each in switch.path_events()] == [("late", TOLERANCE + 7)]


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(lambda switch, time: switch.acknowledges(time, 3 * LENGTH + 1), id="beyond what was sent"),
        pytest.param(lambda switch, time: switch.acknowledges(time, -1), id="before what was acknowledged"),
        pytest.param(lambda switch, time: switch.acknowledges(time, LENGTH, port=1001), id="of another connection"),
        pytest.param(lambda switch, time: switch.acknowledges(time, LENGTH, length=1), id="with data of its own"),
        pytest.param(lambda switch, time: switch.acknowledges(time, LENGTH, flags=RST), id="without its flag"),
        pytest.param(lambda switch, time: switch.acknowledges(time, LENGTH, flags=SYN | 16), id="of a new connection"),
    ],
)
def test_forged_acknowledgements_close_nothing(make: Make, forge: Callable[[ScheduledSwitch, int], None]) -> None:
    switch = make(CLOSING)
    switch.data(0, 0, LENGTH)
    switch.acknowledges(DUE, LENGTH)
    for number in (1, 2):
        switch.data(DUE, number * LENGTH, LENGTH)
    for number in range(6):
        forge(switch, 2 * SECOND + number)
    assert kinds(switch) == []
    assert switch.data(2 * SECOND + 10, 3 * LENGTH, LENGTH) == 0


def test_duplicates_of_what_is_not_outstanding_close_nothing(make: Make) -> None:
    switch = make(CLOSING)
    switch.data(0, 0, LENGTH)
    for number in range(6):
        switch.acknowledges(DUE + number, LENGTH)
    assert switch.data(SECOND, LENGTH, LENGTH) == 0
    assert kinds(switch) == []


def test_when_all_are_closed_the_least_bad_is_used(late: ScheduledSwitch) -> None:
    closed = DUE + TOLERANCE + 1
    assert late.data(closed, LENGTH, LENGTH) == 1
    late.acknowledges(closed + SECOND // 2, 2 * LENGTH, by=1)
    assert kinds(late) == [("late", 0), ("late", 1)]
    assert late.data(closed + SECOND // 2 + 1, 2 * LENGTH, LENGTH) == 0


def test_numbers_of_a_connection_go_round(make: Make) -> None:
    switch = make(CLOSING)
    first = 2**32 - LENGTH
    assert switch.data(0, first, LENGTH) == 0
    assert switch.data(0, 0, LENGTH) == 0
    switch.acknowledges(DUE, 0)
    switch.acknowledges(DUE + 1060, LENGTH)
    assert switch.data(SECOND, LENGTH, LENGTH) == 0
    switch.acknowledges(2 * SECOND, 2 * LENGTH)
    assert kinds(switch) == [("late", 0)]


TIMESTAMPS = NOPS + bytes([8, 10]) + bytes(8)


@pytest.mark.parametrize("around", [(b"", NOPS), (NOPS, b""), (TIMESTAMPS + NOPS, b"")])
def test_what_is_acknowledged_selectively_is_measured(make: Make, around: tuple[bytes, bytes]) -> None:
    switch = make(Schedule(EARLY, feedback=FOLLOW))
    assert [switch.data(0, number * LENGTH, LENGTH) for number in (0, 1)] == [0, 1]
    before, after = around
    switch.acknowledges(DUE - 3 * MILLISECOND, 0, options=before + block(LENGTH, 2 * LENGTH) + after)
    assert [(each.place, each.late, each.delay) for each in switch.path_events()] == [
        (1, -3 * MILLISECOND, 7 * MILLISECOND)
    ]


def test_of_a_block_that_grows_the_new_part_is_measured_once(make: Make) -> None:
    switch = make(Schedule(EARLY, feedback=CLOSE))
    assert [switch.data(0, number * LENGTH, LENGTH) for number in range(4)] == [0, 1, 0, 1]
    switch.acknowledges(DUE, 0, options=NOPS + block(LENGTH, 2 * LENGTH))
    assert kinds(switch) == []
    for _ in range(2):
        switch.acknowledges(2 * DUE, 0, options=NOPS + block(LENGTH, 3 * LENGTH))
    assert kinds(switch) == [("late", 0)]


def test_while_what_was_sent_again_is_under_way_blocks_say_nothing(make: Make) -> None:
    switch = make(Schedule(EARLY, feedback=CLOSE))
    assert [switch.data(0, number * LENGTH, LENGTH) for number in range(3)] == [0, 1, 0]
    switch.data(SECOND, 0, LENGTH)
    switch.path_events()
    # The receiver has held this one since long ago: what made it answer is what came again.
    switch.acknowledges(SECOND + DUE, 0, options=NOPS + block(LENGTH, 2 * LENGTH))
    assert kinds(switch) == []


@pytest.mark.parametrize("begins", [0, 1, LENGTH // 2, 2 * LENGTH])
def test_a_block_that_is_no_packet_says_nothing(make: Make, begins: int) -> None:
    switch = make(Schedule(EARLY, feedback=CLOSE))
    assert [switch.data(0, number * LENGTH, LENGTH) for number in (0, 1)] == [0, 1]
    switch.acknowledges(SECOND, 0, options=NOPS + block(begins, 2 * LENGTH))
    assert kinds(switch) == []


def test_what_is_sent_again_goes_by_another_path_while_one_is_open(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    assert switch.data(1, 0, LENGTH) == 1, "not due yet, so nothing is closed"
    assert kinds(switch) == []
    assert switch.data(SECOND, LENGTH, LENGTH) == 0
    assert switch.data(2 * SECOND, LENGTH, LENGTH) == 1


def test_what_is_sent_again_goes_by_its_path_when_all_others_are_closed(late: ScheduledSwitch) -> None:
    closed = DUE + TOLERANCE + 1
    assert late.data(closed + 1, LENGTH, LENGTH) == 1
    assert late.data(closed + 2, LENGTH, LENGTH) == 1
