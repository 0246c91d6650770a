"""What a session wants is replaced, and costs as much as has changed."""

from __future__ import annotations

import finsy as fy
from hypothesis import given
from hypothesis import strategies as st
from work import steps_of

from wayname.edge.desired_state import DesiredState, key_of, value_of
from wayname.pipeline import sessions as entries
from wayname.session.entries_by_session import EntriesBySession

SESSION = 1
wanted = st.dictionaries(st.integers(0, 9), st.integers(0, 9)).flatmap(
    lambda ways: st.permutations([entries.backup(SESSION, path, to) for path, to in ways.items()])
)


@given(st.lists(wanted))
def test_what_is_wanted_last_is_all_that_is_wanted(lists: list[list[fy.P4TableEntry]]) -> None:
    desired = DesiredState()
    of_sessions = EntriesBySession(desired)
    for each in [*lists, []]:
        of_sessions.replace(SESSION, list(each))
        assert {key_of(one): value_of(one) for one in desired.wanted()} == {key_of(one): value_of(one) for one in each}


def test_a_change_costs_what_has_changed() -> None:
    desired = DesiredState()
    of_sessions = EntriesBySession(desired)

    def replace(last: int) -> int:
        each = [entries.backup(SESSION, path, path + 1) for path in range(15)]
        each.append(entries.backup(SESSION, 15, last))
        steps = steps_of(lambda: of_sessions.replace(SESSION, each))
        return steps + steps_of(desired.updates)

    first = replace(1)
    assert replace(2) < 1.5 * first
