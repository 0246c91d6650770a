"""What queues hold is learned from what they lose: the rest goes by a path with room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from numbered_switch import NumberedSession
from ordered_switch import OrderedSwitch
from schedule_site import CLOSE, FOLLOW, PathOf, Schedule, datagram
from session_site import SESSION

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


@pytest.mark.parametrize(("configured", "least"), [(0, 80), (30, 30)], ids=["learned", "configured"])
def test_what_is_told_of_a_path_says_how_much_its_queue_holds(configured: int, least: int) -> None:
    path = PathOf(DELAY, OCTET, configured * MILLISECOND)
    switch = OrderedSwitch(Schedule([path, PathOf(SECOND, OCTET)], feedback=FOLLOW, probe_interval=MILLISECOND))
    for time, late, lost in ((0, 1, 0), (2 * SECOND, 80, 0), (4 * SECOND, 80, 2), (6 * SECOND, 80, 0)):
        sequences = [sends(switch, time + number) for number in range(4)]
        told(switch, time, sequences[-1], late * MILLISECOND, tuple(sequences[:lost]))
    *_, last = (each.queue for each in switch.path_events() if each.place == 0)
    assert last in range((least - 2) * MILLISECOND, least * MILLISECOND + 1)


FOLLOWING = replace(CLOSING, paths=[PATHS[0], PathOf(SECOND, OCTET)], feedback=FOLLOW | CLOSE)


@pytest.mark.parametrize(
    ("late", "lost", "unlearned"),
    [(80, 1, True), (80, 0, False), (40, 1, False)],
    ids=["full", "none lost", "short"],
)
@pytest.mark.parametrize("backend", ["jit", "interpreter"])
def test_where_packets_are_lost_a_queue_that_stands_full_is_no_delay(
    backend: str, late: int, lost: int, unlearned: bool
) -> None:
    """Packets that had nothing of theirs before them are late by it. Those with an order have a window instead."""
    switch = OrderedSwitch(FOLLOWING, backend=backend)
    switch.use(replace(NumberedSession(), number=SESSION))
    told(switch, 0, sends(switch, 0), MILLISECOND)
    for number in (1, 2):
        told(switch, number * SECOND, sends(switch, number * SECOND), late * MILLISECOND)
    [before] = delays(switch)
    assert before in range((late - 3) * MILLISECOND, (late + 3) * MILLISECOND)
    sequences = [sends(switch, 4 * SECOND + number) for number in range(3, 6)]
    told(switch, 4 * SECOND, sequences[-1], (late + 2) * MILLISECOND, tuple(sequences[1 : 1 + lost]))
    [after] = delays(switch)
    if unlearned:
        assert abs(after - before // 2) <= 3 * MILLISECOND
    else:
        assert abs(after - before) <= 3 * MILLISECOND


def sends(switch: OrderedSwitch, time: int) -> int:
    """Packets go, and one by the first path; its number there. To compare paths, one may go by the other."""
    packets = [switch.numbers(time, datagram(LENGTH + ORDER)) for _ in range(2)]
    return next(packet.sequence for packet in packets if packet.slot == 0)


def delays(switch: OrderedSwitch) -> list[int]:
    """What was learned of paths beside their entries' delays, in microseconds."""
    return [each >> 16 for each in switch.register("schedule_learned") if each]
