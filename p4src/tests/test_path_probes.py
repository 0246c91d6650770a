"""A closed path is probed by copies, more and more seldom while it is silent, and opens when one is in time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedule_feedback import (
    CLOSING,
    DUE,
    HEADERS,
    LENGTH,
    MILLISECOND,
    OCTET,
    OTHER_DUE,
    SECOND,
    TOLERANCE,
    Make,
    all_copies_of,
    kinds,
    probes_of,
)
from schedule_site import CLOSE, FOLLOW, PathOf
from schedule_switch import ScheduledSwitch

pytest_plugins = ["schedule_fixtures"]


def test_a_closed_path_gets_one_new_packet_an_interval_and_opens_when_it_is_in_time(late: ScheduledSwitch) -> None:
    closed = DUE + TOLERANCE + 1
    assert late.data(closed + SECOND - 1, LENGTH, LENGTH) == 1
    assert late.data(closed + SECOND, LENGTH, LENGTH) == 1, "sent again: no probe"
    assert late.sends_octets(closed + SECOND, 500) == 1, "no answer to be expected: no probe"
    assert late.probes(closed + SECOND, 2 * LENGTH, LENGTH) == [1, 0]
    assert late.data(closed + SECOND + 1, 3 * LENGTH, LENGTH) == 1
    late.path_events()
    late.acknowledges(closed + SECOND + 2, 2 * LENGTH)
    late.acknowledges(closed + SECOND + OTHER_DUE, 3 * LENGTH)
    assert late.path_events() == [], "one of both came"
    late.comes_twice(closed + SECOND + OTHER_DUE + TOLERANCE, 3 * LENGTH, 2 * LENGTH, LENGTH)
    assert kinds(late) == [("opened", 0)]
    assert late.data(closed + 2 * SECOND, 4 * LENGTH, LENGTH) == 0


def test_a_late_probe_opens_nothing(late: ScheduledSwitch) -> None:
    closed = DUE + TOLERANCE + 1
    assert late.probes(closed + SECOND, LENGTH, LENGTH) == [1, 0]
    late.path_events()
    late.comes_twice(closed + SECOND + OTHER_DUE + TOLERANCE + 1, 2 * LENGTH, LENGTH, LENGTH)
    assert kinds(late) == []
    assert late.data(closed + 2 * SECOND - 1, 2 * LENGTH, LENGTH) == 1
    assert late.probes(closed + 2 * SECOND, 3 * LENGTH, LENGTH) == [1, 0], "the next probe"


@pytest.mark.parametrize(
    ("begins", "length", "port"), [(0, LENGTH, 1000), (LENGTH, LENGTH + 1, 1000), (LENGTH, LENGTH, 1001)]
)
def test_what_was_no_copy_and_came_twice_opens_nothing(
    late: ScheduledSwitch, begins: int, length: int, port: int
) -> None:
    closed = DUE + TOLERANCE + 1
    assert late.probes(closed + SECOND, LENGTH, LENGTH) == [1, 0]
    late.path_events()
    late.comes_twice(closed + SECOND + OTHER_DUE, 3 * LENGTH, begins, length, port)
    assert kinds(late) == []


def test_a_copy_that_came_later_than_its_packet_is_measured(late: ScheduledSwitch) -> None:
    """The closed path is said to be slower by 80 ms now, and is by 82."""
    closed = DUE + TOLERANCE + 1
    slower = PathOf(90 * MILLISECOND, OCTET)
    late.reschedule(replace(CLOSING, paths=[slower, CLOSING.paths[1]], feedback=CLOSE | FOLLOW))
    assert late.probes(closed + SECOND, LENGTH, LENGTH) == [1, 0]
    late.path_events()
    # Acknowledgements take as long to come back by it.
    late.comes_twice(closed + SECOND + DUE + 162 * MILLISECOND, 2 * LENGTH, LENGTH, LENGTH)
    (opened,) = [each for each in late.path_events() if each.kind == "opened"]
    assert (opened.late, opened.delay) == (2 * MILLISECOND, 92 * MILLISECOND)


def test_each_closed_path_gets_a_copy_of_its_own(make: Make) -> None:
    paths = [PathOf(delay * MILLISECOND, OCTET) for delay in (10, 11, 30)]
    switch = make(replace(CLOSING, paths=paths))
    assert [switch.data(0, number * LENGTH, LENGTH) for number in (0, 1)] == [0, 1]
    for number in (1, 2):
        switch.acknowledges(SECOND // 2 + number, number * LENGTH)
    assert kinds(switch) == [("late", 0), ("late", 1)]
    assert [switch.probes(2 * SECOND, number * LENGTH, LENGTH) for number in (2, 3, 4)] == [[2, 0], [2, 1], [2]]


def test_what_is_not_tcp_goes_by_open_paths_until_nothing_has_been_there_to_probe_with(late: ScheduledSwitch) -> None:
    closed = DUE + TOLERANCE + 1
    assert late.sends_octets(closed + 9 * SECOND - 1, 500) == 1
    assert late.sends_octets(closed + 9 * SECOND, 500) == 0


def test_after_a_loss_the_first_probe_is_not_long_in_coming(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    assert switch.data(SECOND, 0, LENGTH) == 1
    assert kinds(switch) == [("lost", 0)]
    assert switch.data(SECOND + TOLERANCE - 1, LENGTH, LENGTH) == 1
    assert switch.probes(SECOND + TOLERANCE, 2 * LENGTH, LENGTH) == [1, 0]
    assert switch.data(SECOND + TOLERANCE + 1, 3 * LENGTH, LENGTH) == 1


def test_a_receiver_that_tells_of_nothing_that_came_twice_is_probed_with_data_in_the_end(
    silent: ScheduledSwitch,
) -> None:
    due, number = all_copies_of(silent)
    assert silent.data(due, number * LENGTH, LENGTH) == 0
    silent.acknowledges(due + DUE - 1, number * LENGTH)
    silent.acknowledges(due + DUE, (number + 1) * LENGTH)
    assert kinds(silent) == [("opened", 0)]


def test_a_path_that_is_silent_after_a_loss_is_probed_half_as_often_each_time(silent: ScheduledSwitch) -> None:
    pauses = [SECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND, 8 * SECOND]
    probes_of(silent, SECOND + TOLERANCE, 2, pauses)


def test_an_answer_that_is_late_ends_the_silence(silent: ScheduledSwitch) -> None:
    first = SECOND + TOLERANCE
    number = probes_of(silent, first, 2, [SECOND, 2 * SECOND])
    answered = first + 3 * SECOND + OTHER_DUE + TOLERANCE + HEADERS + LENGTH
    silent.comes_twice(answered, number * LENGTH, (number - 1) * LENGTH, LENGTH)
    assert kinds(silent) == []
    probes_of(silent, first + 7 * SECOND, number, [SECOND, SECOND])


def test_after_a_path_has_opened_probes_begin_anew(silent: ScheduledSwitch) -> None:
    first = SECOND + TOLERANCE
    number = probes_of(silent, first, 2, [SECOND, 2 * SECOND])
    silent.comes_twice(first + 3 * SECOND + OTHER_DUE, number * LENGTH, (number - 1) * LENGTH, LENGTH)
    assert kinds(silent) == [("opened", 0)]
    lost = first + 8 * SECOND
    assert silent.data(lost - SECOND, number * LENGTH, LENGTH) == 0
    assert silent.data(lost, number * LENGTH, LENGTH) == 1
    probes_of(silent, lost + TOLERANCE, number + 1, [SECOND, 2 * SECOND])


@pytest.fixture
def dead(make: Make) -> ScheduledSwitch:
    """Both paths have brought something, the second since a loss closed the first."""
    switch = make(CLOSING)
    switch.data(0, 0, LENGTH)
    switch.acknowledges(DUE, 0, by=0, length=LENGTH)
    assert switch.data(SECOND, 0, LENGTH) == 1
    assert kinds(switch) == [("lost", 0)]
    switch.acknowledges(2 * SECOND, 0, by=1, length=LENGTH)
    return switch


def test_a_silent_path_that_brings_nothing_while_others_do_is_not_probed_for_eight_intervals(
    dead: ScheduledSwitch,
) -> None:
    assert dead.data(DUE + 8 * SECOND - 1, LENGTH, LENGTH) == 1
    assert dead.probes(DUE + 8 * SECOND, 2 * LENGTH, LENGTH) == [1, 0]


def test_a_silent_path_that_brings_something_is_probed(dead: ScheduledSwitch) -> None:
    assert dead.data(2 * SECOND, LENGTH, LENGTH) == 1
    dead.acknowledges(2 * SECOND, 0, by=0, length=LENGTH)
    assert dead.probes(2 * SECOND + 1, 2 * LENGTH, LENGTH) == [1, 0]
