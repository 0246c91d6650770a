"""The tables of states: what leads where, and what a trigger without a row does."""

from __future__ import annotations

import pytest
from ilnp.network import (
    HERE,
    THERE,
    A,
    Network,
)

from wayname.ilnp.admission import ReceivedIlnpMessage
from wayname.ilnp.outputs import Event, Kind
from wayname.ilnp.states import FLOWS, TELLINGS, TRANSITIONS, USABLE, Action, State, TcpFlowState, Trigger


def test_all_states_are_reached_and_all_rows_lead_somewhere_that_can_be_left() -> None:
    assert set(TRANSITIONS) == set(State)
    assert {row.state for rows in TRANSITIONS.values() for row in rows.values()} == set(State)
    assert set(FLOWS) == set(TcpFlowState)
    assert {after for rows in FLOWS.values() for after in rows.values()} == set(FLOWS) - {TcpFlowState.NEW}
    assert {after for rows in TELLINGS.values() for after, _ in rows.values()} == set(TELLINGS)


def test_only_what_is_proved_makes_an_entry_and_nothing_else_leads_where_one_is_needed() -> None:
    for state, rows in TRANSITIONS.items():
        for trigger, row in rows.items():
            if row.state in USABLE and state not in USABLE:
                assert Action.ADMIT in row.actions, (state, trigger)
            if Action.ADMIT in row.actions:
                assert row.state in USABLE, (state, trigger)
                assert trigger not in (Trigger.REQUEST, Trigger.REQUEST_CROSSED, Trigger.CONNECT), (state, trigger)


WITHOUT_ROW = [(state, trigger) for state in State for trigger in Trigger if trigger not in TRANSITIONS[state]]


@pytest.mark.parametrize(("state", "trigger"), WITHOUT_ROW)
def test_a_trigger_without_a_row_changes_nothing_and_is_told(state: State, trigger: Trigger) -> None:
    network = Network()
    network.establish()
    network.a.entry().state = state
    admission = network.a.endpoint._admission
    admission.fire(A, trigger, ReceivedIlnpMessage(HERE, THERE), network.now)
    (event,) = network.a.endpoint.take_outputs()
    assert isinstance(event, Event)
    assert event.kind is Kind.PROTOCOL
    assert f"{trigger.name} while {state.name}" in event.words
    assert network.a.entry().state is state
