"""What is remembered of newcomers: a group makes nobody forgotten but its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayname.bounded_by_source import BoundedBySource


def test_a_group_that_has_many_forgets_its_own() -> None:
    kept: BoundedBySource[int, str, str] = BoundedBySource(most=100, most_of_group=10)
    kept.put(0, "of another", "b")
    for number in range(1, 1000):
        kept.put(number, "one of many", "a")
    assert kept.get(0) == "of another"
    assert len(kept) == 11
    assert [number for number in range(1, 1000) if kept.get(number)] == list(range(990, 1000))


def test_of_many_groups_the_oldest_goes() -> None:
    kept: BoundedBySource[int, int, int] = BoundedBySource(most=5, most_of_group=2)
    for number in range(20):
        kept.put(number, number, number)
    assert [number for number in range(20) if kept.get(number) is not None] == [15, 16, 17, 18, 19]


steps = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.booleans()))


@given(steps)
def test_is_bounded_whatever_comes(steps: list[tuple[int, int, bool]]) -> None:
    kept: BoundedBySource[int, int, int] = BoundedBySource(most=6, most_of_group=3)
    for key, group, comes in steps:
        if comes:
            kept.put(key, group, group)
            assert kept.get(key) == group
        else:
            kept.pop(key)
            assert kept.get(key) is None
        groups = [found for number in range(10) if (found := kept.get(number)) is not None]
        assert len(groups) == len(kept) <= 6
        assert max(map(groups.count, groups), default=0) <= 3
