"""Numbers of sessions: which are given, and with which generation they are used again."""

from __future__ import annotations

from wayname.edge.boundary import Json, Persist
from wayname.edge.outputs import Outputs
from wayname.p4_constants import WATCHED_SESSIONS
from wayname.session.numbers import SessionNumbers


def written(outputs: Outputs) -> dict[str, Json]:
    """Return what the next controller will know."""
    memory: dict[str, Json] = {}
    for output in outputs.take():
        assert isinstance(output, Persist)
        memory[output.key] = output.value
    return {key: value for key, value in memory.items() if value is not None}


def test_a_number_is_used_again_with_another_generation() -> None:
    outputs = Outputs()
    numbers = SessionNumbers(1, {}, outputs)
    assert numbers.take() == (1, 1)
    assert numbers.take() is None
    numbers.free(1, 7)
    # The switch's registers still hold what the last session left there: so must the next controller know.
    assert SessionNumbers(1, written(outputs), outputs).take() == (1, 8)


def test_a_kept_number_is_given_once_when_it_is_free_again() -> None:
    numbers = SessionNumbers(3, {}, Outputs())
    numbers.keep(2)
    numbers.free(2, 5)
    assert [numbers.take() for _ in range(4)] == [(1, 1), (3, 1), (2, 6), None]


def test_what_needs_no_watching_leaves_the_registers_to_others() -> None:
    outputs = Outputs()
    numbers = SessionNumbers(WATCHED_SESSIONS, {}, outputs)
    assert numbers.take_unwatched() == (WATCHED_SESSIONS, 1)
    # There is one such number only.
    assert numbers.take_unwatched() == (1, 1)
    assert numbers.take() == (2, 1)
    numbers.free(WATCHED_SESSIONS, 1)
    assert written(outputs) == {}
    assert numbers.take_unwatched() == (WATCHED_SESSIONS, 1)


def test_a_number_without_a_register_has_nothing_to_be_written_down() -> None:
    numbers = SessionNumbers(WATCHED_SESSIONS + 1, {}, Outputs())
    numbers.keep(WATCHED_SESSIONS)
    assert numbers.take_unwatched() == (WATCHED_SESSIONS + 1, 1)
    numbers.free(WATCHED_SESSIONS, 1)
    assert numbers.take_unwatched() == (WATCHED_SESSIONS, 1)
