"""What queues hold is learned from what they lose: the rest goes by a path with room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from ordered_switch import OrderedSwitch
from schedule_site import CLOSE, PathOf, Schedule, datagram

MILLISECOND, SECOND = 1_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
LENGTH = 976  # octets of a segment's packet: a millisecond with number and order
DELAY = 10 * MILLISECOND
PATHS = [PathOf(DELAY, OCTET), PathOf(15 * MILLISECOND, OCTET)]
CLOSING = Schedule(PATHS, feedback=CLOSE, tolerance=SECOND, probe_interval=10 * SECOND)
ORDER = 8  # octets
ORDERED, BURST = 80, 300  # packets
Make = Callable[[], OrderedSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda: OrderedSwitch(CLOSING, backend=request.param)


def burst(switch: OrderedSwitch, time: int) -> list[int]:
    """The numbers of those that go by the first path, which is not as long as the other one.

    The first of them go again if they are lost, and close no path; the others do not wait at the edge.
    """
    ordered = [frame for number in range(ORDERED) for frame in switch.sends_segment(time, number, LENGTH)]
    others = [frame for _ in range(BURST - ORDERED) for frame in switch.frames(time, datagram(LENGTH + ORDER))]
    sent = [frame[14:] for frame in ordered + others if len(frame) > LENGTH]  # and no probe
    return [int.from_bytes(packet[45:48]) for packet in sent if packet[44] & 7 == 0]


def told(switch: OrderedSwitch, time: int, newest: int, waited: int, lost: tuple[int, ...] = ()) -> None:
    """The peer tells of a packet that was sent then and waited so long."""
    switch.told(time + waited + DELAY, 0, newest, lost)


def begun(switch: OrderedSwitch) -> list[int]:
    """Of the first packets one came that waited for nothing, which sets the clocks."""
    sequences = burst(switch, 0)
    told(switch, 0, sequences[0], MILLISECOND)
    return sequences


@pytest.mark.parametrize(
    ("waited", "lost", "limited"),
    [(80, 10, True), (80, 4, False), (80, 0, False), (40, 10, False)],
    ids=["full", "few lost", "none lost", "short"],
)
def test_a_queue_that_loses_a_quarter_behind_many_holds_no_more(
    make: Make, waited: int, lost: int, limited: bool
) -> None:
    switch = make()
    sequences = begun(switch)
    assert len(sequences) > BURST // 2
    told(switch, 0, sequences[20], waited * MILLISECOND, tuple(sequences[20 - lost : 20]))
    by_first = len(burst(switch, 2 * SECOND))
    if limited:
        assert abs(by_first - waited) <= 2, "each takes a millisecond"
    else:
        assert by_first > BURST // 2


def test_what_waited_for_longer_and_came_shows_that_there_is_room(make: Make) -> None:
    switch = make()
    sequences = begun(switch)
    told(switch, 0, sequences[20], 80 * MILLISECOND, tuple(sequences[10:20]))
    told(switch, 0, sequences[60], 120 * MILLISECOND)
    assert abs(len(burst(switch, 2 * SECOND)) - 120) <= 2


def test_a_schedule_that_begins_anew_knows_no_limit(make: Make) -> None:
    switch = make()
    sequences = begun(switch)
    told(switch, 0, sequences[20], 80 * MILLISECOND, tuple(sequences[10:20]))
    switch.reschedule(replace(CLOSING, generation=2))
    assert len(burst(switch, 2 * SECOND)) > BURST // 2
