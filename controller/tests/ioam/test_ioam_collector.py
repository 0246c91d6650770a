"""Figures of paths and flows, from traces and exports made by hand."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayname.edge.boundary import DirectExport
from wayname.ioam.collector import MOST_PATHS, MOST_RECORDS, Collector
from wayname.ioam.options import OVERFLOW, TraceOption
from wayname.ioam.path_metrics import FlowMetrics, PathId, Summary
from wayname.wire.errors import DecodeError

FROM, TO = IPv6Address("fd00::1"), IPv6Address("fd00::2")
TYPE = 0xBA0000  # node, seconds, fraction, delay, queue


def trace(*nodes: tuple[int, int, int, int], flags: int = 0) -> TraceOption:
    """A trace of nodes: id, microseconds, delay, queue."""
    data = b"".join(
        b"".join(word.to_bytes(4) for word in (id, time // 1_000_000, time % 1_000_000, delay, queue))
        for id, time, delay, queue in reversed(nodes)
    )
    return TraceOption(1, 5, flags, 0, TYPE, data)


@pytest.fixture
def collector() -> Collector:
    return Collector()


def test_a_path(collector: Collector) -> None:
    for number, delay in enumerate((500, 516, 500)):
        at = 5_999_900 + number * 1000
        collector.trace(trace((1, at, 1000, number), (2, at + delay, 3000, 7)), FROM, TO, 10.0 + number)
    [figures] = collector.paths()
    assert figures.id == PathId(1, (1, 2))
    assert (figures.count, figures.first, figures.last) == (3, 10.0, 12.0)
    assert (figures.delay.last, figures.delay.least, figures.delay.most) == (500_000, 500_000, 516_000)
    assert figures.delay.smoothed == pytest.approx(501_750)
    assert figures.jitter == pytest.approx(16_000 / 16 * 15 / 16 + 16_000 / 16)
    assert (figures.inside.last, figures.queue.most) == (4000, 7)
    first, second = figures.nodes
    assert (first.node, first.delay.last, first.queue.most) == (1, 1000, 2)
    assert (second.node, second.delay.last, second.queue.least) == (2, 3000, 7)
    assert collector.path(PathId(1, (1, 2))) is figures


def test_paths_are_told_apart_by_their_nodes(collector: Collector) -> None:
    for nodes in ((1, 2, 4), (1, 3, 4), (1, 2, 4)):
        collector.trace(trace(*((node, 0, 0, 0) for node in nodes)), FROM, TO, 1.0)
    collector.trace(trace((1, 0, 0, 0), (2, 0, 0, 0), (4, 0, 0, 0), flags=OVERFLOW), FROM, TO, 1.0)
    assert {str(figures.id): figures.count for figures in collector.paths()} == {
        "1:1-2-4": 2,
        "1:1-2-4-...": 1,
        "1:1-3-4": 1,
    }


def test_times_that_are_not_there_leave_the_delay_out(collector: Collector) -> None:
    option = TraceOption(1, 1, 0, 0, 0x800000, bytes.fromhex("3f000002 40000001"))
    collector.trace(option, FROM, TO, 1.0)
    [figures] = collector.paths()
    assert (figures.count, figures.delay.count, figures.inside.count) == (1, 0, 0)


def test_the_path_that_was_not_seen_longest_gives_way(collector: Collector) -> None:
    for node in range(1, MOST_PATHS + 1):
        collector.trace(trace((node, 0, 0, 0)), FROM, TO, float(node))
    collector.trace(trace((1, 0, 0, 0)), FROM, TO, 9999.0)
    collector.trace(trace((MOST_PATHS + 1, 0, 0, 0)), FROM, TO, 9999.0)
    assert len(collector.paths()) == MOST_PATHS
    assert collector.path(PathId(1, (1,))) is not None
    assert collector.path(PathId(1, (2,))) is None
    assert collector.forgotten_paths == 1


def test_records_are_numbered_and_bounded(collector: Collector) -> None:
    for number in range(MOST_RECORDS + 3):
        collector.trace(trace((1, number, 0, 0)), FROM, TO, float(number))
    assert collector.last == MOST_RECORDS + 3
    assert len(collector.records()) == MOST_RECORDS
    [newest] = collector.records(MOST_RECORDS + 2)
    assert (newest.sequence, newest.time, newest.source) == (MOST_RECORDS + 3, MOST_RECORDS + 2, FROM)


def flow(*sequences: int) -> FlowMetrics:
    collector = Collector()
    for sequence in sequences:
        collector.export(DirectExport(1, 0x800000, 9, sequence, 5, 63, 1, 2, 10, 0), 1.0)
    [figures] = collector.flows()
    return figures


@pytest.mark.parametrize(
    ("sequences", "seen", "lost", "restarts"),
    [
        ((0,), 1, 0, 0),
        ((5, 6, 7), 3, 0, 0),
        ((5, 7, 10), 3, 3, 0),
        ((5, 7, 6), 3, 0, 0),
        ((5, 3, 4), 3, 0, 0),
        ((2**32 - 2, 2**32 - 1, 1), 3, 1, 0),
        ((10_000, 10_002, 0, 1, 3), 5, 2, 1),
    ],
)
def test_what_is_missing_of_a_flow(sequences: tuple[int, ...], seen: int, lost: int, restarts: int) -> None:
    figures = flow(*sequences)
    assert (figures.seen, figures.lost, figures.restarts) == (seen, lost, restarts)


def test_a_flow_is_one_nodes_view(collector: Collector) -> None:
    for node in (5, 6):
        collector.export(DirectExport(1, 0x800000, 9, node, node, 63, 1, 2, 10, 0), 1.0)
    assert [(figures.flow, figures.node, figures.lost) for figures in collector.flows()] == [(9, 5, 0), (9, 6, 0)]


def test_a_summary_begins_with_its_first_value() -> None:
    summary = Summary()
    summary.add(8)
    summary.add(16)
    assert (summary.least, summary.most, summary.last, summary.smoothed, summary.count) == (8, 16, 16, 9.0, 2)


@given(
    type_=st.integers(0, 2**24 - 1),
    flags=st.integers(0, 15),
    left=st.integers(0, 127),
    data=st.binary(max_size=244).map(lambda octets: octets[: len(octets) // 4 * 4]),
)
def test_whatever_a_trace_says_is_taken_or_refused(type_: int, flags: int, left: int, data: bytes) -> None:
    collector = Collector()
    option = TraceOption(1, 1, flags, left, type_, data)
    for now in (1.0, 2.0):
        try:
            record = collector.trace(option, FROM, TO, now)
        except DecodeError:
            assert collector.paths() == []
        else:
            figures = collector.path(record.path)
            assert figures is not None
            assert (figures.count, figures.last, len(figures.nodes)) == (int(now), now, len(record.nodes))


def test_traces_that_anybody_sends_do_not_make_a_path_forgotten_that_somebody_goes_by(collector: Collector) -> None:
    collector.keep([PathId(1, (1, 2))])
    for at in range(3):
        collector.trace(trace((1, 0, 0, 0), (2, 500, 0, 0)), FROM, TO, float(at))
    for number in range(2 * MOST_PATHS):
        collector.trace(trace((number + 10, 0, 0, 0), (2, 500, 0, 0)), FROM, TO, 5.0)
    known = collector.path(PathId(1, (1, 2)))
    assert known is not None and known.count == 3
    assert len(collector.paths()) == MOST_PATHS
