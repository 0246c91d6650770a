"""A path whose queue others fill has a congestion window, as a connection of TCP has."""

from __future__ import annotations

import pytest
from ordered_switch import OrderedSwitch, read_order, to_peer
from schedule_site import CLOSE, FOLLOW, PathOf, Schedule
from session_site import SESSION

MILLISECOND, SECOND = 1_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
LENGTH = 976  # octets of a segment's packet: a millisecond with number and order
DELAY = 10 * MILLISECOND
SLOTS = 8
# All goes by the first path.
SCHEDULE = Schedule(
    [PathOf(DELAY, OCTET), PathOf(SECOND, OCTET)], feedback=FOLLOW | CLOSE, tolerance=SECOND, probe_interval=10 * SECOND
)
FULL, EMPTY = 80 * MILLISECOND, MILLISECOND


class Congested(OrderedSwitch):
    """What is sent by the first path, and what the peer tells of it."""

    def __init__(self, backend: str) -> None:
        super().__init__(SCHEDULE, backend=backend)
        self.segments = 0

    def segments_by_first(self, time: int, packets: int) -> list[int]:
        """The numbers of those that leave of so many."""
        sent = []
        for _ in range(packets):
            self.segments += 1
            sent += [read_order(frame) for frame in self.sends_segment(time, self.segments, LENGTH)]
        return [packet.sequence for packet in sent if packet.slot == 0]

    def tell(self, sent: int, newest: int, waited: int, lost: tuple[int, ...] = ()) -> None:
        self.told(sent + waited + DELAY, 0, newest, lost)

    def window(self) -> int:
        """Half packets, 0: none."""
        return self.register("congestion_windows")[SESSION * SLOTS] >> 112


@pytest.fixture(params=["jit", "interpreter"])
def switch(request: pytest.FixtureRequest) -> Congested:
    return Congested(request.param)


def congested(switch: Congested, waited: int = FULL, third_is_lost: bool = True) -> list[int]:
    """Ten packets go one after the other, of which the third is lost behind a full queue, and the fourth is told of."""
    begun = switch.segments_by_first(0, 2)
    switch.tell(0, begun[-1], EMPTY)
    sent = switch.segments_by_first(2 * SECOND, 10)
    switch.tell(2 * SECOND, sent[3], waited, (sent[2],) if third_is_lost else ())
    return sent


def test_it_begins_with_what_is_under_way_where_packets_are_lost_behind_a_full_queue(switch: Congested) -> None:
    sent = congested(switch)
    assert len(sent) == 10
    assert switch.window() == 2 * (6 + 2)


@pytest.mark.parametrize(("waited", "lost"), [(FULL, False), (EMPTY, True)], ids=["none lost", "no queue"])
def test_it_does_not_begin_where_none_is_lost_or_the_queue_is_empty(switch: Congested, waited: int, lost: bool) -> None:
    congested(switch, waited, lost)
    assert switch.window() == 0


def test_it_becomes_less_once_in_a_round_and_grows_by_half_a_packet_in_one_without_loss(switch: Congested) -> None:
    sent = congested(switch)
    switch.tell(2 * SECOND, sent[5], FULL, (sent[4],))
    assert switch.window() == 16, "of the same round"
    switch.tell(2 * SECOND, sent[9], FULL)
    assert switch.window() == 17, "the round is over"
    sent = switch.segments_by_first(3 * SECOND, 6)
    switch.tell(3 * SECOND, sent[2], FULL)
    assert switch.window() == 18
    switch.tell(3 * SECOND, sent[4], FULL, (sent[3],))
    assert switch.window() == 18 - 4 - 1
    later = switch.segments_by_first(4 * SECOND, 1)
    switch.tell(4 * SECOND, later[0], EMPTY)
    assert switch.window() == 0, "the queue is empty"


def test_packets_wait_at_the_edge_while_it_is_full(switch: Congested) -> None:
    sent = congested(switch)
    switch.tell(2 * SECOND, sent[9], FULL)
    assert switch.window() == 17
    went = switch.segments_by_first(2 * SECOND + 200 * MILLISECOND, 20)
    assert len(went) == 9, "each is two halves"
    switch.tell(2 * SECOND + 200 * MILLISECOND, went[3], FULL)
    assert len(switch.segments_by_first(2 * SECOND + 300 * MILLISECOND, 1)) == 0, "what came before it goes first"


def test_it_has_room_once_nothing_was_reported_for_long(switch: Congested) -> None:
    """All that was under way may be lost."""
    sent = congested(switch)
    switch.tell(2 * SECOND, sent[9], FULL)
    told = switch.time
    assert len(switch.segments_by_first(told + 100 * MILLISECOND, 20)) == 9
    went = [step for step in range(101, 300) if to_peer(switch.passes(told + step * MILLISECOND))]
    assert went[0] in range(200, 207), "in milliseconds; it looks each 5 ms"
