"""The paths of pure ACKs: nobody acknowledges them, so none alone may lose them all."""

from __future__ import annotations

from dataclasses import replace

from schedule_feedback import CLOSING, LENGTH, MILLISECOND, OCTET, SECOND, Make
from schedule_site import PathOf
from schedule_switch import ScheduledSwitch

pytest_plugins = ["schedule_fixtures"]


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
