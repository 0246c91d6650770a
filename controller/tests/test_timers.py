"""Timers come in order, each once, and as they were set last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayname.timers import Timers

steps = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 9)))


@given(steps, st.integers(0, 9))
def test_are_due_as_set_last(steps: list[tuple[str, int | None]], now: int) -> None:
    timers: Timers[str] = Timers()
    expected: dict[str, int] = {}
    for key, at in steps:
        if at is None:
            timers.cancel(key)
            expected.pop(key, None)
        else:
            timers.set(key, at)
            expected[key] = at
    assert timers.next() == min(expected.values(), default=None)
    due = list(timers.due(now))
    assert sorted(due) == sorted(key for key, at in expected.items() if at <= now)
    assert [expected[key] for key in due] == sorted(expected[key] for key in due)
    assert timers.next() == min((at for at in expected.values() if at > now), default=None)
