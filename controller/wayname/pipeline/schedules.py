"""Builders for the table `schedules` (docs/scheduling.md): domain types in, finsy's entities out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import finsy as fy

from wayname.p4_constants import ScheduleFeedback
from wayname.pipeline.entries import table_entry
from wayname.pipeline.sessions import microseconds

TABLE = "schedules"
PLACES = 8
# An octet's time is counted in units of 2^-24 microseconds.
OCTET_TIME_UNITS = 8_000_000 << 24
MOST_OCTET_TIME = MOST_QUEUE_TIME = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Place:
    """A session's path at a place of its schedule, the path's delay in seconds and its bandwidth in bit/s."""

    path: int
    delay: float
    bandwidth: float
    queue: int = 0  # octets that wait in it at most; 0: nobody knows


@dataclass(frozen=True, slots=True)
class Registers:
    """Where a schedule keeps what it knows, and since when: a new generation begins anew."""

    schedule: int
    generation: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What is done about what acknowledgements say; times in seconds."""

    feedback: ScheduleFeedback
    tolerance: float
    probe_interval: float
    hold: float


def inverse_rate(bandwidth: float) -> int:
    """Return how long an octet takes, as the table has it."""
    return min(round(OCTET_TIME_UNITS / bandwidth), MOST_OCTET_TIME)


def bandwidth_of(inverse_rate: int) -> float:
    """Return the bandwidth that a time of an octet means."""
    return OCTET_TIME_UNITS / max(inverse_rate, 1)


def queue_time(place: Place) -> int:
    """Return for how long a path's queue can keep a packet waiting, in microseconds."""
    return min(microseconds(place.queue * 8 / place.bandwidth), MOST_QUEUE_TIME)


def figures_in(entry: fy.P4TableEntry) -> list[tuple[float, float]]:
    """Return delay and bandwidth of each place, as an entry of `fastest_first` has them; of others none."""
    if not isinstance(entry.action, fy.P4TableAction) or entry.action.name != "fastest_first":
        return []
    args = entry.action.args
    places = range(args["paths"])
    return [(args[f"delay_{place}"] / 1e6, bandwidth_of(args[f"inverse_rate_{place}"])) for place in places]


def fastest_first(
    session: int, registers: Registers, framing: int, feedback: Feedback, places: Sequence[Place]
) -> fy.P4TableEntry:
    """Each packet takes the path that delivers it first."""
    return table_entry(
        TABLE,
        {"session": session},
        "fastest_first",
        schedule=registers.schedule,
        generation=registers.generation,
        paths=len(places),
        framing=framing,
        feedback=int(feedback.feedback),
        tolerance=microseconds(feedback.tolerance),
        probe_interval=microseconds(feedback.probe_interval),
        hold=microseconds(feedback.hold),
        **_each("path", [place.path for place in places]),
        **_each("delay", [microseconds(place.delay) for place in places]),
        **_each("inverse_rate", [inverse_rate(place.bandwidth) for place in places]),
        **_each("queue", [queue_time(place) for place in places]),
    )


def weighted_round_robin(session: int, registers: Registers, framing: int, places: Sequence[Place]) -> fy.P4TableEntry:
    """Octets are shared out by bandwidth, whatever waits."""
    return table_entry(
        TABLE,
        {"session": session},
        "weighted_round_robin",
        schedule=registers.schedule,
        generation=registers.generation,
        paths=len(places),
        framing=framing,
        **_each("path", [place.path for place in places]),
        **_each("inverse_rate", [inverse_rate(place.bandwidth) for place in places]),
    )


def per_flow(session: int, paths: Sequence[int]) -> fy.P4TableEntry:
    """A flow keeps to the path that its hash says."""
    return table_entry(TABLE, {"session": session}, "per_flow", paths=len(paths), **_each("path", paths))


def best_path(session: int, path: int) -> fy.P4TableEntry:
    """All packets take one path."""
    return table_entry(TABLE, {"session": session}, "best_path", path=path)


def _each(name: str, values: Sequence[int]) -> dict[str, int]:
    """Return the parameters of all places; those that are not in use are 0."""
    return {f"{name}_{place}": values[place] if place < len(values) else 0 for place in range(PLACES)}
