"""Two sides that lose their ways and find others: they recover in time, and send no more than they should."""

from __future__ import annotations

from itertools import pairwise

import pytest
from reap.world import DELAY, World
from shim6.network import A1, A2, B1, B2

from wayname.session.keys import Pair
from wayname.session.reap.outputs import KeepaliveWanted, Move, Refused, Unverified, Verified
from wayname.session.reap.states import State
from wayname.session.reap.timing import Timing

SECOND = 1.0


def busy(world: World, seconds: float, every: float = 0.05, sides: str = "AB") -> None:
    """Let hosts send all the time."""
    for side in (world.a, world.b):
        if side.letter in sides:
            world.traffic(side, every, world.now + seconds)


def longest_gap(arrivals: list[float], since: float) -> float:
    """Return the longest time without a packet, from a time on."""
    times = [since, *(each for each in arrivals if each >= since)]
    return max(after - before for before, after in pairwise(times))


@pytest.mark.parametrize("send_timeout", [15.0, 1.0, 0.1, 0.02])
def test_a_cut_is_bridged_by_a_verified_backup_within_the_send_timeout(send_timeout: float) -> None:
    world = World(send_timeout=max(send_timeout, 2.5 * DELAY))
    every = 2 * DELAY / 5
    busy(world, 3 * send_timeout + 2, every)
    world.run(send_timeout + 1)
    assert len(world.a.reap.verified(world.a.name)) == 4
    cut = world.now
    world.cut_provider(A1)
    world.run(2 * send_timeout + 1)
    limit = world.a.timing.send_timeout + 2 * DELAY + 2 * every + 0.002
    assert longest_gap(world.a.arrivals, cut) <= limit
    assert longest_gap(world.b.arrivals, cut) <= limit
    assert {world.a.switch.path.local, world.b.switch.path.peer} == {A2}
    assert (world.a.state, world.b.state) == (State.OPERATIONAL, State.OPERATIONAL)


def test_a_cut_without_a_backup_costs_one_exploration_of_a_disjoint_pair() -> None:
    world = World(timing=Timing.of(1.0, backup_probe_interval=1000.0))
    world.loss = 1.0
    world.run(20)
    assert not world.a.reap.verified(world.a.name) - {Pair(A1, B1)}
    world.loss = 0.0
    world.probes.clear()
    world.cut_provider(A1)
    world.cut_provider(B1)
    began = world.now
    busy(world, 3, 0.01, "A")
    world.run(3)
    # The pair in use was asked before silence there counted; then comes what shares no locator with it.
    probes = [Pair(probe.source, probe.destination) for _, probe in world.probes]
    assert probes[:4] == [Pair(A1, B1)] * 3 + [Pair(A2, B2)]
    move = next(output for output in world.a.outputs if isinstance(output, Move))
    assert move.pair == Pair(A2, B2)
    assert "no answer for 1.0" in move.why
    assert min(world.b.arrivals) <= began + 1.0 + 4 * DELAY + 0.02


def test_each_direction_has_a_pair_of_its_own() -> None:
    world = World()
    world.cut = {Pair(A1, B1), Pair(A1, B2), Pair(A2, B2), Pair(B1, A1), Pair(B1, A2), Pair(B2, A2)}
    busy(world, 20)
    world.run(20)
    assert world.a.switch.path == Pair(A2, B1)
    assert world.b.switch.path == Pair(B2, A1)
    assert world.a.reap.verified(world.a.name) == {Pair(A2, B1)}
    assert world.b.reap.verified(world.b.name) == {Pair(B2, A1)}
    assert (world.a.state, world.b.state) == (State.OPERATIONAL, State.OPERATIONAL)


def test_one_way_traffic_is_answered_by_keepalives_and_nothing_is_explored() -> None:
    world = World()
    busy(world, 10, sides="A")
    world.run(10)
    assert not world.a.of(Move)
    assert not any(output for output in world.a.outputs if isinstance(output, Unverified))
    assert 10 <= len(world.b.of(KeepaliveWanted)) <= 40
    assert world.a.state is State.OPERATIONAL


def test_an_idle_context_costs_nothing() -> None:
    world = World()
    world.run(100)
    before = len(world.probes)
    world.run(1000)
    assert len(world.probes) == before


def test_packets_go_back_to_the_preferred_pair_and_stay_there() -> None:
    world = World()
    busy(world, 60)
    world.run(3)
    world.cut_provider(A1)
    world.run(10)
    assert world.a.switch.path.local == A2
    world.repair()
    repaired = world.now
    world.run(3)
    assert world.a.switch.path.local == A2
    world.run(40)
    assert world.a.switch.path == Pair(A1, B1)
    assert world.b.switch.path == Pair(B1, A1)
    back = [output for output in (*world.a.outputs, *world.b.outputs) if isinstance(output, Move)]
    assert len(back) == 1
    assert "the preferred path has worked for" in back[0].why
    assert longest_gap(world.b.arrivals, repaired) < 0.1


def test_a_way_that_is_dead_in_one_direction_does_not_make_packets_go_to_and_fro() -> None:
    world = World()
    busy(world, 200)
    world.run(3)
    world.cut = {Pair(B1, A1)}
    world.run(190)
    moves = len(world.a.of(Move)) + len(world.b.of(Move))
    assert moves <= 4
    assert longest_gap(world.a.arrivals, world.now - 150) < 0.1
    assert longest_gap(world.b.arrivals, world.now - 150) < 0.1


@pytest.mark.parametrize("seed", range(25))
def test_whatever_happens_they_find_each_other_when_it_is_over(seed: int) -> None:
    world = World(seed)
    chance = world.chance
    busy(world, 100, 0.04)
    for _ in range(6):
        world.loss = chance.choice([0.0, 0.1, 0.4])
        every = [pair for side in (world.a, world.b) for pair in side.pairs]
        world.cut = set(chance.sample(every, chance.randint(0, 8)))
        world.run(chance.uniform(0.1, 8))
    # At the end one way is left for each direction.
    world.loss = 0.0
    ways = [chance.choice(side.pairs) for side in (world.a, world.b)]
    world.cut = {*world.a.pairs, *world.b.pairs} - set(ways)
    # Probes are up to six seconds apart now, and there are four pairs.
    world.run(40)
    assert [world.a.switch.path, world.b.switch.path] == ways
    for side in (world.a, world.b):
        assert side.state is State.OPERATIONAL, side.letter
        assert side.arrivals[-1] > world.now - 1
        assert not side.of(Refused)
    # In a second each side sends four probes of an exploration, three of a doubt and three of each other pair at the
    # most, and the other side answers each.
    for start in range(1000, int(world.now)):
        assert sum(start <= at < start + SECOND for at, _ in world.probes) <= 2 * 2 * (4 + 3 + 3 * 3)
    assert max(len(packet.payload) for _, packet in world.probes) <= 696


def test_all_ways_dead_probes_get_rare_and_the_first_that_is_repaired_is_found() -> None:
    world = World()
    busy(world, 400)
    world.run(3)
    for address in (A1, A2, B1, B2):
        world.cut_provider(address)
    world.run(60)
    assert sum(at > world.now - 30 for at, _ in world.probes) <= 2 * 8
    world.cut -= {Pair(A2, B1), Pair(B1, A2)}
    world.run(30)
    assert world.a.switch.path == Pair(A2, B1)
    assert world.b.switch.path == Pair(B1, A2)
    assert world.a.of(Verified)
