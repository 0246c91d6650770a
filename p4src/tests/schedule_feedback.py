"""A schedule of two paths whose acknowledgements are due to the microsecond, and what is told of them."""

from __future__ import annotations

from collections.abc import Callable

from schedule_site import CLOSE, PathOf, Schedule
from schedule_switch import ScheduledSwitch

MILLISECOND, SECOND, MBIT = 1_000, 1_000_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
LENGTH = 1_000
HEADERS = 60
# The first path delivers a segment of 1000 octets in 11060 us, and acknowledgements come back by it in 10000.
DUE = 10 * MILLISECOND + HEADERS + LENGTH + 10 * MILLISECOND
# The second one by 20 ms later.
OTHER_DUE = DUE + 20 * MILLISECOND
TOLERANCE = 5 * MILLISECOND
CLOSING = Schedule(
    [PathOf(10 * MILLISECOND, OCTET), PathOf(30 * MILLISECOND, OCTET)],
    feedback=CLOSE,
    tolerance=TOLERANCE,
    probe_interval=SECOND,
)
EARLY = [PathOf(10 * MILLISECOND, OCTET), PathOf(10 * MILLISECOND, OCTET)]
NOPS = bytes([1, 1])
Make = Callable[[Schedule], ScheduledSwitch]


def kinds(switch: ScheduledSwitch) -> list[tuple[str, int]]:
    return [(each.kind, each.place) for each in switch.path_events()]


def probes_of(switch: ScheduledSwitch, first: int, number: int, pauses: list[int]) -> int:
    """Expect a probe at a time, and one each so much later; return the number of the next packet."""
    for pause in [0, *pauses]:
        first += pause
        assert switch.data(first - 1, number * LENGTH, LENGTH) == 1
        assert switch.probes(first, (number + 1) * LENGTH, LENGTH) == [1, 0], f"{pause} later"
        number += 2
    return number


def all_copies_of(switch: ScheduledSwitch) -> tuple[int, int]:
    """Expect all copies that probe a silent path; return when the next probe is due, and the next number."""
    pauses = [SECOND, 2 * SECOND, 4 * SECOND, *[8 * SECOND] * 4]
    number = probes_of(switch, SECOND + TOLERANCE, 2, pauses)
    return SECOND + TOLERANCE + sum(pauses) + 8 * SECOND, number
