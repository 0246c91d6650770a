"""When probes leave, and how many may: the times of RFC 5534, section 7, and the rate of all contexts together."""

from __future__ import annotations

import random

import pytest
from reap.one_context import NAME, PAIRS, One
from shim6.network import A1, A2, B1

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.reap import Reap
from wayname.session.reap.timing import Timing
from wayname.shim6.outputs import Send
from wayname.wire.shim6.messages import ProbeState


def test_probes_keep_the_times_of_the_rfc() -> None:
    one = One()
    one.answer_checks()
    one.reap.unanswered(NAME, 15.0, one.now)
    one.probes()
    began, gaps = one.now, []
    for _ in range(12):
        at = one.reap.next_timer()
        assert at is not None
        gaps.append(at - one.now)
        one.wait(at - one.now)
    assert began < one.now
    for gap, expected in zip(gaps, [0.5, 0.5, 0.5, 0.5, 1, 2, 4, 8, 16, 32, 60, 60], strict=True):
        assert 0.8 * expected <= gap <= 1.2 * expected


@pytest.mark.parametrize(
    ("send_timeout", "expected"),
    [
        (15.0, (5.0, 0.5, 60.0, 60.0, 60.0)),
        (1.0, (1 / 3, 0.25, 5.0, 4.0, 5.0)),
        (0.01, (0.01 / 3, 0.01, 5.0, 1.0, 5.0)),
    ],
)
def test_all_times_go_with_the_send_timeout(send_timeout: float, expected: tuple[float, ...]) -> None:
    timing = Timing.of(send_timeout)
    assert (
        timing.keepalive,
        timing.probe_timeout,
        timing.max_probe_timeout,
        timing.backup_probe_interval,
    ) == pytest.approx(expected[:4])
    assert timing.failback_delay == expected[4]
    with pytest.raises(ValueError, match="the least is"):
        Timing.of(0.009)


def test_all_contexts_together_probe_no_more_than_they_may() -> None:
    reap = Reap(random.Random(1), most_probes=50)
    names = [SessionKey(A1, B1 + number) for number in range(1000)]
    for name in names:
        pair = Pair(*name[:2])
        reap.watch(name, 1, Timing.of(15.0, backup_probe_interval=1e6), [pair, Pair(A2, name.peer)], pair, 0.0)
        reap.unanswered(name, 15.0, 0.0)
    sent = [output for output in reap.take_outputs() if isinstance(output, Send)]
    assert 50 <= len(sent) <= 51
    peers = {output.packet.destination for output in sent}
    for second in range(1, 20):
        reap_until(reap, float(second))
        packets = [output.packet for output in reap.take_outputs() if isinstance(output, Send)]
        assert len(packets) <= 51
        peers |= {packet.destination for packet in packets}
    # Who had a turn does not take those of the others.
    assert len(peers) > 500


def reap_until(reap: Reap, end: float) -> None:
    """Do what is due, each at its time."""
    while (at := reap.next_timer()) is not None and at <= end:
        reap.handle_timer(at)


def test_a_flood_of_probes_is_not_answered_beyond_the_rate() -> None:
    one = One(most_probes=20)
    answers = [probe for nonce in range(1000) for probe in one.hear(ProbeState.EXPLORING, PAIRS[3], nonce=nonce)]
    assert len(answers) <= 21
    watched = one.reap.watched(NAME)
    assert watched is not None
    assert (len(watched.received), len(watched.sent)) <= (8, 32)


def test_who_answers_nothing_is_asked_less_and_less() -> None:
    one = One(Timing.of(1.0, backup_probe_interval=1.0))
    one.answer_checks()
    asked = []
    for _ in range(120):
        one.reap.awaiting(NAME, 0.0, one.now)
        asked.append(len(one.wait(1)))
    assert sum(asked[-60:]) < sum(asked[:20])
