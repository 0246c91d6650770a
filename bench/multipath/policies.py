"""How a session's packets are shared out to its paths: the entries of `schedules` (docs/scheduling.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench.multipath.path import Route
from wayname.pipeline.entries import Entity, table_entry
from wayname_lab.virtual.clock import SECOND

Policy = Literal["fastest first", "per flow", "weighted round robin", "best path"]
POLICIES: tuple[Policy, ...] = ("fastest first", "per flow", "weighted round robin", "best path")
MOST_PATHS = 8
# What the scheduler does about what acknowledgements say; sums of these.
FOLLOW_MARKS = 1
CLOSE_PATHS = 2
# An octet's time on a path is counted in units of 2^-24 microseconds.
OCTET_TIME_BITS = 24
MICROSECOND = 1_000


@dataclass(frozen=True, slots=True)
class Schedule:
    """A policy, and what the scheduler believes of the paths if that is not what they are."""

    policy: Policy = "fastest first"
    feedback: int = 0
    tolerance: float = 0.1  # seconds that a marked packet may be late
    probe_interval: float = 0.2
    believed: Sequence[Route] | None = None

    def entry(self, session: int, number: int, paths: Sequence[int], routes: Sequence[Route]) -> Entity:
        """Return a session's entry; its path n goes by `routes[paths[n]]`. Those of one number share registers."""
        believed = [(self.believed or routes)[path] for path in paths]
        keys = {"session": session}
        numbers = range(MOST_PATHS)
        if self.policy == "best path":
            fastest = max(numbers[: len(believed)], key=lambda path: believed[path].rate)
            return table_entry("schedules", keys, "best_path", path=fastest)
        placed = {f"path_{place}": place if place < len(paths) else 0 for place in numbers}
        if self.policy == "per flow":
            return table_entry("schedules", keys, "per_flow", paths=len(paths), **placed)
        common = {"schedule": number, "generation": 1, "paths": len(paths), "framing": 0, **placed}
        common |= {f"octet_time_{place}": 0 for place in numbers}
        common |= {f"octet_time_{place}": octet_time(route.rate) for place, route in enumerate(believed)}
        if self.policy == "weighted round robin":
            return table_entry("schedules", keys, "weighted_round_robin", **common)
        delays = {f"delay_{place}": 0 for place in numbers}
        delays |= {f"delay_{place}": route.delay // MICROSECOND for place, route in enumerate(believed)}
        return table_entry(
            "schedules",
            keys,
            "fastest_first",
            **common,
            **delays,
            feedback=self.feedback,
            tolerance=round(self.tolerance * SECOND / MICROSECOND),
            probe_interval=round(self.probe_interval * SECOND / MICROSECOND),
        )


def octet_time(rate: float) -> int:
    """Return how long an octet takes, as the tables have it."""
    return round((8 * 1_000_000 << OCTET_TIME_BITS) / rate)
