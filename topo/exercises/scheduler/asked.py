"""Exercise 5: does each packet take the path that delivers it first? The student's program runs in this process."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from wayname_switch import Output, Switch, device_config

from exercises.finding import Finding

MILLISECOND = 1_000_000
SECOND = 1000 * MILLISECOND
# By port: bit/s, and nanoseconds.
RATES = {1: 2_000_000, 2: 4_000_000, 3: 5_000_000}
DELAYS = {1: 10 * MILLISECOND, 2: 20 * MILLISECOND, 3: 30 * MILLISECOND}
QUEUE = 64
# Bit/s: of the eleven Mbit/s that there are, what path 1 carries alone, and so slow that a packet never meets another.
FAST, FEW, SLOW = 10_000_000, 1_000_000, 20_000
PACKETS = 600
LONG, SHORT = 1250, 100
HEADER = bytes.fromhex("0200000000010200000000fe88b5")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A packet that came to the other end of its path."""

    number: int
    path: int
    octets: int
    at: int


def asked(file: Path) -> Iterator[Finding]:
    """Compile the program, and send packets through it while time passes."""
    program = device_config(str(file))
    full = run(program, [LONG] * PACKETS, FAST)
    sent = f"{PACKETS} packets at 10 Mbit/s"
    by_path = ", ".join(f"{sum(each.path == path for each in full)} by path {path}" for path in RATES)
    yield Finding(len(full) == PACKETS, f"of {sent} all arrive", (f"{len(full)} did: {by_path}",))
    yield Finding({each.path for each in full} == set(RATES), "all three paths are used", (by_path,))
    yield in_order(full, "they arrive in the order in which they left")
    rng = random.Random(19)
    sizes = [rng.choice((LONG, SHORT)) for _ in range(PACKETS)]
    mixed = run(program, sizes, FAST)
    yield Finding(len(mixed) == PACKETS, "with long and short packets all arrive too", (f"{len(mixed)} did",))
    took, best = mean_time(mixed, sizes), best_time(sizes)
    text = "and take on average at most a tenth longer than where each goes by the path that delivers it first"
    yield Finding(
        took < 1.1 * best, text, (f"they take {took / MILLISECOND:.1f} ms, the others {best / MILLISECOND:.1f} ms",)
    )
    for text, some in (
        ("a packet that finds all paths free takes path 1, which delivers first", run(program, [LONG] * 5, SLOW)),
        (
            "short packets at 1 Mbit/s all take path 1, since each is gone before the next",
            run(program, [SHORT] * 50, FEW),
        ),
    ):
        other = [f"packet {each.number} took path {each.path} (numbers begin at 0)" for each in some if each.path != 1]
        yield Finding(bool(some) and not other, text, tuple(other[:3]))


def in_order(arrivals: Sequence[Arrival], text: str) -> Finding:
    """Say whether no packet came after one that was sent later."""
    if len(arrivals) < PACKETS:
        return Finding(
            False, text, (f"not judged: {len(arrivals)} of {PACKETS} arrive, and their order counts when all do",)
        )
    late = [after for before, after in pairwise(arrivals) if after.number < before.number]
    seen = [f"{len(late)} of the {len(arrivals)} that arrive came after later ones; numbers begin at 0"]
    seen += [f"packet {each.number}, by path {each.path}" for each in late[:3]]
    return Finding(not late, text, tuple(seen))


def sent_at(sizes: Sequence[int], rate: int) -> Iterator[int]:
    """Yield when each of the packets is sent."""
    now = SECOND
    for size in sizes:
        yield now
        now += size * 8 * SECOND // rate


def mean_time(arrivals: Sequence[Arrival], sizes: Sequence[int]) -> float:
    """Return how long packets take that arrive."""
    sent = list(sent_at(sizes, FAST))
    return fmean(each.at - sent[each.number] for each in arrivals) if arrivals else float("inf")


def best_time(sizes: Sequence[int]) -> float:
    """Return how long they take if each goes by the path that delivers it first."""
    free = dict.fromkeys(RATES, 0)
    took = []
    for now, size in zip(sent_at(sizes, FAST), sizes, strict=True):
        ends = {path: max(now, free[path]) + size * 8 * SECOND // rate for path, rate in RATES.items()}
        path = min(ends, key=lambda each: ends[each] + DELAYS[each])
        free[path] = ends[path]
        took.append(ends[path] + DELAYS[path] - now)
    return fmean(took)


def run(program: str, sizes: Sequence[int], rate: int) -> list[Arrival]:
    """Send packets of these sizes, one after the other at a rate; return those that arrive, in that order."""
    switch = Switch(program)
    for path, speed in RATES.items():
        switch.set_link(path, rate=speed, queue=QUEUE)
    left: list[Output] = []
    for number, (now, size) in enumerate(zip(sent_at(sizes, rate), sizes, strict=True)):
        left += departed(switch, now)
        left += switch.inject(0, (HEADER + number.to_bytes(4)).ljust(size, b"\0"), now)
    # All that waits in a full queue leaves within a second.
    left += departed(switch, now + SECOND)
    arrivals = [
        Arrival(int.from_bytes(each.packet[14:18]), each.port, len(each.packet), each.at + DELAYS[each.port])
        for each in left
        if each.port in DELAYS
    ]
    return sorted(arrivals, key=lambda each: each.at)


def departed(switch: Switch, until: int) -> Iterator[Output]:
    """Yield what leaves queues up to a time."""
    while (at := switch.next_departure()) is not None and at <= until:
        yield from switch.advance(at)
