"""What probes that come back tell of the way there, by clocks that agree and by clocks that do not."""

from __future__ import annotations

import pytest

from wayname.ioam.nodes import NodeData
from wayname.ioam.path_metrics import PathId
from wayname.ioam.round_trips import RoundTrips, clock_difference

WAY = PathId(1, (0xA, 1, 0xB))
MS = 1_000_000  # nanoseconds
SENT = 1_700_000_000_000_000  # POSIX in microseconds


def node(id: int, at: float, waits: float = 0.0, queue: int = 0) -> NodeData:
    """Return what a node writes: at so many milliseconds after the probe was sent, as its clock has it."""
    seconds, fraction = divmod(SENT + round(at * 1000), 1_000_000)
    return NodeData(60, id, seconds=seconds, fraction=fraction, delay=round(waits * MS), queue=queue)


def trips(there: float, back: float, ahead: float = 0.0, waits: float = 0.0) -> RoundTrips:
    """Return what is known of a way when one probe came back; the far end's clock may be ahead."""
    known = RoundTrips.of(WAY, 1.0)
    nodes = [node(0xA, 0, waits, 7), node(1, 1 + waits), node(0xB, there + waits + ahead, 5.0, 9)]
    known.take(nodes, round((there + waits + back) * MS), 2.0)
    return known


def test_the_forward_delay_is_without_queueing_and_without_the_reverse_delay() -> None:
    known = trips(20, 90, waits=30)
    assert known.waited == 30 * MS
    assert known.delay(clock_difference([known])) == 20 * MS
    # What the last node says of its own queue is about the way back.
    assert [(each.queue.last, each.delay.last) for each in known.there.nodes] == [(7, 30 * MS), (0, 0), (0, 0)]


@pytest.mark.parametrize("ahead", [-15.0, -4.0, 0.0, 4.0])
def test_clocks_are_taken_to_agree_as_long_as_they_can(ahead: float) -> None:
    known = trips(20, 10, ahead)
    assert clock_difference([known]) == 0.0
    assert known.delay(0.0) == (20 + ahead) * MS if ahead <= 10 else 30 * MS


@pytest.mark.parametrize("ahead", [-5000.0, 60_000.0])
def test_a_clock_that_is_wrong_moves_all_ways_alike(ahead: float) -> None:
    ways = [trips(20, 20, ahead), trips(50, 50, ahead), trips(35, 25, ahead)]
    difference = clock_difference(ways)
    assert difference == ahead * MS
    assert [way.delay(difference) for way in ways] == [20 * MS, 50 * MS, 35 * MS]


def test_what_does_not_go_together_is_half_of_both_ways() -> None:
    # Somebody on the second way says that it was there an hour later.
    ways = [trips(20, 20), trips(30, 20, 3_000_000)]
    assert clock_difference(ways) is None
    assert [way.delay(None) for way in ways] == [20 * MS, 25 * MS]


def test_whoever_writes_into_a_probe_cannot_make_the_way_longer_than_it_took_nor_shorter_than_nothing() -> None:
    assert trips(30, 20, 1000).delay(0.0) == 50 * MS
    assert trips(30, 20, -1000).delay(0.0) == 0.0
    assert trips(30, 20, waits=0).delay(-1e12) == 50 * MS


def test_nodes_without_clocks_tell_half_of_both_ways() -> None:
    known = RoundTrips.of(WAY, 1.0)
    known.take([NodeData(60, id, delay=0) for id in WAY.nodes], 44 * MS, 2.0)
    assert clock_difference([known]) is None
    assert known.delay(None) == 22 * MS
