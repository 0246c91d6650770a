"""The networks on which multipath is measured: what they count, and that a run is the same each time."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

from bench.multipath.experiment import Setup, payload, run
from bench.multipath.parallel import run_each
from bench.multipath.path import CrossTraffic, Path, Route, capacity_left
from bench.multipath.policies import Schedule
from bench.multipath.segments import Watch, clamp
from wayname.wire.checksum import upper_layer_checksum
from wayname_lab.virtual.clock import MILLISECOND, SECOND, Clock
from wayname_lab.virtual.link import Trace

SOURCE, DESTINATION = IPv6Address("2001:db8:a::11"), IPv6Address("2001:db8:b::11")
SYN, ACK = 0x02, 0x10


def frame(sequence: int, size: int, flags: int = ACK, options: bytes = b"") -> bytes:
    """A segment in its frame."""
    head = (5000).to_bytes(2) + (5001).to_bytes(2) + sequence.to_bytes(4) + bytes(4)
    segment = head + bytes([(20 + len(options)) // 4 << 4, flags]) + bytes(6) + options + bytes(size)
    checksum = upper_layer_checksum(SOURCE, DESTINATION, 6, segment)
    segment = segment[:16] + checksum.to_bytes(2) + segment[18:]
    ipv6 = b"\x60\0\0\0" + len(segment).to_bytes(2) + bytes([6, 64]) + SOURCE.packed + DESTINATION.packed
    return bytes(12) + b"\x86\xdd" + ipv6 + segment


def path_at(route: Route) -> tuple[Clock, Path, list[int]]:
    """A path, and when frames arrive at its end."""
    clock = Clock()
    path = Path(clock, "path", route, random.Random(1), Trace())
    arrivals: list[int] = []
    path.connect("here", lambda _frame: None)
    path.connect("there", lambda _frame: arrivals.append(clock.now))
    return clock, path, arrivals


def test_a_path_queues_delays_and_drops() -> None:
    clock, path, arrivals = path_at(Route(1e6, 5 * MILLISECOND, 2))
    for _ in range(3):
        path.send("here", bytes(14 + 125), 0)
    clock.run_until(SECOND)
    assert arrivals == [6 * MILLISECOND, 7 * MILLISECOND]
    assert path.directions["here"].dropped == 1
    assert path.directions["here"].bytes == {0: 250}


def test_cross_traffic_takes_its_turn_in_the_queue() -> None:
    clock, path, arrivals = path_at(Route(1e6, 0, 10))
    path.add_cross("here", CrossTraffic(0, 0.0, 0.002, 1e6), 125)
    clock.run_until(0)
    path.send("here", bytes(14 + 125), 0)
    clock.run_until(SECOND)
    assert arrivals == [2 * MILLISECOND]
    assert path.directions["here"].cross_bytes == {0: 250}


def test_capacity_left_is_what_cross_traffic_cannot_take() -> None:
    routes = [Route(2e6, 0), Route(4e6, 0)]
    cross = [CrossTraffic(0, 1.0, 2.0, 4e6), CrossTraffic(1, 3.0, 5.0, 3e6)]
    assert capacity_left(routes, cross, 10.0) == 60e6 - 2e6 - 6e6
    assert capacity_left(routes, cross, 4.0) == 24e6 - 2e6 - 3e6


def test_what_was_sent_twice_is_told_from_what_came_late() -> None:
    watch = Watch()
    for sequence in (100, 200, 300, 100):
        watch.note_sent(frame(sequence, 100))
    for sequence in (200, 300, 100):
        watch.note_arrived(frame(sequence, 100))
    assert (watch.segments, watch.retransmissions, watch.reordered) == (4, 1, 0)
    watch.note_sent(frame(400, 100))
    watch.note_arrived(frame(500, 100))
    watch.note_arrived(frame(400, 100))
    assert (watch.reordered, watch.furthest) == (1, 200)


def test_sequence_numbers_go_round() -> None:
    watch = Watch()
    for sequence in (2**32 - 100, 0, 100):
        watch.note_arrived(frame(sequence, 100))
    assert (watch.arrived, watch.reordered) == (3, 0)


def test_a_syn_asks_for_no_more_than_fits() -> None:
    syn = frame(1, 0, SYN, b"\x01\x01\x02\x04" + (1440).to_bytes(2) + b"\x01\x01")
    clamped = clamp(syn, 1190)
    assert clamped == frame(1, 0, SYN, b"\x01\x01\x02\x04" + (1190).to_bytes(2) + b"\x01\x01")
    assert clamp(syn, 1440) == syn
    assert clamp(frame(1, 100), 10) == frame(1, 100)


def test_a_syn_permits_no_selective_acknowledgements_where_there_are_none() -> None:
    mss = b"\x02\x04" + (1190).to_bytes(2)
    syn = frame(1, 0, SYN, mss + b"\x01\x01\x04\x02")
    assert clamp(syn, 1190, sack=False) == frame(1, 0, SYN, mss + b"\x01\x01\x01\x01")
    assert clamp(syn, 1190) == syn


def test_two_paths_carry_what_both_have_and_in_order() -> None:
    routes = [Route(4e6, 5 * MILLISECOND), Route(6e6, 5 * MILLISECOND)]
    setup = Setup(routes, seconds=0.15, window=30, congestion="none")
    together, alone = run(setup), run(replace(setup, routes=routes[1:]))
    assert together.reordered == together.retransmissions == together.dropped == 0
    assert together.goodput > 1.6 * alone.goodput > 0


def test_the_best_path_is_the_one_with_the_most_capacity() -> None:
    routes = [Route(4e6, 5 * MILLISECOND), Route(6e6, 5 * MILLISECOND)]
    sending = run(Setup(routes, Schedule("best path"), seconds=0.1, window=30)).sending
    assert sum(sending[0]) == 0 < sum(sending[1])


def test_the_same_run_is_the_same_byte_for_byte() -> None:
    setup = Setup([Route(4e6, 5 * MILLISECOND)] * 2, seconds=0.05, window=30)
    assert run(setup) == run(setup)


def test_runs_beside_each_other_are_what_each_is_alone() -> None:
    setups = [Setup([Route(rate, 5 * MILLISECOND)], seconds=0.05, window=30) for rate in (4e6, 6e6)]
    assert run_each(setups) == [run(setup) for setup in setups]


def test_both_sides_may_send_at_once() -> None:
    routes = [Route(4e6, 5 * MILLISECOND), Route(6e6, 5 * MILLISECOND)]
    outcome = run(Setup(routes, seconds=0.1, window=30, congestion="none", both_scheduled=True, both_send=True))
    assert outcome.goodput > 0
    assert outcome.backward > 0
    assert outcome.reordered == outcome.retransmissions == 0


def test_the_steady_goodput_leaves_the_warm_up_out() -> None:
    setup = Setup([Route(4e6, 5 * MILLISECOND)], seconds=0.2, warm_up=0.1, window=30, congestion="none")
    outcome = run(setup)
    assert outcome.steady_goodput == sum(outcome.steady_goodputs)
    assert outcome.goodput < outcome.steady_goodput
    assert abs(outcome.steady_goodput / outcome.steady_limit(setup) - 1) < 0.02


def test_headers_are_no_payload() -> None:
    assert payload([1190.0], [1250]) == 0.952
    assert payload([1190.0, 540.0], [1250, 600]) == 1730 / 1850
    assert payload([0.0], [1250]) == 1.0
