"""Backups: what verifies a pair, what takes that from it, and what events of a pair that was left say of others."""

from __future__ import annotations

from reap.one_context import FINE, NAME, PAIRS, TAG, One, pair_of

from wayname.session.reap.outputs import Move, Unverified, Verified
from wayname.session.reap.timing import Timing
from wayname.wire.shim6.messages import ProbeState


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


def test_backups_stand_when_the_peers_way_to_here_was_what_failed() -> None:
    """The peer explores and is heard by another pair: what it answered before, by its dead one, nobody could hear."""
    one = One(Timing.of(15.0, backup_probe_interval=5.0))
    one.answer_checks()
    one.reap.awaiting(NAME, 0.0, one.now)
    one.outputs.clear()
    one.wait(30)
    probe = one.hear(ProbeState.EXPLORING, PAIRS[3])[-1]
    one.hear(ProbeState.INBOUND_OK, PAIRS[3], probe)
    one.wait(0.5)
    assert [output.pair for output in one.outputs if isinstance(output, Unverified)] == [PAIRS[0]]
    assert one.reap.verified(NAME) == set(PAIRS[1:])


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
