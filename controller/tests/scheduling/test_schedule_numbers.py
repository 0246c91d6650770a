"""Numbers of schedules: the same again for the same ways, and another generation for whoever comes after somebody."""

from __future__ import annotations

import itertools

from wayname.config.schedules import SchedulingPolicy
from wayname.edge.boundary import Json, Persist
from wayname.edge.outputs import Outputs
from wayname.pipeline.schedules import Registers
from wayname.session.scheduling.numbers import GENERATIONS, ScheduleNumbers

FIRST = SchedulingPolicy.FASTEST_FIRST


class Numbers:
    """A controller's numbers, and what it wrote down."""

    def __init__(self, most: int = 10, memory: dict[str, Json] | None = None) -> None:
        self.outputs = Outputs()
        self.memory = memory or {}
        self.numbers = ScheduleNumbers(self.memory, self.outputs, most)

    def take(self, of: str, *live: str) -> Registers:
        """Take numbers that there are."""
        taken = self.numbers.take(of, FIRST, live)
        assert taken is not None
        return taken

    def written(self) -> dict[str, Json]:
        """Return what is written down by now."""
        for output in self.outputs.take():
            if isinstance(output, Persist):
                self.memory[output.key] = output.value
        return self.memory


def test_each_set_of_ways_has_a_number_and_keeps_it() -> None:
    known = Numbers()
    assert [known.take(of).schedule for of in ("a", "b", "a")] == [1, 2, 1]
    assert known.take("a") == known.take("a")


def test_a_generation_is_never_the_one_before() -> None:
    known = Numbers()
    seen = [known.take("a").generation]
    for _ in range(GENERATIONS):
        seen.append(known.numbers.begin_anew("a", FIRST).generation)
        assert seen[-1] == known.take("a").generation
    assert all(one != other for one, other in itertools.pairwise(seen))
    assert max(seen) < GENERATIONS


def test_another_controller_goes_on_where_the_last_one_was() -> None:
    known = Numbers()
    known.take("a")
    before = known.take("b")
    other = Numbers(memory=known.written())
    assert other.take("b") == before
    assert other.take("c").schedule == 3


def test_when_all_are_used_those_of_nobody_go_round() -> None:
    known = Numbers(most=2)
    first, second = known.take("a"), known.take("b")
    assert known.numbers.take("c", FIRST, ["a", "b"]) is None
    third = known.take("c", "a")
    assert third.schedule == second.schedule
    assert third.generation != second.generation
    assert known.take("a", "c") == first
