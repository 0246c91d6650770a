"""Silence on the pair in use is no failure while the peer itself answers there."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from reap.one_context import EXPLORING, FINE, NAME, PAIRS, TAG, One, pair_of
from reap.world import World
from shim6.network import B1

from wayname.session.reap.outputs import Answered, Check, Move, RoundTrip
from wayname.session.reap.timing import Timing
from wayname.wire.shim6.messages import Probe, ProbeRecord, ProbeState

TIMEOUT = 1.0
TIMING = Timing.of(TIMEOUT, backup_probe_interval=1e6)


def suspicious() -> One:
    """Return a context whose pairs are verified, and the one in use silent for long."""
    one = One(TIMING)
    one.answer_checks()
    one.outputs.clear()
    one.reap.awaiting(NAME, TIMING.suspect_after, one.now)
    return one


def test_the_pair_in_use_is_asked_three_times_and_then_the_switch() -> None:
    one = suspicious()
    began = one.now
    probes = one.wait(TIMEOUT / 2)
    assert [pair_of(probe) for probe in probes] == [PAIRS[0]] * 3
    assert all(not probe.received for probe in probes)
    assert one.outputs == []
    one.wait(TIMEOUT)
    assert one.outputs == [Check(NAME)]
    assert one.now > began + TIMEOUT / 2


@pytest.mark.parametrize("answered", range(3))
def test_an_answer_to_any_of_them_ends_the_suspicion(answered: int) -> None:
    one = suspicious()
    probes = one.probes() + one.wait(answered * TIMING.suspect_every + 0.01)
    assert len(probes) == answered + 1
    one.hear(ProbeState.OPERATIONAL, PAIRS[0], probes[answered])
    assert one.outputs == [Answered(NAME)]
    assert one.wait(TIMEOUT / 3) == []


def test_an_answer_about_another_pair_ends_nothing() -> None:
    one = One(TIMING)
    checks = {pair_of(probe): probe for probe in one.wait(0.5)}
    one.outputs.clear()
    one.reap.awaiting(NAME, TIMING.suspect_after, one.now)
    one.hear(ProbeState.OPERATIONAL, PAIRS[0], checks[PAIRS[3]])
    assert Answered(NAME) not in one.outputs


def test_nobody_is_suspected_twice_at_once() -> None:
    one = suspicious()
    for _ in range(100):
        one.reap.awaiting(NAME, TIMING.suspect_after, one.now)
    assert len(one.wait(TIMEOUT / 2)) == 3


def test_an_exploration_asks_by_itself() -> None:
    one = One(TIMING)
    one.reap.unanswered(NAME, TIMEOUT, one.now)
    assert one.state is EXPLORING
    one.probes()
    one.reap.awaiting(NAME, TIMING.suspect_after, one.now)
    assert one.probes() == []


def test_the_longest_of_the_last_round_trips_is_told() -> None:
    one = One(Timing.of(0.1, backup_probe_interval=0.1))
    longest: list[float] = []
    rng = random.Random(1)
    for _ in range(40):
        one.reap.awaiting(NAME, 0.0, one.now)
        for probe in one.wait(0.05):
            one.now += rng.uniform(0.01, 0.03)
            record = ProbeRecord(PAIRS[0].peer, PAIRS[0].local, 77)
            one.reap.receive(NAME, Probe(TAG, ProbeState.OPERATIONAL, (record,), probe.sent[:1]), PAIRS[0], one.now)
            longest += [output.longest for output in one.reap.take_outputs() if isinstance(output, RoundTrip)]
    assert one.state is FINE
    assert len(longest) > 20
    assert all(0.01 <= each <= 0.2 for each in longest)
    # It forgets.
    assert any(later < earlier for earlier, later in pairwise(longest))


@pytest.mark.parametrize("seed", range(5))
def test_hosts_that_speak_seldom_stay_where_they_are_though_packets_get_lost(seed: int) -> None:
    world = World(seed, send_timeout=0.1)
    world.run(1)
    world.loss = 0.05
    rng = random.Random(seed)
    world.traffic(world.a, rng.uniform(0.5, 1.5), world.now + 120)
    world.run(120)
    # One packet in twenty is lost, and so is one answer in twenty.
    assert not world.a.of(Move)
    assert world.a.switch.path == PAIRS[0]


@pytest.mark.parametrize("seed", range(5))
def test_a_path_that_fails_is_left_as_soon_as_ever(seed: int) -> None:
    world = World(seed, send_timeout=0.1)
    rng = random.Random(seed)
    world.traffic(world.a, rng.uniform(0.001, 0.01), world.now + 5)
    world.run(1 + rng.random())
    cut = world.now
    world.cut_provider(B1)
    world.run(0.5)
    assert min(at for at in world.b.arrivals if at > cut + 0.05) < cut + 0.1 + 0.01 + 3 * 0.01 + 0.005
