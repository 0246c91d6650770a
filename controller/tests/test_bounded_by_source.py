"""What is remembered of newcomers: a group makes nobody forgotten but its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayname.bounded_by_source import BoundedBySource


def test_a_group_that_has_many_forgets_its_own() -> None:
    bounded: BoundedBySource[int, str, str] = BoundedBySource(most=100, most_of_group=10)
    bounded.put(0, "of another", "b")
    for number in range(1, 1000):
        bounded.put(number, "one of many", "a")
    assert bounded.get(0) == "of another"
    assert len(bounded) == 11
    assert [number for number in range(1, 1000) if bounded.get(number)] == list(range(990, 1000))


def test_of_many_groups_the_oldest_goes() -> None:
    bounded: BoundedBySource[int, int, int] = BoundedBySource(most=5, most_of_group=2)
    for number in range(20):
        bounded.put(number, number, number)
    assert [number for number in range(20) if bounded.get(number) is not None] == [15, 16, 17, 18, 19]


steps = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.booleans()))


@given(steps)
def test_is_bounded_whatever_comes(steps: list[tuple[int, int, bool]]) -> None:
    bounded: BoundedBySource[int, int, int] = BoundedBySource(most=6, most_of_group=3)
    for key, group, comes in steps:
        if comes:
            bounded.put(key, group, group)
            assert bounded.get(key) == group
        else:
            bounded.pop(key)
            assert bounded.get(key) is None
        groups = [found for number in range(10) if (found := bounded.get(number)) is not None]
        assert len(groups) == len(bounded) <= 6
        assert max(map(groups.count, groups), default=0) <= 3
