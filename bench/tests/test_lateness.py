"""How late an application was served, hidden stalls and all."""

from __future__ import annotations

import random

import pytest

from bench.lateness import Arrival, Schedule, carried, waited
from bench.spread import Spread

SCHEDULE = Schedule(begin=10.0, octets=1000, interval=0.01)
DELAY, ALLOWED = 0.005, 0.002
PIECES = 300
FAILED = 11.0


def arrivals(late: dict[int, float]) -> list[Arrival]:
    """Return the arrival of each piece, in order as TCP hands them over, where some are so late."""
    found, latest = [], 0.0
    for piece in range(PIECES):
        latest = max(latest, SCHEDULE.written(piece * 1000) + DELAY + late.get(piece, 0.0))
        found.append(Arrival(latest, (piece + 1) * 1000))
    return found


def test_what_comes_on_time_is_not_late() -> None:
    wait = waited(SCHEDULE, arrivals({}), FAILED, ALLOWED)
    assert (wait.behind, wait.longest) == (0.0, 0.0)


def test_a_stall_is_as_long_as_its_first_octet_waits() -> None:
    wait = waited(SCHEDULE, arrivals({120: 0.5}), FAILED, ALLOWED)
    assert wait.longest == pytest.approx(0.5)
    assert wait.behind == pytest.approx(0.5)


def test_a_second_stall_behind_the_first_packet_is_not_hidden() -> None:
    """The packet that comes first after the failure is 0.5 s late, the next hole is closed a second later."""
    wait = waited(SCHEDULE, arrivals({120: 0.5, 121: 1.5}), FAILED, ALLOWED)
    assert wait.longest == pytest.approx(1.5)
    assert wait.behind == pytest.approx(1.51)


def test_a_later_stall_counts_for_itself() -> None:
    wait = waited(SCHEDULE, arrivals({120: 0.2, 200: 0.3}), FAILED, ALLOWED)
    assert wait.longest == pytest.approx(0.3)
    assert wait.behind == pytest.approx(0.5)


def test_what_was_late_before_the_failure_does_not_count() -> None:
    assert waited(SCHEDULE, arrivals({20: 0.3}), FAILED, ALLOWED).longest == 0.0


def test_a_connection_that_began_after_the_failure_is_refused() -> None:
    with pytest.raises(ValueError, match="before the failure"):
        waited(SCHEDULE, arrivals({}), 9.0, ALLOWED)


def test_goodput_between_two_moments() -> None:
    assert carried([Arrival(1.0, 1000), Arrival(2.0, 3000), Arrival(3.0, 9000)], 1.0, 2.5) == pytest.approx(
        2000 * 8 / 1.5
    )


def test_a_spread_has_the_worst_on_the_side_that_is_asked_for() -> None:
    rng = random.Random(1)
    values = [rng.random() for _ in range(50)]
    assert Spread.of(values).worst == max(values)
    assert Spread.of(values, least_is_worst=True).worst == min(values)
    assert Spread.of(values).tenth < Spread.of(values).median < Spread.of(values).ninetieth
    assert Spread.of([0.25]).cells(2) == ("0.25", "0.25", "0.25", "0.25")
