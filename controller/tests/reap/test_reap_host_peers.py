"""A peer that is no edge but a host: keepalives follow the last word to it, and checks report a probe of its own."""

from __future__ import annotations

from reap.one_context import FINE, NAME, PAIRS, TAG, One, pair_of

from wayname.session.reap.outputs import Check
from wayname.wire.shim6.messages import Keepalive, ProbeState, decode


def test_a_keepalive_follows_the_last_word_of_a_peer_that_is_no_edge() -> None:
    one = One(answers_checks=False)
    (check, *_) = one.wait(0.5)
    one.hear(ProbeState.OPERATIONAL, PAIRS[0], check)
    messages: list[object] = []
    while not messages:
        at = one.reap.next_timer()
        assert at is not None
        one.reap.handle_timer(at)
        messages = [message for packet in one.take() if isinstance(message := decode(packet.payload), Keepalive)]
    assert messages == [Keepalive(TAG)]


def test_no_keepalive_follows_if_the_host_spoke_after_the_probe() -> None:
    one = One(answers_checks=False)
    (check, *_) = one.wait(0.5)
    one.outputs.clear()
    one.hear(ProbeState.OPERATIONAL, PAIRS[0], check)
    assert Check(NAME) in one.outputs
    one.now += 1
    one.reap.awaiting(NAME, 0.0, one.now)
    while (at := one.reap.next_timer()) is not None and at < one.now + 5:
        one.reap.handle_timer(at)
        assert not [packet for packet in one.take() if isinstance(decode(packet.payload), Keepalive)]


def test_no_keepalive_follows_the_last_word_of_an_edge() -> None:
    one = One()
    one.answer_checks()
    assert not one.wait(60)
    assert not [output for output in one.outputs if isinstance(output, Check)]


def test_a_peer_that_is_no_edge_is_checked_by_probes_that_report_one_of_its_own() -> None:
    one = One(answers_checks=False)
    asked = one.wait(0.5)
    # It has sent none yet.
    assert {(probe.state, pair_of(probe)) for probe in asked} == {(ProbeState.EXPLORING, PAIRS[0])}
    (answer,) = one.hear(ProbeState.INBOUND_OK, PAIRS[0], asked[0], nonce=5)
    assert (answer.state, [each.nonce for each in answer.received]) == (ProbeState.OPERATIONAL, [5])
    checks = one.wait(1)
    assert {pair_of(probe) for probe in checks} == set(PAIRS[1:])
    assert {probe.state for probe in checks} == {ProbeState.INBOUND_OK}
    assert {tuple(each.nonce for each in probe.received) for probe in checks} == {(5,)}
    assert one.state is FINE
