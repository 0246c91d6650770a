"""What `make bench-ilcc` measures: a short flood, by both policies."""

from __future__ import annotations

import random

import pytest

from bench.ilcc import syns
from bench.ilcc.capacity import Filler, found_in
from bench.ilcc.edge import Edge, Peer, attack

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
    lines, _ = syns.measure(1, quick=True)
    assert lines[1].startswith("0 entries, 1 digest(s) for one connection")


def test_sessions_that_were_filled_in_are_found() -> None:
    edge = Edge()
    Filler(edge).write(range(1, 301))
    assert found_in(edge, 300, random.Random(1)) > 0
    with pytest.raises(RuntimeError, match="refuses"):
        Filler(edge).write(range(300, 302))
