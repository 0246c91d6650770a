"""Anything in any order: nothing breaks, nothing grows, and no pair counts as proven that no report is about."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from reap.one_context import NAME, PAIRS, TAG, One
from shim6.network import A3, B3

from wayname.session.keys import Pair
from wayname.session.reap.outputs import Move, Refused, Verified
from wayname.session.reap.reap_context import MOST_SENT_PROBES, MOST_TOLD
from wayname.session.reap.timing import Timing
from wayname.wire.shim6.messages import Keepalive, Probe, ProbeRecord, ProbeState

ALL = [*PAIRS, Pair(A3, B3)]
ANY_PAIR = st.sampled_from(ALL)
AGES = st.floats(0, 3)
STEPS = st.one_of(
    st.tuples(st.just("wait"), st.floats(0, 20)),
    st.tuples(st.just("awaiting"), AGES),
    st.tuples(st.just("silent"), AGES),
    st.tuples(st.just("unanswered"), AGES),
    st.tuples(st.just("left_path"), ANY_PAIR),
    st.tuples(st.just("followed"), ANY_PAIR),
    st.tuples(st.just("moved"), ANY_PAIR),
    st.tuples(st.just("doubt"), st.just(0)),
    st.tuples(st.just("heard"), st.just(0)),
    st.tuples(st.just("keepalive"), ANY_PAIR),
    st.tuples(st.just("pairs"), st.tuples(st.lists(ANY_PAIR, unique=True), ANY_PAIR)),
    st.tuples(st.just("probe"), st.tuples(st.sampled_from(list(ProbeState)), ANY_PAIR, st.integers(0, 3))),
)


def take(one: One, step: str, value: object, sent: list[Probe]) -> set[Pair]:
    """Let something happen; return the pairs that it reports probes of."""
    reap, now = one.reap, one.now
    match step, value:
        case "wait", float(seconds):
            sent += one.wait(seconds)
        case (("awaiting" | "silent" | "unanswered"), float(age)):
            getattr(reap, step)(NAME, age, now)
        case "left_path", Pair() as pair:
            reap.left_path(NAME, PAIRS[0], pair, 1.0, now)
        case (("followed" | "moved"), Pair() as pair):
            getattr(reap, step)(NAME, pair, now)
        case "doubt", _:
            reap.doubt(NAME, "somebody says so", now)
        case "heard", _:
            reap.heard(NAME, now)
        case "keepalive", Pair() as pair:
            reap.receive(NAME, Keepalive(TAG), pair, now)
        case "pairs", (list(pairs), Pair() as current):
            reap.watch(NAME, TAG, Timing.of(1.0), pairs, current, now)
        case "probe", (ProbeState() as state, Pair() as pair, int(reports)):
            reported = sent[len(sent) - reports :]
            records = tuple(probe.sent[0] for probe in reported)
            reap.receive(NAME, Probe(TAG, state, (ProbeRecord(pair.peer, pair.local, 5),), records), pair, now)
            return {Pair(record.source, record.destination) for record in records}
    return set()


@settings(max_examples=80)
@given(st.lists(STEPS, max_size=40))
def test_whatever_comes(steps: list[tuple[str, object]]) -> None:
    one = One(Timing.of(1.0))
    sent: list[Probe] = []
    for step, value in steps:
        began = one.now
        reported = take(one, step, value, sent)
        left = one.probes()
        sent += left
        assert {output.pair for output in one.outputs if isinstance(output, Verified)} <= reported
        assert not [output for output in one.outputs if isinstance(output, Refused)]
        for output in one.outputs:
            if isinstance(output, Move):
                assert output.why
        one.outputs.clear()
        # One probe for each thing that comes; more only by timers.
        assert len(left) <= 1
        assert one.now >= began
        watched = one.reap.watched(NAME)
        assert watched is not None
        assert len(watched.sent) <= MOST_SENT_PROBES
        assert len(watched.received) <= MOST_TOLD
        assert all(max(len(probe.sent), len(probe.received)) <= MOST_TOLD for probe in sent)
