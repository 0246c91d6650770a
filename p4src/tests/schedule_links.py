"""Paths as they are, whatever the schedule believes: queues, rates that change, a sender and a receiver."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from schedule_switch import ScheduledSwitch

SEGMENT = 1190  # with headers of 60 octets: 1250
HEADERS = 60


@dataclass
class Link:
    """One way: microseconds, and bits a microsecond."""

    delay: int
    rate: float
    free: float = 0.0

    def arrival(self, now: float, octets: int) -> float:
        self.free = max(now, self.free) + octets * 8 / self.rate
        return self.free + self.delay


@dataclass
class Transfer:
    """A connection with a fixed window over the switch and these links; each packet is acknowledged as it comes."""

    switch: ScheduledSwitch
    links: Sequence[Link]
    window: int = 100
    sent: int = field(default=0, init=False)
    wanted: int = field(default=0, init=False)
    reordered: int = field(default=0, init=False)
    by_path: list[int] = field(default_factory=lambda: [0] * 8, init=False)

    def run(self, until: int, start: int = 0) -> float:
        """Bits a microsecond that arrived in order."""
        events: list[tuple[float, int, int, int]] = []
        held: set[int] = set()
        acknowledged, begun = self.wanted, self.wanted
        count = 0

        def send(now: float) -> None:
            nonlocal count
            while self.sent < acknowledged + self.window:
                path = self.switch.data(int(now), self.sent * SEGMENT, SEGMENT)
                self.by_path[path] += 1
                count += 1
                heapq.heappush(events, (self.links[path].arrival(now, SEGMENT + HEADERS), count, 0, self.sent))
                self.sent += 1

        send(start)
        while events and events[0][0] < until:
            now, _, kind, number = heapq.heappop(events)
            if kind == 0:
                self.reordered += number != self.wanted
                held.add(number)
                while self.wanted in held:
                    held.remove(self.wanted)
                    self.wanted += 1
                count += 1
                heapq.heappush(events, (now + self.links[0].delay, count, 1, self.wanted))
            else:
                self.switch.acknowledges(int(now), number * SEGMENT, by=0)
                acknowledged = max(acknowledged, number)
                send(now)
        return (self.wanted - begun) * (SEGMENT + HEADERS) * 8 / (until - start)
