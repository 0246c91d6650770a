"""Ways meet the same drawn conditions by turns, and are compared within each draw."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import ExitStack

from bench.transfers import DRAWS_OF_A_SITE, PORTS, SEGMENTS, Draw, Send, Share, Transfer, measure, report

DRAWS = 2 * DRAWS_OF_A_SITE + 5
NAMES = ("fast", "slow")


def measured(seed: int) -> tuple[list[tuple[str, Draw]], int]:
    """What the ways were asked to send, and how often sites were built."""
    asked: list[tuple[str, Draw]] = []
    built = 0

    def build(stack: ExitStack) -> Mapping[str, Send]:
        nonlocal built
        built += 1
        return {name: send(name) for name in NAMES}

    def send(name: str) -> Send:
        def one(draw: Draw) -> Transfer:
            asked.append((name, draw))
            return Transfer(1e9, draw.octets, 0, 0, 0)

        return one

    rates = measure(build, DRAWS, seed)
    assert rates == {name: [1.0] * DRAWS for name in NAMES}
    return asked, built


def test_ways_meet_the_same_conditions_by_turns_that_are_drawn() -> None:
    asked, built = measured(1)
    assert built == 3
    turns = [(asked[place], asked[place + 1]) for place in range(0, len(asked), 2)]
    assert all(first[1] == second[1] and first[0] != second[0] for first, second in turns)
    assert {first[0] for first, _ in turns} == set(NAMES)
    assert len({draw for _, draw in asked}) == DRAWS
    assert measured(1) == (asked, built)
    assert measured(2)[0] != asked


def test_a_draw_is_what_iperf3_is_told() -> None:
    rng = random.Random(1)
    draws = [Draw.of(rng) for _ in range(100)]
    assert {draw.turned for draw in draws} == {True, False}
    assert all(PORTS[0] <= draw.port <= PORTS[1] and SEGMENTS[0] <= draw.segment <= SEGMENTS[1] for draw in draws)
    assert Draw(2, 1000, 700, 4000, True).options == ("-P", "2", "-n", "1000", "-M", "700", "-p", "4000", "-R")
    assert "-R" not in Draw(2, 1000, 700, 4000, False).options


def test_shares_are_of_the_same_draw() -> None:
    # The medians of both are alike; draw by draw one has a tenth of the other mostly.
    rates = {"slow": [0.1, 0.2, 5.0], "fast": [1.0, 2.0, 1.0]}
    goal = Share("slow", "fast", 0.5).judged(rates)
    assert not goal.met and "median 0.10" in goal.text and "worst 0.10" in goal.text
    assert Share("fast", "slow", 0.5).judged(rates).met
    assert not report(rates, [Share("fast", "slow", 0.5), Share("slow", "fast", 0.5)], 1)
