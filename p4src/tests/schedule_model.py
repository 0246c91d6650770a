"""Fastest path first as the paper has it (section IV-C): exact fractions of a microsecond, no registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Path:
    """What a path can do, and what was sent by it."""

    delay: Fraction
    inverse_rate: Fraction
    free: Fraction = Fraction(0)
    last_arrival: Fraction = Fraction(0)
    last_number: int = 0

    def delivery(self, now: Fraction, octets: int) -> Fraction:
        return max(now, self.free) + self.delay + octets * self.inverse_rate


@dataclass
class FastestFirst:
    """Microseconds in, places out."""

    paths: list[Path]
    sent: int = field(default=0, init=False)

    def choices(self, now: Fraction, octets: int, slack: Fraction = Fraction(0)) -> list[int]:
        """The places that deliver first, best first, and those that are no later than `slack` behind it."""
        times = [(path.delivery(now, octets), path.last_arrival, path.last_number) for path in self.paths]
        least = min(times)[0]
        order = sorted(range(len(times)), key=lambda place: (*times[place], place))
        return [place for place in order if times[place][0] <= least + slack]

    def send(self, now: Fraction, octets: int, place: int) -> None:
        path = self.paths[place]
        self.sent += 1
        path.free = max(now, path.free) + octets * path.inverse_rate
        path.last_arrival = path.free + path.delay
        path.last_number = self.sent


@dataclass
class RoundRobin:
    """Octets by capacity: a packet goes where least has been sent of what the path should have had."""

    inverse_rates: list[Fraction]
    had: list[Fraction] = field(init=False)

    def __post_init__(self) -> None:
        self.had = [Fraction(0)] * len(self.inverse_rates)

    def send(self, octets: int) -> int:
        ends = [had + octets * time for had, time in zip(self.had, self.inverse_rates, strict=True)]
        place = min(range(len(ends)), key=lambda each: (ends[each], self.had[each], each))
        self.had[place] = ends[place]
        return place
