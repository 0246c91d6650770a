"""A schedule that closes its paths by what the peer reports of them, and what its tests count by."""

from __future__ import annotations

from collections.abc import Callable

from numbered_switch import NumberedSwitch
from schedule_site import CLOSE, PathOf, Schedule

MILLISECOND, SECOND = 1_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
TOLERANCE = 5 * MILLISECOND
PATHS = [PathOf(10 * MILLISECOND, OCTET), PathOf(30 * MILLISECOND, OCTET)]
CLOSING = Schedule(PATHS, feedback=CLOSE, tolerance=TOLERANCE, probe_interval=SECOND)
LENGTH = 1000
CLOCK = 77 * SECOND  # the peer's is ahead by so much
INTERVAL = 5 * MILLISECOND  # between reports
Make = Callable[[Schedule], NumberedSwitch]


def kinds(switch: NumberedSwitch) -> list[tuple[str, int]]:
    return [(each.kind, each.place) for each in switch.path_events()]


def lone(outputs: list[tuple[int, bytes]]) -> list[bytes]:
    """What left for the peer, beside what the host got."""
    return [frame for port, frame in outputs if port == 4]
