"""Runs the fast half, `bench-encap`, and reads what it prints."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.encap.candidates import PROGRAM, Candidate
from bench.encap.points import IN_PORT, Point, written
from bench.encap.updates import write_request
from bench.spread import Spread
from harness.commands import NotHereError, NotStartedError
from harness.switches import embedded_config

# Nothing forwards faster than generator and counter alone.
FASTEST = 1_500_000
LOSSLESS_MILLIS = 100


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    memory_rounds: int
    flood_rounds: int
    lossless_rounds: int
    packets: int = 1024
    flood_millis: int = 20
    warm_up_rounds: int = 4


FULL = Effort(memory_rounds=100, flood_rounds=30, lossless_rounds=30)
QUICK = Effort(memory_rounds=20, flood_rounds=5, lossless_rounds=1)


@dataclass(frozen=True, slots=True)
class InMemory:
    """The pipeline alone; nanoseconds a packet, of the processor and by the clock."""

    octets: int
    spread: Spread
    wall: float

    @property
    def ns(self) -> float:
        """Nanoseconds of processor time a packet."""
        return self.spread.median

    @property
    def rate(self) -> float:
        """Packets per second of one core."""
        return 1e9 / self.ns


@dataclass(frozen=True, slots=True)
class OnRoad:
    """Between veth pairs, flooded.

    Packets a second; nanoseconds of processor time a packet, of all and, draw by draw, of the candidate's process.
    """

    octets: int
    spread: Spread
    ns: float
    processes: Sequence[float]

    @property
    def process(self) -> float:
        """Nanoseconds a packet of the candidate's process."""
        return median(self.processes)

    @property
    def rate(self) -> float:
        """Packets a second."""
        return self.spread.median

    @property
    def cores(self) -> float:
        """Processors that were busy with it."""
        return self.rate * self.ns / 1e9


@dataclass(frozen=True, slots=True)
class Lossless:
    """Between veth pairs: the greatest packets a second of which none is lost."""

    spread: Spread

    @property
    def rate(self) -> float:
        """Packets a second."""
        return self.spread.median


def in_memory(
    points: Sequence[Point], effort: Effort, seed: int, options: Sequence[str], folder: Path
) -> dict[Point, InMemory]:
    """Each point through the pipeline, on one core, with options of the switch; ways of packets are learned before."""
    entries, listed = folder / "entries", folder / "points"
    entries.write_bytes(write_request(points, seed).SerializeToString())
    listed.write_text(written(points, seed))
    words = ["--program", str(embedded_config(folder)), "--entries", str(entries), "--points", str(listed)]
    words += ["--port", str(IN_PORT), "--rounds", str(effort.memory_rounds), "--packets", str(effort.packets)]
    words += ["--seed", str(seed), *options]
    found = {}
    for row in _rows([str(PROGRAM), "memory", *words]):
        found[row["point"]] = InMemory(
            int(row["octets_out"]), Spread.of(_drawn(row, "ns")), median(_drawn(row, "ns_wall"))
        )
    return {point: found[point.name] for point in points}


def flooded(
    candidates: Sequence[Candidate], points: Sequence[Point], effort: Effort, seed: int, prefix: Sequence[str]
) -> dict[str, dict[Point, OnRoad]]:
    """Each point along each road, all in turns."""
    options = ["--rounds", str(effort.flood_rounds), "--millis", str(effort.flood_millis), "--seed", str(seed)]
    options += ["--warm-up", str(effort.warm_up_rounds)]
    roads = [candidate.described(points) for candidate in candidates]
    found: dict[str, dict[Point, OnRoad]] = {candidate.name: {} for candidate in candidates}
    by_name = {point.name: point for point in points}
    for row in _rows([*prefix, str(PROGRAM), "flood", *options, *roads]):
        found[row["road"]][by_name[row["point"]]] = OnRoad(
            int(row["octets_out"]), _rates(row), median(_drawn(row, "ns")), _drawn(row, "ns_process")
        )
    return found


def lossless(
    candidates: Sequence[Candidate], points: Sequence[Point], effort: Effort, seed: int, prefix: Sequence[str]
) -> dict[str, dict[Point, Lossless]]:
    """Of each point along each road the greatest rate that loses nothing."""
    options = ["--rounds", str(effort.lossless_rounds), "--millis", str(LOSSLESS_MILLIS), "--most", str(FASTEST)]
    options += ["--seed", str(seed)]
    roads = [candidate.described(points) for candidate in candidates]
    found: dict[str, dict[Point, Lossless]] = {candidate.name: {} for candidate in candidates}
    by_name = {point.name: point for point in points}
    for row in _rows([*prefix, str(PROGRAM), "lossless", *options, *roads]):
        found[row["road"]][by_name[row["point"]]] = Lossless(_rates(row))
    return found


def _drawn(row: Mapping[str, str], name: str) -> list[float]:
    return [float(value) for value in row[name].split()]


def _rates(row: Mapping[str, str]) -> Spread:
    return Spread.of(_drawn(row, "rate"), least_is_worst=True)


def _rows(words: Sequence[str]) -> list[dict[str, str]]:
    if not PROGRAM.exists():
        raise NotHereError(f"{PROGRAM.name} is not built; `make bench-encap` builds it")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise NotStartedError(f"{PROGRAM.name}: {said[0]}")
    return list(csv.DictReader(done.stdout.splitlines()))
