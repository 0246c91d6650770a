"""What TCP's acknowledgements teach a schedule: marks, closed paths, probes, and what nobody can make it believe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from schedule_links import Link, Transfer
from schedule_site import CLOSE, FOLLOW, HOLD, RST, SYN, PathOf, Schedule, block, inverse_rate
from schedule_switch import ScheduledSwitch

MILLISECOND, SECOND, MBIT = 1_000, 1_000_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
LENGTH = 1_000
HEADERS = 60
SHIM6_HEADER = 8  # on packets between the edges
# The first path delivers a segment of 1000 octets in 11060 us, and acknowledgements come back by it in 10000.
DUE = 10 * MILLISECOND + HEADERS + LENGTH + 10 * MILLISECOND
# The second one by 20 ms later.
OTHER_DUE = DUE + 20 * MILLISECOND
TOLERANCE = 5 * MILLISECOND
CLOSING = Schedule(
    [PathOf(10 * MILLISECOND, OCTET), PathOf(30 * MILLISECOND, OCTET)],
    feedback=CLOSE,
    tolerance=TOLERANCE,
    probe_interval=SECOND,
)
Make = Callable[[Schedule], ScheduledSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: ScheduledSwitch(schedule, backend=request.param)


@pytest.fixture
def late(make: Make) -> ScheduledSwitch:
    """Its first path is closed since DUE + TOLERANCE + 1, all 1000 octets of it acknowledged."""
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    switch.acknowledges(DUE + TOLERANCE + 1, LENGTH)
    return switch


def kinds(switch: ScheduledSwitch) -> list[tuple[str, int]]:
    return [(each.kind, each.place) for each in switch.path_events()]


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


NOPS = bytes([1, 1])
TIMESTAMPS = NOPS + bytes([8, 10]) + bytes(8)
EARLY = [PathOf(10 * MILLISECOND, OCTET), PathOf(10 * MILLISECOND, OCTET)]


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


def test_after_a_loss_the_first_probe_is_not_long_in_coming(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    assert switch.data(SECOND, 0, LENGTH) == 1
    assert kinds(switch) == [("lost", 0)]
    assert switch.data(SECOND + TOLERANCE - 1, LENGTH, LENGTH) == 1
    assert switch.probes(SECOND + TOLERANCE, 2 * LENGTH, LENGTH) == [1, 0]
    assert switch.data(SECOND + TOLERANCE + 1, 3 * LENGTH, LENGTH) == 1


@pytest.fixture
def silent(make: Make) -> ScheduledSwitch:
    """Its first path is closed since SECOND by a loss; packets 0 and 1 are under way."""
    switch = make(replace(CLOSING, feedback=CLOSE | HOLD, hold=60 * SECOND))
    assert switch.data(0, 0, LENGTH) == 0
    assert switch.data(SECOND, 0, LENGTH) == 1
    assert switch.data(SECOND, LENGTH, LENGTH) == 1
    assert kinds(switch) == [("lost", 0)]
    return switch


def probes_of(switch: ScheduledSwitch, first: int, number: int, pauses: list[int]) -> int:
    """Expect a probe at a time, and one each so much later; return the number of the next packet."""
    for pause in [0, *pauses]:
        first += pause
        assert switch.data(first - 1, number * LENGTH, LENGTH) == 1
        assert switch.probes(first, (number + 1) * LENGTH, LENGTH) == [1, 0], f"{pause} later"
        number += 2
    return number


def all_copies_of(switch: ScheduledSwitch) -> tuple[int, int]:
    """Expect all copies that probe a silent path; return when the next probe is due, and the next number."""
    pauses = [SECOND, 2 * SECOND, 4 * SECOND, *[8 * SECOND] * 4]
    number = probes_of(switch, SECOND + TOLERANCE, 2, pauses)
    return SECOND + TOLERANCE + sum(pauses) + 8 * SECOND, number


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


def pure_acks(switch: ScheduledSwitch, start: int, packets: int, by: int) -> list[int]:
    """Data comes by one path, each packet is acknowledged at once; the paths that the acknowledgements take."""
    taken = []
    for number in range(packets):
        now = start + number * MILLISECOND
        switch.acknowledges(now, 0, by=by, length=LENGTH)
        taken.append(switch.data(now, 0, 0))
    return taken


def test_pure_acks_leave_a_path_that_brings_nothing_while_another_does(make: Make) -> None:
    switch = make(CLOSING)
    pure_acks(switch, SECOND, 8, by=0)
    taken = pure_acks(switch, SECOND + 8 * MILLISECOND, 100, by=1)
    assert taken[:32].count(0) > 16
    assert taken[-32:].count(0) == 8, "one of four, so that it is heard when it works again"


def test_pure_acks_take_the_fastest_path_when_none_brings_anything(make: Make) -> None:
    switch = make(CLOSING)
    assert [switch.data(number * SECOND, 0, 0) for number in (1, 2, 3)] == [0, 0, 0]


def test_some_pure_acks_go_by_each_other_path_so_that_none_alone_can_lose_all(make: Make) -> None:
    paths = [PathOf(delay * MILLISECOND, OCTET) for delay in (10, 30, 50)]
    switch = make(replace(CLOSING, paths=paths))
    for by in (0, 1, 2):
        pure_acks(switch, SECOND + by, 1, by)
    taken = pure_acks(switch, SECOND + MILLISECOND, 48, by=0)[16:]
    assert (taken.count(0), taken.count(1), taken.count(2)) == (24, 4, 4)


def test_data_goes_by_the_fastest_path_whatever_acknowledgements_do(make: Make) -> None:
    switch = make(CLOSING)
    pure_acks(switch, SECOND, 8, by=1)
    assert [switch.data(2 * SECOND + 100 * number * MILLISECOND, number * LENGTH, LENGTH) for number in range(8)] == [
        0
    ] * 8


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


def test_what_was_sent_before_a_delay_was_corrected_does_not_correct_it_again(make: Make) -> None:
    switch = make(Schedule([PathOf(10 * MILLISECOND, OCTET), PathOf(SECOND, OCTET)], feedback=FOLLOW, probe_interval=1))
    for number in range(3):
        assert switch.data(2 * number * MILLISECOND, number * LENGTH, LENGTH) == 0
    for number in range(3):
        switch.acknowledges(DUE + (2 * number + 4) * MILLISECOND, (number + 1) * LENGTH)
    assert [each.delay for each in switch.path_events()] == [14 * MILLISECOND]


def inverse_rates(switch: ScheduledSwitch, paces: list[tuple[int, int]]) -> list[int]:
    """Let packets that leave at once come, so many, each so long after the one before; return what is learned."""
    packets = sum(count for count, _ in paces)
    for number in range(packets):
        assert switch.data(0, number * LENGTH, LENGTH) == 0
    time, acknowledged = DUE - LENGTH - HEADERS, 0
    for count, pace in paces:
        for _ in range(count):
            time, acknowledged = time + pace, acknowledged + LENGTH
            switch.acknowledges(time, acknowledged)
    return [each.inverse_rate for each in switch.path_events()]


ONE_OF_TWO = Schedule([PathOf(10 * MILLISECOND, OCTET), PathOf(SECOND, OCTET)], feedback=FOLLOW, probe_interval=1)
PACE = LENGTH + HEADERS


def test_a_path_that_makes_up_for_a_pause_is_not_taken_for_faster_than_its_entry_says(make: Make) -> None:
    learned = inverse_rates(make(ONE_OF_TWO), [(20, PACE), (1, 20 * MILLISECOND), (20, PACE // 2), (80, PACE)])
    assert max(learned) > OCTET
    assert min(learned) == OCTET


def test_a_path_that_was_faster_than_its_entry_says_becomes_it_again(make: Make) -> None:
    learned = inverse_rates(make(ONE_OF_TWO), [(20, PACE), (80, PACE // 2), (200, PACE)])
    assert min(learned) < OCTET * 15 // 16
    assert learned[-1] > OCTET * 15 // 16


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


def followed(switch: ScheduledSwitch, rates: tuple[float, float], delays: tuple[int, int], until: int) -> Transfer:
    links = [Link(delay, rate) for rate, delay in zip(rates, delays, strict=True)]
    transfer = Transfer(switch, links, window=24)
    transfer.run(until)
    return transfer


FOLLOWING = Schedule(
    [PathOf(10 * MILLISECOND, inverse_rate(2 * MBIT)), PathOf(10 * MILLISECOND, inverse_rate(4 * MBIT))],
    feedback=FOLLOW,
    probe_interval=SECOND // 5,
)


def test_a_path_that_is_as_the_entry_says_stays_so(make: Make) -> None:
    switch = make(FOLLOWING)
    transfer = followed(switch, (2, 4), (10_000, 10_000), SECOND)
    assert transfer.reordered == 0
    told = switch.path_events()
    assert told and {each.kind for each in told} == {"estimated"}
    assert all(abs(each.late) <= 1 for each in told)


def test_a_longer_delay_is_learned(make: Make) -> None:
    reordered = [
        followed(make(replace(FOLLOWING, feedback=feedback)), (2, 4), (10_000, 16_000), SECOND).reordered
        for feedback in (0, FOLLOW)
    ]
    assert reordered[1] < reordered[0] / 10


def test_a_path_that_does_less_gets_less(make: Make) -> None:
    share = [0.0, 0.0]
    for place, feedback in enumerate((0, FOLLOW)):
        transfer = followed(make(replace(FOLLOWING, feedback=feedback)), (2, 1), (10_000, 10_000), 2 * SECOND)
        share[place] = transfer.by_path[1] / sum(transfer.by_path)
    assert share[0] > 0.6 > 0.5 > share[1]
