"""Builders for the tables of schedules (docs/scheduling.md): domain types in, finsy's entities out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import finsy as fy

from wayname.p4_constants import PATH_BITS, SLOTS_OF_SCHEDULE, ScheduleFeedback
from wayname.pipeline.entries import table_entry
from wayname.pipeline.sessions import microseconds

SLOTS = tuple(f"subflow_slots_{number}" for number in range(SLOTS_OF_SCHEDULE))
# An octet's time is counted in units of 2^-24 microseconds.
INVERSE_RATE_UNITS = 8_000_000 << 24
MOST_INVERSE_RATE = MOST_QUEUE_TIME = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Subflow:
    """What is believed of the path in a slot: its delay in seconds and its bandwidth in bit/s."""

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
    return min(round(INVERSE_RATE_UNITS / bandwidth), MOST_INVERSE_RATE)


def bandwidth_of(inverse_rate: int) -> float:
    """Return the bandwidth that a time of an octet means."""
    return INVERSE_RATE_UNITS / max(inverse_rate, 1)


def queue_time(path: Subflow) -> int:
    """Return for how long a path's queue can keep a packet waiting, in microseconds."""
    return min(microseconds(path.queue * 8 / path.bandwidth), MOST_QUEUE_TIME)


def figures_in(entry: fy.P4TableEntry) -> tuple[float, float]:
    """Return delay and bandwidth that an entry of a slot says."""
    assert isinstance(entry.action, fy.P4TableAction)
    args = entry.action.args
    return args["delay"] / 1e6, bandwidth_of(args["inverse_rate"])


def subflow(schedule: int, slot: int, path: Subflow) -> fy.P4TableEntry:
    """What is believed of the path in a slot of a schedule, for all of its sessions."""
    return table_entry(
        SLOTS[slot],
        {"schedule": schedule},
        "set_subflow",
        delay=microseconds(path.delay),
        inverse_rate=inverse_rate(path.bandwidth),
        queue=queue_time(path),
    )


def session_schedule(session: int, schedule: int, paths: Mapping[int, int], copies: int = 1) -> fy.P4TableEntry:
    """The schedule of a session, its path in each slot that it may take, and in how many copies each packet goes."""
    packed = sum(path << PATH_BITS * slot for slot, path in paths.items())
    slots = sum(1 << slot for slot in paths)
    parameters = {"schedule": schedule, "paths": packed, "slots": slots}
    if copies > 1:
        return table_entry("session_schedules", {"session": session}, "replicate", **parameters, copies=copies)
    return table_entry("session_schedules", {"session": session}, "use_schedule", **parameters)


def fastest_first(registers: Registers, paths: int, framing: int, feedback: Feedback) -> fy.P4TableEntry:
    """Each packet takes the path that delivers it first."""
    return table_entry(
        "schedules",
        {"schedule": registers.schedule},
        "fastest_first",
        generation=registers.generation,
        paths=paths,
        framing=framing,
        feedback=int(feedback.feedback),
        tolerance=microseconds(feedback.tolerance),
        probe_interval=microseconds(feedback.probe_interval),
        hold=microseconds(feedback.hold),
    )


def weighted_round_robin(registers: Registers, paths: int, framing: int) -> fy.P4TableEntry:
    """Octets are shared out by bandwidth, whatever waits."""
    return table_entry(
        "schedules",
        {"schedule": registers.schedule},
        "weighted_round_robin",
        generation=registers.generation,
        paths=paths,
        framing=framing,
    )


def per_flow(schedule: int, paths: int) -> fy.P4TableEntry:
    """A flow keeps to the path that its hash says."""
    return table_entry("schedules", {"schedule": schedule}, "per_flow", paths=paths)


def best_path(schedule: int, slot: int) -> fy.P4TableEntry:
    """All packets take the path in one slot."""
    return table_entry("schedules", {"schedule": schedule}, "best_path", slot=slot)
