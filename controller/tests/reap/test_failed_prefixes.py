"""A path that one session found dead is dead for the others between the same prefixes, if they are silent too."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from reap.one_context import EXPLORING, FINE, NAME, PAIRS, TAG, One, pair_of
from reap.test_reap_suspicions import TIMING

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.failed_prefixes import MOST_FAILURES, FailedPrefixes
from wayname.session.reap.outputs import Check, Move
from wayname.session.reap.timing import Timing
from wayname.wire.shim6.messages import Probe, ProbeRecord, ProbeState

HALF = TIMING.suspect_after
LONG = Timing.of(15.0, backup_probe_interval=1e6)


def beside(pair: Pair) -> Pair:
    """Return the addresses of two other hosts in the same subnets."""
    return Pair(IPv6Address(int(pair.local) + 0x100), IPv6Address(int(pair.peer) + 0x100))


OTHERS = [beside(pair) for pair in PAIRS]
OTHER = SessionKey(*OTHERS[0])


def two(timing: Timing = TIMING) -> One:
    """Return a context whose pairs are all proven, with one of two other hosts beside it."""
    one = One(timing)
    one.reap.watch(OTHER, TAG + 1, TIMING, OTHERS, OTHERS[0], one.now)
    for probe in one.wait(1):
        name, pairs, tag = (NAME, PAIRS, TAG) if pair_of(probe) in PAIRS else (OTHER, OTHERS, TAG + 1)
        record = ProbeRecord(pairs[0].peer, pairs[0].local, 77)
        one.reap.receive(name, Probe(tag, ProbeState.OPERATIONAL, (record,), probe.sent[:1]), pairs[0], one.now)
    one.probes()
    assert all(one.reap.verified(name) == {*pairs} for name, pairs in ((NAME, PAIRS), (OTHER, OTHERS)))
    one.outputs.clear()
    return one


def moves(one: One) -> list[Move]:
    one.probes()
    return [output for output in one.outputs if isinstance(output, Move)]


def test_the_silent_session_follows_after_half_of_its_send_timeout() -> None:
    one = two()
    one.reap.left_path(OTHER, OTHERS[0], OTHERS[3], 1.0, one.now)
    one.probes()
    one.reap.awaiting(NAME, HALF, one.now)
    probes = one.probes()
    assert [pair_of(probe) for probe in probes] == [PAIRS[3]]
    (move,) = moves(one)
    assert (move.name, move.pair, move.unanswered) == (NAME, PAIRS[3], HALF)
    assert one.state is EXPLORING


def test_a_peer_that_leaves_the_best_pair_tells_the_same() -> None:
    one = two()
    one.reap.followed(OTHER, OTHERS[3], one.now)
    one.reap.awaiting(NAME, HALF, one.now)
    assert [move.pair for move in moves(one)] == [PAIRS[3]]


def test_a_peer_that_goes_back_to_the_best_pair_tells_nothing_of_the_other() -> None:
    one = two()
    one.reap.moved(NAME, PAIRS[3], one.now)
    one.reap.moved(OTHER, OTHERS[3], one.now)
    one.reap.followed(OTHER, OTHERS[0], one.now)
    one.reap.awaiting(NAME, HALF, one.now)
    assert moves(one) == []


@pytest.mark.parametrize(("age", "before"), [(0.0, 0.0), (HALF * 0.9, 0.0), (HALF, HALF + 0.001)])
def test_who_is_answered_or_silent_only_since_then_stays(age: float, before: float) -> None:
    one = two()
    one.reap.left_path(OTHER, OTHERS[0], OTHERS[3], 1.0, one.now)
    one.probes()
    one.now += before
    one.reap.awaiting(NAME, age, one.now)
    assert moves(one) == []
    assert one.state is FINE


def test_prefixes_that_share_one_side_only_tell_nothing() -> None:
    one = two()
    one.reap.left_path(OTHER, OTHERS[1], OTHERS[3], 1.0, one.now)
    one.reap.awaiting(NAME, HALF, one.now)
    assert moves(one) == []


def test_a_pair_that_failed_as_well_is_not_taken() -> None:
    one = two()
    one.reap.left_path(OTHER, OTHERS[0], OTHERS[3], 1.0, one.now)
    one.reap.left_path(OTHER, OTHERS[3], OTHERS[1], 1.0, one.now)
    one.reap.awaiting(NAME, HALF, one.now)
    assert [move.pair for move in moves(one)] == [PAIRS[1]]


def test_who_has_nothing_proven_asks_for_himself() -> None:
    one = One(TIMING)
    one.reap.watch(OTHER, TAG + 1, TIMING, OTHERS, OTHERS[0], one.now)
    one.reap.left_path(OTHER, OTHERS[0], OTHERS[3], 1.0, one.now)
    one.reap.awaiting(NAME, HALF, one.now)
    assert moves(one) == []


def test_failures_are_bounded() -> None:
    failures = FailedPrefixes()
    pairs = [Pair(IPv6Address(number << 64), PAIRS[0].peer) for number in range(MOST_FAILURES + 1)]
    for pair in pairs:
        failures.fail(pair, 1.0)
    assert not failures.since(pairs[0], 1.0)
    assert all(failures.since(pair, 1.0) for pair in pairs[1:])


def test_a_shorter_send_timeout_brings_the_next_look_forward() -> None:
    one = two(LONG)
    one.reap.awaiting(NAME, 0.0, one.now)
    one.reap.set_timing(NAME, TIMING, one.now)
    one.wait(HALF + 0.01)
    assert Check(NAME) in one.outputs
