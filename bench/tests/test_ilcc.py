"""What `make bench-ilcc` measures."""

from __future__ import annotations

import asyncio
import random
from threading import Barrier

import pytest

from bench.ilcc import attacker, flooding, syns
from bench.ilcc.capacity import Filler, found_in
from bench.ilcc.edge import Edge, Peer, attack
from bench.ilcc.flooding import ANSWERED, ATTACKERS, FULL, NAIVE, POLICIES, THREE_WAY, Part, Run, described
from wayname.ilnp.nonce import nonce_of
from wayname.ilnp.vectors import Vector
from wayname_lab.plan import plan_lab

PACKETS = 60


@pytest.mark.parametrize(("naive", "made"), [(False, 0), (True, PACKETS)])
def test_only_the_naive_policy_makes_sessions_for_a_flood(naive: bool, made: int) -> None:
    edge, frame = Edge(naive=naive), attack(random.Random(1))
    for _ in range(PACKETS):
        edge.take(frame())
    assert len(edge.endpoint.cache) == len(edge.numbers) == made


def test_who_asks_is_admitted_beside_a_flood() -> None:
    edge, frame, peer = Edge(), attack(random.Random(1)), Peer(1, 1)
    edge.take(frame())
    assert peer.connect(edge) > 0
    assert peer.session is not None and len(edge.endpoint.cache) == 1


def test_of_a_flood_of_syns_one_connection_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syns, "QUICK_SYNS", 2000)
    [result] = syns.run(1, quick=True)
    assert result.text[-1].startswith("0 entries, 1 digest(s) for one connection")


def test_sessions_that_were_filled_in_are_found() -> None:
    edge = Edge()
    Filler(edge).write(range(1, 301))
    assert found_in(edge, 300, random.Random(1)).median > 0
    with pytest.raises(RuntimeError, match="refuses"):
        Filler(edge).write(range(300, 302))


def test_each_attacker_has_a_link_to_the_provider() -> None:
    for attackers in (1, 5, 10):
        plan = plan_lab(described(THREE_WAY, attackers))
        assert sum(name.startswith("x") for name in plan.routers) == attackers
        assert {port.peer for port in plan.routers["p"].ports} == {
            "a",
            "b",
            *(f"x{n}" for n in range(1, attackers + 1)),
        }
    assert [described(policy, 1).ilnp.naive for policy in POLICIES] == [True, False, False]  # type: ignore[union-attr]


def test_packets_of_an_attacker_differ_in_identifier_and_nonce() -> None:
    plan = plan_lab(described(NAIVE, 1))
    rng, host = random.Random(1), plan.hosts["a1"].address.ip
    packets = [attacker.attack(rng, plan.routers["x1"].providers[0].prefix, host, 7000) for _ in range(100)]
    assert {len(packet.encode()) for packet in packets} == {88}, "the paper's 102 octets less the Ethernet header"
    assert len({Vector.of(packet.source).nid for packet in packets}) == len({nonce_of(each) for each in packets}) == 100


def test_a_live_flood_takes_no_place_of_an_edge_whose_host_answers_it() -> None:
    runs = asyncio.run(flooding.flood(Part(ANSWERED, 1, 1.0, (1, 2)), Barrier(1)))
    assert len(runs) == 2
    for run in runs:
        assert run.packets >= 43 and run.before and run.during
        assert (run.places, flooding._missed(run)) == (0, [])


def test_goals_are_missed_where_the_flood_takes_places_or_pings() -> None:
    runs = [Run(policy, attackers, [1.0], [(0.5, 1.0)] * 5) for policy in POLICIES for attackers in ATTACKERS]
    assert [goal for run in runs for goal in flooding._missed(run)] == []
    assert "took 3 places" in flooding._missed(Run(ANSWERED, 1, places=3))[0]
    assert "2 pings" in flooding._missed(Run(THREE_WAY, 10, lost=2))[0]
    assert flooding._missed(Run(THREE_WAY, FULL, lost=2)) == flooding._missed(Run(NAIVE, 1, lost=2, places=9)) == []
