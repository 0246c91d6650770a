"""The state machine beside the tables of RFC 5534, section 6, and one context step by step."""

from __future__ import annotations

import random

import pytest
from shim6 import scapy_shim6 as other
from shim6.network import A1, A2, B1, B2

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.machine import Sign
from wayname.session.reap.outputs import (
    Check,
    Dropped,
    Entered,
    KeepaliveWanted,
    Move,
    Output,
    Refused,
    RoundTrip,
    Unverified,
    Verified,
)
from wayname.session.reap.reap import Reap
from wayname.session.reap.states import TRANSITIONS, Action, State, Trigger
from wayname.session.reap.timing import Timing
from wayname.shim6.outputs import Send
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import Keepalive, Probe, ProbeRecord, ProbeState, decode

NAME = SessionKey(A1, B1)
PAIRS = [Pair(A1, B1), Pair(A1, B2), Pair(A2, B1), Pair(A2, B2)]
FINE, EXPLORING, INBOUND = State.OPERATIONAL, State.EXPLORING, State.INBOUND_OK
TAG = 0x1234
TIMING = Timing.of(15.0, backup_probe_interval=1e6)

# Sections 6.1 and 6.4 to 6.9, column by column: the state afterwards, and whether a probe leaves.
RFC_ROWS = [
    (Trigger.HEARD, {FINE: (FINE, False), EXPLORING: (INBOUND, True), INBOUND: (INBOUND, False)}),
    (Trigger.UNANSWERED, {FINE: (EXPLORING, True), EXPLORING: (EXPLORING, False)}),
    (Trigger.SEND_TIMEOUT, {INBOUND: (EXPLORING, True)}),
    (Trigger.RETRANSMIT, {EXPLORING: (EXPLORING, True), INBOUND: (INBOUND, True)}),
    (Trigger.PROBE_EXPLORING, {FINE: (INBOUND, True), EXPLORING: (INBOUND, True), INBOUND: (INBOUND, True)}),
    (Trigger.PROBE_INBOUND_OK, {FINE: (FINE, True), EXPLORING: (FINE, True), INBOUND: (FINE, True)}),
    (Trigger.PROBE_OPERATIONAL, {FINE: (FINE, False), EXPLORING: (FINE, False), INBOUND: (FINE, False)}),
]


@pytest.mark.parametrize(("trigger", "columns"), RFC_ROWS)
def test_the_tables_of_the_rfc(trigger: Trigger, columns: dict[State, tuple[State, bool]]) -> None:
    for state, (following, probes) in columns.items():
        row = TRANSITIONS[state][trigger]
        assert row.state is following
        assert bool({Action.PROBE, Action.ANSWER} & set(row.actions)) is probes


def test_every_row_is_for_a_trigger_that_may_happen_there() -> None:
    assert {trigger for rows in TRANSITIONS.values() for trigger in rows} == set(Trigger)
    absent = {(state, trigger) for state in State for trigger in Trigger if trigger not in TRANSITIONS[state]}
    # Timers that do not run there, and the end of a doubt that an exploration has ended.
    assert absent == {
        (FINE, Trigger.RETRANSMIT),
        (FINE, Trigger.SEND_TIMEOUT),
        (EXPLORING, Trigger.SEND_TIMEOUT),
        (EXPLORING, Trigger.PAIR_FAILED),
        (INBOUND, Trigger.PAIR_FAILED),
    }


class One:
    """A context alone, with the peer in the hands of the test."""

    def __init__(self, timing: Timing = TIMING, most_probes: int = 1000, answers_checks: bool = True) -> None:
        self.now = 100.0
        self.reap = Reap(random.Random(5), most_probes)
        self.reap.watch(NAME, TAG, timing, PAIRS, PAIRS[0], self.now, answers_checks=answers_checks)
        self.outputs: list[Output] = []

    @property
    def state(self) -> State:
        """The state of the context."""
        watched = self.reap.watched(NAME)
        assert watched is not None
        return watched.state

    def take(self) -> list[Packet]:
        """Return the packets that left; what else came out is kept, but for how long answers took."""
        outputs = self.reap.take_outputs()
        self.outputs += [output for output in outputs if not isinstance(output, Send | RoundTrip)]
        return [output.packet for output in outputs if isinstance(output, Send)]

    def probes(self) -> list[Probe]:
        """Return the probes that left."""
        messages = [decode(packet.payload) for packet in self.take()]
        return [message for message in messages if isinstance(message, Probe)]

    def wait(self, seconds: float) -> list[Probe]:
        """Let time pass; return the probes that left."""
        end, probes = self.now + seconds, self.probes()
        while (at := self.reap.next_timer()) is not None and at <= end:
            self.now = max(at, self.now)
            self.reap.handle_timer(self.now)
            probes += self.probes()
        self.now = end
        return probes

    def hear(self, state: ProbeState, pair: Pair, *reports: Probe, nonce: int = 77) -> list[Probe]:
        """Let a probe of the peer arrive; return those that left."""
        record = ProbeRecord(pair.peer, pair.local, nonce)
        message = Probe(TAG, state, (record,), tuple(probe.sent[0] for probe in reports))
        self.reap.receive(NAME, message, pair, self.now)
        return self.probes()

    def answer_checks(self) -> None:
        """Verify all pairs."""
        for probe in self.wait(1):
            if probe.state is ProbeState.OPERATIONAL and not probe.received:
                self.hear(ProbeState.OPERATIONAL, PAIRS[0], probe)


def pair_of(probe: Probe) -> Pair:
    """Return the pair that a probe says it went by."""
    return Pair(probe.sent[0].source, probe.sent[0].destination)


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


def test_what_the_switch_did_is_confirmed_by_a_probe_that_tells_the_peer() -> None:
    one = One()
    one.answer_checks()
    one.reap.left_path(NAME, PAIRS[0], PAIRS[2], 15.0, one.now)
    (probe,) = one.probes()
    assert (pair_of(probe), probe.state) == (PAIRS[2], ProbeState.EXPLORING)
    one.hear(ProbeState.INBOUND_OK, PAIRS[2], probe)
    assert one.state is FINE
    # It is there already.
    assert not [output for output in one.outputs if isinstance(output, Move)]
    assert PAIRS[0] not in one.reap.verified(NAME)


def test_a_backup_is_verified_by_its_report_alone() -> None:
    one = One()
    checks = one.wait(1)
    assert one.reap.verified(NAME) == {PAIRS[0]}
    check = next(probe for probe in checks if pair_of(probe) == PAIRS[3])
    assert not one.hear(ProbeState.OPERATIONAL, PAIRS[0], check)
    assert one.outputs == [Verified(NAME, PAIRS[3])]
    assert one.reap.verified(NAME) == {PAIRS[0], PAIRS[3]}


def test_a_check_of_the_peer_is_answered_by_the_pair_in_use() -> None:
    one = One()
    one.answer_checks()
    (answer,) = one.hear(ProbeState.INBOUND_OK, PAIRS[3], nonce=9)
    assert (pair_of(answer), answer.state) == (PAIRS[0], ProbeState.OPERATIONAL)
    assert [record.nonce for record in answer.received] == [9]
    assert one.state is FINE


def test_a_verified_pair_that_dies_is_a_backup_no_more() -> None:
    one = One(Timing.of(15.0, backup_probe_interval=5.0))
    one.answer_checks()
    one.reap.awaiting(NAME, 0.0, one.now)
    one.outputs.clear()
    for _ in range(40):
        # The pair in use answers: what others do not answer is their own fault.
        for probe in one.wait(1):
            if pair_of(probe) == PAIRS[0]:
                one.hear(ProbeState.OPERATIONAL, PAIRS[0], probe)
    assert one.reap.verified(NAME) == {PAIRS[0]}
    [died] = [each for each in one.outputs if isinstance(each, Unverified) and each.pair == PAIRS[1]]
    assert "probes were not answered" in died.why


def test_a_backup_stands_while_the_path_in_use_may_be_what_answers_are_lost_on() -> None:
    one = One(Timing.of(15.0, backup_probe_interval=5.0))
    one.answer_checks()
    one.reap.awaiting(NAME, 0.0, one.now)
    one.outputs.clear()
    unanswered = [probe for probe in one.wait(14.9) if pair_of(probe) == PAIRS[3]]
    assert len(unanswered) > 3
    assert one.reap.verified(NAME) == set(PAIRS)
    # What the switch finds out now is why; the backup that it went to is proven still.
    one.reap.left_path(NAME, PAIRS[0], PAIRS[3], 15.0, one.now)
    assert PAIRS[3] in one.reap.verified(NAME)
    assert PAIRS[0] not in one.reap.verified(NAME)


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


def test_packets_go_back_again_when_a_better_pair_is_there_again() -> None:
    one = One(Timing.of(1.0))
    one.answer_checks()
    one.reap.displaced(NAME, one.now)
    for pairs, current in ((PAIRS[2:], PAIRS[3]), (PAIRS, PAIRS[2])):
        one.reap.watch(NAME, TAG, Timing.of(1.0), pairs, current, one.now)
        for _ in range(40):
            one.reap.awaiting(NAME, 0.0, one.now)
            for probe in one.wait(0.5):
                if probe.state is ProbeState.OPERATIONAL and not probe.received:
                    one.hear(ProbeState.OPERATIONAL, pair_of(probe), probe)
    assert [output.pair for output in one.outputs if isinstance(output, Move)] == [PAIRS[2], PAIRS[0]]


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


def test_a_timer_that_does_not_run_there_is_a_protocol_error() -> None:
    one = One()
    one.reap._machine.fire(one.reap._watched[NAME], Trigger.SEND_TIMEOUT, Sign(), 0)
    assert one.reap.take_outputs() == [Refused(NAME, FINE, Trigger.SEND_TIMEOUT)]


def test_a_backup_that_is_left_is_not_said_to_fail_as_the_pair_before_it_did() -> None:
    one = One()
    one.answer_checks()
    one.reap.left_path(NAME, PAIRS[0], PAIRS[3], 0.516, one.now)
    probes = {pair_of(probe): probe for probe in one.wait(2)}
    one.outputs.clear()
    one.hear(ProbeState.INBOUND_OK, PAIRS[1], probes[PAIRS[1]])
    why = f"the peer got probes by other paths, and none by {PAIRS[3].local} to {PAIRS[3].peer}"
    assert Move(NAME, PAIRS[1], why) in one.outputs
    assert Unverified(NAME, PAIRS[3], why) in one.outputs


def test_old_events_of_a_pair_that_was_left_say_nothing_of_the_one_in_use() -> None:
    one = One()
    one.answer_checks()
    one.reap.moved(NAME, PAIRS[3], one.now)
    one.outputs.clear()
    one.now += 0.1
    assert not one.reap.left_path(NAME, PAIRS[0], PAIRS[1], 0.516, one.now)
    assert not one.probes()
    assert one.outputs == [Unverified(NAME, PAIRS[0], "no answer for 0.516 s")]
    assert one.reap.verified(NAME) == set(PAIRS[1:])
    assert one.state is FINE


def test_events_of_a_pair_that_was_left_long_before_are_taken() -> None:
    one = One()
    one.answer_checks()
    one.reap.moved(NAME, PAIRS[3], one.now)
    one.now += 60
    assert one.reap.left_path(NAME, PAIRS[0], PAIRS[1], 15.0, one.now)
    assert Unverified(NAME, PAIRS[0], "no answer for 15.000 s") in one.outputs + one.reap.take_outputs()


def test_who_answers_nothing_is_asked_less_and_less() -> None:
    one = One(Timing.of(1.0, backup_probe_interval=1.0))
    one.answer_checks()
    asked = []
    for _ in range(120):
        one.reap.awaiting(NAME, 0.0, one.now)
        asked.append(len(one.wait(1)))
    assert sum(asked[-60:]) < sum(asked[:20])
