"""One context step by step: explorations, doubts, and what reports of probes end them (RFC 5534)."""

from __future__ import annotations

from reap.one_context import EXPLORING, FINE, INBOUND, NAME, PAIRS, TAG, TIMING, One, pair_of
from shim6 import scapy_shim6 as other
from shim6.network import A1, A2, B1, B2

from wayname.session.keys import Pair
from wayname.session.reap.outputs import Check, Dropped, Entered, KeepaliveWanted, Move, Unverified
from wayname.session.reap.timing import Timing
from wayname.wire.shim6.messages import Probe, ProbeRecord, ProbeState


def test_an_exploration_tries_disjoint_pairs_first_and_the_failed_one_last() -> None:
    one = One()
    one.answer_checks()
    one.reap.unanswered(NAME, 15.0, one.now)
    probes = one.wait(1.5)
    assert [pair_of(probe) for probe in probes][:4] == [PAIRS[3], PAIRS[1], PAIRS[2], PAIRS[0]][: len(probes)]
    assert all(probe.state is ProbeState.EXPLORING for probe in probes)
    # What was sent before, and not reported, is told again.
    assert [record.nonce for record in probes[-1].sent] == [probe.sent[0].nonce for probe in reversed(probes)]
    assert Unverified(NAME, PAIRS[0], "no answer for 15.000 s") in one.outputs


def test_the_run_of_example_4() -> None:
    """RFC 5534, appendix A: this side is A, which learns of the failure from a probe of B."""
    one = One()
    one.answer_checks()
    (answer,) = one.hear(ProbeState.EXPLORING, Pair(A1, B2), nonce=0x71)
    assert one.state is INBOUND
    assert (answer.state, pair_of(answer)) == (ProbeState.INBOUND_OK, Pair(A1, B2))
    assert [record.nonce for record in answer.received] == [0x71]
    assert not one.hear(ProbeState.OPERATIONAL, Pair(A1, B2), answer)
    assert one.state is FINE
    assert Move(NAME, Pair(A1, B2), "the peer does not hear this side") in one.outputs
    assert one.outputs[-1] == Entered(NAME, FINE, "both sides hear each other")


def test_the_other_side_of_example_4() -> None:
    one = One()
    one.answer_checks()
    one.reap.unanswered(NAME, 15.0, one.now)
    (probe,) = one.probes()
    (last,) = one.hear(ProbeState.INBOUND_OK, Pair(A2, B2), probe, nonce=0x72)
    assert (last.state, pair_of(last), last.received[0].nonce) == (ProbeState.OPERATIONAL, Pair(A2, B2), 0x72)
    assert one.state is FINE
    assert [output.pair for output in one.outputs if isinstance(output, Move)] == [Pair(A2, B2)]


def test_a_lost_last_probe_is_sent_again_and_nothing_else_changes() -> None:
    one = One()
    one.reap.unanswered(NAME, 15.0, one.now)
    (probe,) = one.probes()
    one.hear(ProbeState.INBOUND_OK, Pair(A2, B2), probe)
    one.outputs.clear()
    (again,) = one.hear(ProbeState.INBOUND_OK, Pair(A2, B2), probe, nonce=78)
    assert again.state is ProbeState.OPERATIONAL
    assert not one.outputs


def test_what_reports_none_of_this_explorations_probes_ends_none() -> None:
    one = One()
    old = one.wait(1)
    one.reap.unanswered(NAME, 15.0, one.now)
    one.probes()
    one.hear(ProbeState.OPERATIONAL, PAIRS[0], old[0])
    assert one.state is INBOUND
    one.hear(ProbeState.INBOUND_OK, PAIRS[1])
    assert one.state is INBOUND
    one.wait(11)
    assert one.state is INBOUND
    one.wait(8)
    assert one.state is EXPLORING


def test_a_forged_report_is_none() -> None:
    one = One()
    one.answer_checks()
    one.reap.unanswered(NAME, 15.0, one.now)
    (probe,) = one.probes()
    (record,) = probe.sent[:1]
    wrong_nonce = Probe(TAG, probe.state, (ProbeRecord(record.source, record.destination, record.nonce ^ 1),))
    wrong_pair = Probe(TAG, probe.state, (ProbeRecord(A1, B2, record.nonce),))
    one.hear(ProbeState.INBOUND_OK, PAIRS[3], wrong_nonce, wrong_pair)
    assert not [output for output in one.outputs if isinstance(output, Move)]
    assert one.state is INBOUND


def test_a_probe_that_says_it_went_elsewhere_is_dropped() -> None:
    one = One()
    message = Probe(TAG, ProbeState.EXPLORING, (ProbeRecord(B2, A2, 1),))
    one.reap.receive(NAME, message, PAIRS[0], one.now)
    assert not one.take()
    assert one.outputs == [
        Dropped(NAME, f"a probe from {B1} to {A1} says that it went from {B2} to {A2}"),
    ]
    assert one.state is FINE


def test_a_doubt_probes_the_pair_in_use_and_moves_nothing() -> None:
    one = One()
    one.answer_checks()
    one.outputs.clear()
    one.wait(10)
    for _ in range(1000):
        one.reap.doubt(NAME, "ICMPv6 says that no route leads there", one.now)
    (probe,) = one.probes()
    assert pair_of(probe) == PAIRS[0]
    one.hear(ProbeState.OPERATIONAL, PAIRS[0], probe)
    one.wait(4)
    one.reap.doubt(NAME, "ICMPv6 says that no route leads there", one.now)
    assert not one.probes()
    assert one.outputs == []
    assert one.state is FINE


def test_a_doubt_that_nothing_dispels_leads_to_an_exploration() -> None:
    one = One()
    one.answer_checks()
    one.reap.doubt(NAME, "ICMPv6 says that no route leads there", one.now)
    probes = one.wait(0.5 * 1.2 * 3)
    assert [pair_of(probe) for probe in probes[:3]] == [PAIRS[0]] * 3
    assert pair_of(probes[3]) == PAIRS[3]
    why = "ICMPv6 says that no route leads there, and 3 probes of the path were not answered"
    assert Entered(NAME, EXPLORING, why) in one.outputs


def test_the_switch_is_asked_again_when_the_time_is_over() -> None:
    one = One()
    one.answer_checks()
    one.outputs.clear()
    one.reap.awaiting(NAME, 8.0, one.now)
    one.reap.silent(NAME, 1.0, one.now)
    one.wait(3.9)
    assert one.outputs == []
    one.wait(0.2)
    assert one.outputs == [KeepaliveWanted(NAME)]
    one.wait(4)
    assert one.outputs == [KeepaliveWanted(NAME), Check(NAME)]


def test_packets_do_not_follow_the_peer_to_a_pair_that_is_known_to_fail() -> None:
    one = One(Timing.of(15.0, backup_probe_interval=5.0))
    checks = {pair_of(probe): probe for probe in one.wait(0.6)}
    one.hear(ProbeState.OPERATIONAL, PAIRS[0], checks[PAIRS[1]])
    one.wait(3)
    one.outputs.clear()
    one.reap.followed(NAME, PAIRS[2], one.now)
    one.take()
    why = f"the peer changed its path, but it is not reached by {A2} to {B1}"
    assert one.outputs == [Move(NAME, PAIRS[0], why)]
    one.reap.followed(NAME, PAIRS[1], one.now)
    assert not one.take()
    assert len(one.outputs) == 1


def test_old_events_of_the_path_before_change_nothing() -> None:
    one = One()
    one.answer_checks()
    one.reap.unanswered(NAME, 15.0, one.now)
    (probe,) = one.probes()
    one.hear(ProbeState.INBOUND_OK, Pair(A2, B2), probe)
    one.wait(0.1)
    one.reap.unanswered(NAME, 15.2, one.now)
    assert one.state is FINE


def test_other_locators_while_an_exploration_is_under_way() -> None:
    one = One()
    one.answer_checks()
    one.reap.unanswered(NAME, 15.0, one.now)
    one.probes()
    one.reap.watch(NAME, 0x99, TIMING, [Pair(A1, B1), Pair(A1, B2)], PAIRS[0], one.now)
    probes = one.wait(20)
    assert {pair_of(probe) for probe in probes} == {Pair(A1, B1), Pair(A1, B2)}
    assert {probe.tag for probe in probes} == {0x99}
    one.reap.watch(NAME, 0x99, TIMING, [], PAIRS[0], one.now)
    assert not one.wait(100)
    one.reap.forget(NAME)
    assert one.reap.next_timer() is None
    one.reap.heard(NAME, one.now)
    assert not one.reap.take_outputs()


def test_on_the_wire_another_reader_reads_the_same() -> None:
    one = One()
    one.answer_checks()
    one.reap.unanswered(NAME, 15.0, one.now)
    one.wait(1.6)
    one.reap.receive(NAME, Probe(TAG, ProbeState.EXPLORING, (ProbeRecord(B2, A2, 0xABCD, 0x55),)), PAIRS[3], one.now)
    (packet,) = one.take()
    layer = other.Probe(packet.payload)
    assert (layer.number, layer.receiver_tag, layer.state) == (67, TAG, 2)
    assert (layer.precvd, len(layer.received), layer.psent) == (1, 1, len(layer.sent))
    assert (layer.sent[0].source, layer.sent[0].destination) == (str(packet.source), str(packet.destination))
    (report,) = layer.received
    assert (report.source, report.destination, report.nonce, report.data) == (str(B2), str(A2), 0xABCD, 0x55)
