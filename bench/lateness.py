"""How long an application waited for what it would have had in time: each octet's arrival beside its schedule.

A stream that hands its bytes over in order shows a hole as a wait, whenever and wherever it lies: what comes after the
first late packet counts as much as that packet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a sending application writes: a piece of some octets in each interval, in seconds."""

    begin: float
    octets: int
    interval: float

    def written(self, octet: int) -> float:
        """Return when an octet is written."""
        return self.begin + octet // self.octets * self.interval


@dataclass(frozen=True, slots=True)
class Arrival:
    """When the receiving application had so many octets in all."""

    at: float
    total: int


@dataclass(frozen=True, slots=True)
class Wait:
    """What a failure cost a receiving application, in seconds."""

    behind: float  # for how long it had not all that it would have had without the failure
    longest: float  # how late the latest octet was


def waited(schedule: Schedule, arrivals: Sequence[Arrival], failed: float, allowed: float) -> Wait:
    """Return what a failure cost; octets are late by what exceeds the usual delay, and that beyond what is allowed."""
    first = Arrival(schedule.begin, 0)
    delays = [
        (later.at, later.at - schedule.written(earlier.total), schedule.written(earlier.total))
        for earlier, later in pairwise((first, *arrivals))
        if later.total > earlier.total
    ]
    before = [delay for at, delay, _ in delays if at < failed]
    if not before:
        raise ValueError("nothing arrived before the failure")
    usual = median(before)
    behind = longest = 0.0
    counted = failed
    for at, delay, written in delays:
        late = delay - usual
        if at < failed or late <= allowed:
            continue
        longest = max(longest, late)
        behind += max(0.0, at - max(counted, written + usual))
        counted = at
    return Wait(behind, longest)


def carried(arrivals: Sequence[Arrival], begin: float, end: float) -> float:
    """Return the bit/s that an application had between two moments."""
    had = {moment: max((each.total for each in arrivals if each.at <= moment), default=0) for moment in (begin, end)}
    return (had[end] - had[begin]) * 8 / (end - begin)
