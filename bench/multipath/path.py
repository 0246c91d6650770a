"""A path between two edges: a bottleneck with a queue, then a delay. It may change while packets are under way."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from wayname_lab.model import Quality
from wayname_lab.virtual.clock import SECOND, Clock
from wayname_lab.virtual.link import Trace, VirtualLink

# How finely rates over time are counted.
BIN = SECOND // 10
MTU_BYTES = 1500
ETHERNET = 14


@dataclass(frozen=True, slots=True)
class Route:
    """What a path is like, each way."""

    rate: float  # bits per second
    delay: int  # nanoseconds
    queue: int = 100  # packets that wait or are being sent
    loss: float = 0.0  # of the packets that leave the queue, from 0 to 1

    @property
    def quality(self) -> Quality:
        """What becomes of packets behind the queue."""
        return Quality(delay=self.delay, loss=self.loss)


@dataclass(frozen=True, slots=True)
class CrossTraffic:
    """A constant rate of packets that share one path's queue for a while, in the sender's direction."""

    path: int
    begin: float  # seconds
    end: float
    rate: float  # bits per second


@dataclass(slots=True)
class Direction:
    """One way of a path: when its packets in the queue will have left, and what was counted."""

    departures: deque[int] = field(default_factory=deque)
    # Exact: two paths on which packets end at one time must not differ by what was rounded before.
    free_at: Fraction = Fraction(0)
    dropped: int = 0  # without cross traffic
    bytes: dict[int, int] = field(default_factory=dict)  # accepted, by bin
    cross_bytes: dict[int, int] = field(default_factory=dict)


class Path(VirtualLink):
    """The wire of an edge's port. The first node that connects is the one whose direction has the cross traffic."""

    def __init__(self, clock: Clock, name: str, route: Route, rng: random.Random, trace: Trace) -> None:
        super().__init__(clock, name, route.quality, rng, trace)
        self.route = route
        self.directions: dict[str, Direction] = {}

    def take_route(self, route: Route) -> None:
        """Be another path from now on."""
        self.route = route
        self.become(route.quality)

    def send(self, sender: str, frame: bytes, at: int) -> None:
        """Queue a frame, or drop it if the queue is full. Ethernet's header takes no time: rates are those of IP."""
        direction = self.directions.setdefault(sender, Direction())
        size = len(frame) - ETHERNET
        departure = self._queue(direction, size, at, direction.bytes)
        if departure is None:
            direction.dropped += 1
        else:
            super().send(sender, frame, departure)

    def queue_of_others(self, sender: str, size: int, at: int) -> int | None:
        """Queue a packet of somebody else in one direction; return when it leaves, or None if the queue is full."""
        direction = self.directions.setdefault(sender, Direction())
        return self._queue(direction, size, at, direction.cross_bytes)

    def _take_cross(self, sender: str, size: int) -> None:
        self.queue_of_others(sender, size, self._clock.now)

    def add_cross(self, sender: str, cross: CrossTraffic, size: int) -> None:
        """Let cross traffic flow from its begin to its end."""
        interval = size * 8 / cross.rate
        packets = round((cross.end - cross.begin) / interval)
        for number in range(packets):
            at = round((cross.begin + number * interval) * SECOND)
            self._clock.at(at, partial(self._take_cross, sender, size))

    def _queue(self, direction: Direction, size: int, at: int, counted: dict[int, int]) -> int | None:
        departures = direction.departures
        while departures and departures[0] <= at:
            departures.popleft()
        if len(departures) >= self.route.queue:
            return None
        direction.free_at = max(direction.free_at, Fraction(at)) + Fraction(size * 8 * SECOND, round(self.route.rate))
        departure = round(direction.free_at)
        departures.append(departure)
        bin_ = at // BIN
        counted[bin_] = counted.get(bin_, 0) + size
        return departure


def capacity_left(routes: Sequence[Route], cross: Sequence[CrossTraffic], seconds: float) -> float:
    """Return the bits that the paths can carry beside the cross traffic."""
    left = sum(route.rate for route in routes) * seconds
    for one in cross:
        taken = min(one.rate, routes[one.path].rate)
        left -= taken * (min(one.end, seconds) - min(one.begin, seconds))
    return left
