"""Duplicate acknowledgements wait while what is missing may only be late, and pass when it is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedule_feedback import (
    CLOSING,
    DUE,
    EARLY,
    LENGTH,
    MILLISECOND,
    NOPS,
    SECOND,
    TOLERANCE,
    Make,
    all_copies_of,
    kinds,
    probes_of,
)
from schedule_site import CLOSE, HOLD, Schedule, block
from schedule_switch import ScheduledSwitch

pytest_plugins = ["schedule_fixtures"]

HOLDING = replace(CLOSING, feedback=CLOSE | HOLD, hold=5 * MILLISECOND)


def test_duplicates_are_held_back_while_what_is_missing_may_only_be_late(make: Make) -> None:
    switch = make(HOLDING)
    assert switch.data(0, 0, LENGTH) == 0
    switch.acknowledges(DUE, LENGTH)
    for number in range(1, 20):
        switch.data(DUE, number * LENGTH, LENGTH)
    for number in range(2):
        switch.acknowledges(DUE + number, LENGTH)
    for time in (2, HOLDING.hold - 1):
        switch.acknowledges(DUE + time, LENGTH, held=True)
    switch.acknowledges(DUE + HOLDING.hold, LENGTH)
    assert kinds(switch) == []


def two_paths_held_back(switch: ScheduledSwitch) -> None:
    """Packet 1, by the second path, is missing; two duplicates have passed."""
    sent = [switch.data(0, number * LENGTH, LENGTH) for number in range(20)]
    assert sent == [0, 1] * 10
    switch.acknowledges(DUE, LENGTH)
    switch.acknowledges(DUE + 1, LENGTH, options=NOPS + block(2 * LENGTH, 3 * LENGTH))
    switch.acknowledges(DUE + 2, LENGTH, options=NOPS + block(4 * LENGTH, 5 * LENGTH))


def test_duplicates_pass_once_what_was_sent_later_by_the_same_path_has_come(make: Make) -> None:
    switch = make(Schedule(EARLY, feedback=CLOSE | HOLD, hold=SECOND, tolerance=SECOND))
    two_paths_held_back(switch)
    switch.acknowledges(DUE + 3, LENGTH, options=NOPS + block(6 * LENGTH, 7 * LENGTH), held=True)
    assert kinds(switch) == []
    switch.acknowledges(DUE + 4, LENGTH, options=NOPS + block(6 * LENGTH, 8 * LENGTH))
    assert kinds(switch) == [("lost", 1)]


def test_the_last_duplicates_pass_since_none_may_follow(make: Make) -> None:
    switch = make(Schedule(EARLY, feedback=CLOSE | HOLD, hold=SECOND, tolerance=SECOND))
    two_paths_held_back(switch)
    held = [number < 17 for number in range(3, 19)]
    for number, expected in zip(range(3, 19), held, strict=True):
        switch.acknowledges(DUE + number, LENGTH, held=expected)
    assert kinds(switch) == []


@pytest.mark.parametrize("ends", [0, 1])
def test_a_block_of_what_came_twice_is_no_duplicate(make: Make, ends: int) -> None:
    switch = make(Schedule(EARLY, feedback=CLOSE | HOLD, hold=SECOND, tolerance=SECOND))
    two_paths_held_back(switch)
    switch.acknowledges(DUE + 3, LENGTH, options=NOPS + block(0, LENGTH + ends), held=bool(ends))
    for number in range(4, 18 - ends):
        switch.acknowledges(DUE + number, LENGTH, held=True)
    switch.acknowledges(DUE + 18, LENGTH)


def test_duplicates_pass_at_once_if_an_overdue_probe_of_a_silent_path_is_missing(silent: ScheduledSwitch) -> None:
    first, number = all_copies_of(silent)
    assert silent.data(first, number * LENGTH, LENGTH) == 0, "no answer comes to copies"
    number += 1
    for later in range(20):
        assert silent.data(first, (number + later) * LENGTH, LENGTH) == 1
    wanted = (number - 1) * LENGTH
    silent.acknowledges(first + DUE - 4, wanted)
    for before in (-3, -2):
        silent.acknowledges(first + DUE + before, wanted)
    silent.acknowledges(first + DUE - 1, wanted, held=True)
    silent.acknowledges(first + DUE, wanted)


def test_duplicates_are_held_back_if_a_silent_path_may_only_be_slow(make: Make) -> None:
    switch = make(replace(CLOSING, feedback=CLOSE | HOLD, hold=60 * SECOND))
    assert [switch.data(0, number * LENGTH, LENGTH) for number in (0, 1)] == [0, 0]
    assert switch.data(SECOND, 0, LENGTH) == 1
    assert kinds(switch) == [("lost", 0)]
    for later in range(2, 22):
        assert switch.data(SECOND, later * LENGTH, LENGTH) == 1
    switch.acknowledges(SECOND + DUE, LENGTH)
    for number in range(5):
        switch.acknowledges(SECOND + DUE + 1 + number, LENGTH, held=number >= 2)


def test_duplicates_are_held_back_if_a_probe_of_a_late_path_is_overdue(make: Make) -> None:
    switch = make(replace(CLOSING, feedback=CLOSE | HOLD, hold=60 * SECOND))
    switch.data(0, 0, LENGTH)
    switch.acknowledges(DUE + TOLERANCE + 1, LENGTH)
    assert kinds(switch) == [("late", 0)]
    probe = DUE + TOLERANCE + 1 + SECOND
    number = probes_of(switch, probe, 1, [SECOND] * 7)
    probe += 8 * SECOND
    assert switch.data(probe, number * LENGTH, LENGTH) == 0
    for later in range(1, 21):
        assert switch.data(probe, (number + later) * LENGTH, LENGTH) == 1
    switch.acknowledges(probe + DUE - 1, number * LENGTH)
    for duplicate in range(5):
        switch.acknowledges(probe + DUE + duplicate, number * LENGTH, held=duplicate >= 2)


def test_a_loss_closes_its_path_when_its_duplicates_pass(make: Make) -> None:
    switch = make(HOLDING)
    switch.data(0, 0, LENGTH)
    for number in range(3):
        switch.acknowledges(DUE + number, 0)
    assert kinds(switch) == [("lost", 0)], "nothing was acknowledged for longer than that"


def test_what_is_no_duplicate_is_never_held_back(make: Make) -> None:
    switch = make(HOLDING)
    for number in range(4):
        switch.data(0, number * LENGTH, LENGTH)
    switch.acknowledges(DUE, LENGTH)
    for number in range(4):
        switch.acknowledges(DUE + number, LENGTH, length=10)
    for number in range(4):
        switch.acknowledges(DUE + 4 + number, LENGTH, port=1001)
