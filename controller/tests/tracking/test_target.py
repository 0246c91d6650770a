"""Loss and delay of a target."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

from wayname.config.track import Track, TrackTarget
from wayname.edge.tracking.probes import new_probe
from wayname.edge.tracking.target import TrackedTarget
from wayname.wire import icmpv6
from wayname.wire.ipv6 import Packet

TARGET = TrackTarget(address=IPv6Address("2001:db8:f::1"))
SOURCE = IPv6Address("2001:db8:101:ffff::1")


class Asked:
    """A target that is asked every half second."""

    def __init__(self, rules: Track) -> None:
        self.rng = random.Random(1)
        self.target = TrackedTarget(TARGET, rules, is_up=True)
        self.now = 1.0

    def ask(self, takes: float | None) -> None:
        """Ask it once; it takes so long to answer, or does not."""
        probe = new_probe(TARGET, SOURCE, self.rng)
        self.target.sent(probe, self.now)
        if takes is not None:
            request = icmpv6.Message.decode(probe.packet)
            answer: Packet = icmpv6.echo_reply(request).packet(probe.packet.destination, SOURCE)
            assert self.target.answered(answer, self.now + takes) is not None
        self.now += 0.5
        self.target.lose_due(self.now, "")


def test_loss_counts_over_the_last_probes() -> None:
    asked = Asked(Track(targets=(TARGET,), loss=40))
    for lost in [False] * 14 + [True, True, False] * 2:
        asked.ask(None if lost else 0.02)
    # The last one that was lost is known of only when its time is over.
    assert asked.target.is_up
    for lost in [True, True, False] * 4:
        asked.ask(None if lost else 0.02)
    assert not asked.target.is_up
    assert asked.target.why.startswith("lost 40% of the last 20 probes")


def test_delay_takes_a_target_down_and_it_comes_back_when_it_is_fast_again() -> None:
    asked = Asked(Track(targets=(TARGET,), delay=0.2))
    for _ in range(10):
        asked.ask(0.1)
    assert asked.target.is_up and round(asked.target.delay or 0, 3) == 0.1
    for _ in range(20):
        asked.ask(0.35)
    assert not asked.target.is_up
    assert "s to answer" in asked.target.why
    asked.ask(0.3)
    asked.ask(0.3)
    asked.ask(0.3)
    assert not asked.target.is_up, "answered, and too slowly"
    for _ in range(3):
        asked.ask(0.1)
    assert asked.target.is_up


def test_without_a_limit_no_delay_matters() -> None:
    asked = Asked(Track(targets=(TARGET,)))
    for _ in range(40):
        asked.ask(0.9)
    assert asked.target.is_up
