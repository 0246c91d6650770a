"""The state machine beside the tables of RFC 5534, section 6."""

from __future__ import annotations

import pytest
from reap.one_context import EXPLORING, FINE, INBOUND, NAME, One

from wayname.session.reap.machine import Sign
from wayname.session.reap.outputs import Refused
from wayname.session.reap.states import TRANSITIONS, Action, State, Trigger

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


def test_a_timer_that_does_not_run_there_is_a_protocol_error() -> None:
    one = One()
    one.reap._machine.fire(one.reap._watched[NAME], Trigger.SEND_TIMEOUT, Sign(), 0)
    assert one.reap.take_outputs() == [Refused(NAME, FINE, Trigger.SEND_TIMEOUT)]
