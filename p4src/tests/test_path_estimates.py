"""What a schedule learns of a path beside its entry, and a connection over links that are not as their entries say."""

from __future__ import annotations

from dataclasses import replace

from schedule_feedback import DUE, HEADERS, LENGTH, MBIT, MILLISECOND, OCTET, SECOND, Make
from schedule_links import Link, Transfer
from schedule_site import FOLLOW, PathOf, Schedule, inverse_rate
from schedule_switch import ScheduledSwitch

pytest_plugins = ["schedule_fixtures"]


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
