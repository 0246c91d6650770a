"""What `make bench-tcp` draws and judges, and one draw of it live where there is root."""

from __future__ import annotations

import random

import pytest

from bench.multipath.tap import missing
from bench.tcp.compared import LIMIT, PAIRS, compared, measure
from bench.tcp.scripts import MSS, SCRIPTS


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_seed_draws_the_same_bad_luck_and_another_seed_another(kind: str) -> None:
    def drawn(seed: int) -> list[object]:
        rng = random.Random(seed)
        return [SCRIPTS[kind](rng) for _ in range(10)]

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize("kind", SCRIPTS)
def test_what_is_lost_is_a_part_of_the_connection(kind: str) -> None:
    for seed in range(50):
        script = SCRIPTS[kind](random.Random(seed))
        assert script.lost or script.dark or script.loss or script.late
        assert all(number * MSS < script.octets for number in script.lost)


@pytest.mark.parametrize(("lab", "goals"), [(0.119, 0), (0.121, 1)])
def test_the_lab_host_may_take_a_fifth_longer_than_linux(lab: float, goals: int) -> None:
    seen = compared({"the tail lost": {PAIRS[0]: [0.1] * 3, PAIRS[1]: [lab] * 3, PAIRS[2]: [0.1] * 3}})
    assert len(seen.missed) == goals
    assert sum("the tail lost" in line for line in seen.text) == 3


@pytest.mark.skipif(missing() is not None, reason=f"Linux's TCP on a wire of its own needs {missing()}")
def test_all_pairs_mend_a_segment_that_was_lost_once() -> None:
    seen = measure("one segment lost", 1, 1)
    # A segment that is missing cannot be acknowledged before it went once more, a round trip of 10 ms later at least.
    assert {pair: len(values) for pair, values in seen.items()} == dict.fromkeys(PAIRS, 1)
    assert all(0.010 <= values[0] < LIMIT for values in seen.values())
