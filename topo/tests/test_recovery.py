"""A provider fails under TCP at any moment and pace, on the virtual clock: what edges do, and what the receiver sees."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from looking import kinds

from wayname_lab.load import find_lab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab

SETTLED = 5.0
SLOWEST, FASTEST = 500_000, 10_000_000  # bit/s


@dataclass(frozen=True)
class Draw:
    """A moment, a pace and a direction."""

    seed: int
    moment: float
    pace: int
    sender: str
    receiver: str

    @classmethod
    def of(cls, seed: int, fastest: int = FASTEST) -> Draw:
        """Return what a seed draws; paces as often between 0.5 and 1 Mbit/s as between 5 and 10."""
        rng = random.Random(seed)
        sender, receiver = rng.sample(("a1", "b1"), 2)
        return cls(seed, rng.random(), round(SLOWEST * (fastest / SLOWEST) ** rng.random()), sender, receiver)


def after_a_cut(draw: Draw, lasts: float = 3.0) -> tuple[VirtualLab, float]:
    """Return a lab in which the provider in use failed under TCP, and when."""
    lab = VirtualLab(replace(find_lab("two-sites"), flows=()), draw.seed)
    lab.run_until(2)
    to = str(lab.plan.hosts[draw.receiver].address.ip)
    lab.command(draw.receiver, "tcp_serve", port=5001, interval=0.002)
    lab.command(draw.sender, "tcp_send", to=to, port=5001, pace=draw.pace)
    lab.run_until(SETTLED + draw.moment)
    cut = lab.now
    lab.cut("b-p")
    lab.run_for(lasts)
    return lab, cut


def longest_gap(lab: VirtualLab, receiver: str, since: float) -> float:
    """Return the longest time without a byte for the receiving application, from shortly before a moment on."""
    times = [event["at_ns"] / SECOND for event in lab.events_of(receiver, "rate") if event["bytes"]]
    return max(later - earlier for earlier, later in pairwise(time for time in times if time > since - 0.2))


@pytest.mark.parametrize("seed", range(6))
def test_each_edge_moves_a_session_once(seed: int) -> None:
    lab, cut = after_a_cut(Draw.of(seed))
    for router in ("a", "b"):
        assert kinds(lab, router, cut).count("session.moved") == 1
