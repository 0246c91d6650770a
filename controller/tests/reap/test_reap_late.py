"""A controller that comes late finds no peer silent: what would do so is asked again (RFC 5534, section 7)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reap.one_context import NAME, PAIRS, TIMING, One, pair_of

from wayname.session.reap.outputs import Check, Unverified
from wayname.session.reap.states import State
from wayname.session.reap.timing import Timing
from wayname.wire.shim6.messages import Probe, ProbeState

LATE = TIMING.probe_timeout
A_BIT_LATE = TIMING.probe_timeout / 4


def handle_next(one: One, late: float) -> list[Probe]:
    """Let the next timer be handled so late; return the probes that left."""
    due = one.reap.next_timer()
    assert due is not None
    one.now = due + late
    one.reap.handle_timer(one.now, late)
    return one.probes()


def run_until(one: One, late: float, ends: Callable[[], bool]) -> int:
    """Handle timers until something happens; return how many turns that took."""
    for turn in range(60):
        if ends():
            return turn
        handle_next(one, late)
    return 60


@pytest.mark.parametrize(("late", "judged"), [(0.0, True), (A_BIT_LATE, True), (LATE, False)])
def test_a_late_turn_does_not_end_what_is_heard(late: float, judged: bool) -> None:
    one = One()
    one.hear(ProbeState.EXPLORING, PAIRS[0])
    assert one.state is State.INBOUND_OK
    assert (run_until(one, late, lambda: one.state is State.EXPLORING) < 60) is judged


@pytest.mark.parametrize(("late", "judged"), [(0.0, True), (LATE, False)])
def test_a_late_turn_counts_no_check_of_a_backup(late: float, judged: bool) -> None:
    one = One(Timing.of(TIMING.send_timeout))
    one.answer_checks()

    for _ in range(60):
        one.reap.awaiting(NAME, 0.0, one.now)  # the session is in use
        # The pair in use answers, so that what others do not answer counts.
        for probe in handle_next(one, late):
            if pair_of(probe) == PAIRS[0]:
                one.hear(ProbeState.OPERATIONAL, PAIRS[0], probe)
    assert any(isinstance(output, Unverified) for output in one.outputs) is judged


@pytest.mark.parametrize(("late", "judged"), [(0.0, True), (LATE, False)])
def test_a_late_turn_counts_no_probe_of_a_doubted_pair(late: float, judged: bool) -> None:
    one = One()
    one.reap.doubt(NAME, "a router says so", one.now)
    assert (run_until(one, late, lambda: one.state is State.EXPLORING) < 60) is judged
    assert all(pair_of(probe) == PAIRS[0] for probe in one.probes())


def test_a_late_check_is_asked_again() -> None:
    one = One()
    one.reap.awaiting(NAME, TIMING.send_timeout, one.now)
    one.wait(TIMING.suspect_after - 0.1)
    handle_next(one, LATE)
    assert not [output for output in one.outputs if isinstance(output, Check)]
    one.wait(TIMING.suspect_after)
    assert [output for output in one.outputs if isinstance(output, Check)]
