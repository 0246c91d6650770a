"""What a size of fleet came to: a line of a table, and a point of the figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Line, Panel, keep
from bench.fleet.edges import Figures
from bench.spread import Spread

MIB = 2**20
# Of fleets of so many edges, or more: MiB an edge, seconds from nothing, and until 99 of 100 moves are seen.
JUDGED_FROM, MOST_MEMORY, MOST_CONVERGED, MOST_SEEN = 1000, 2.0, 60.0, 1.0
HEAD = (
    "edges",
    "MiB an edge",
    "converged, s",
    "processor for that, s",
    "sessions",
    "in etcd, s",
    "idle: controllers",
    "etcd",
    "asked a second",
    "moves a second",
    "seen: median, ms",
    "99 %",
    "worst",
    "moving: controllers",
    "etcd",
    "probes a second and edge",
    "reconnects",
    "watchers",
    "told a move",
    "etcd, MiB",
    "on disk",
    "load",
)


@dataclass(frozen=True, slots=True)
class EtcdLoad:
    """What all members have spent so far."""

    at: float  # seconds
    processor: float  # seconds
    resident: float  # octets
    database: float
    asked: float  # calls
    watchers: float
    told: float  # changes of keys, to whoever watches

    def since(self, before: EtcdLoad) -> tuple[float, float]:
        """Return the processor seconds and the calls of each second since."""
        seconds = self.at - before.at
        return (self.processor - before.processor) / seconds, (self.asked - before.asked) / seconds


@dataclass(frozen=True, slots=True)
class Measured:
    """A size of fleet."""

    figures: Figures
    # When nothing happened, when hosts moved, and at the end.
    etcd: tuple[EtcdLoad, EtcdLoad, EtcdLoad]
    load: float
    seconds: float  # of each phase

    @property
    def memory(self) -> float:
        """How many MiB an edge takes."""
        return (self.figures.resident - self.figures.resident_before) / self.figures.edges / MIB

    @property
    def seen(self) -> Spread:
        """Seconds until who watches has a move."""
        return Spread.of(self.figures.seen or [self.seconds])

    @property
    def told(self) -> float:
        """How many changes etcd tells for a move, to all who watch."""
        _, moves, end = self.etcd
        return (end.told - moves.told) / max(len(self.figures.seen), 1)

    @property
    def etcd_cores(self) -> tuple[float, float]:
        """How many cores etcd takes while nothing happens, and while hosts move."""
        idle, moves, end = self.etcd
        return moves.since(idle)[0], end.since(moves)[0]

    @property
    def verdicts(self) -> list[str]:
        """Whether a large fleet is as small and as quick as wanted."""
        if self.figures.edges < JUDGED_FROM:
            return []
        wanted = (
            (self.memory, MOST_MEMORY, "MiB an edge"),
            (self.figures.converged, MOST_CONVERGED, "s from nothing"),
            (self.seen.ninety_ninth, MOST_SEEN, "s until 99 of 100 moves are seen"),
        )
        return [
            f"{'met' if value <= most else 'MISSED'}: {self.figures.edges} edges: {value:.2f} {what}; {most:g} wanted"
            for value, most, what in wanted
        ]

    @property
    def row(self) -> tuple[str, ...]:
        """It, in a line."""
        each, (idle, moves, end) = self.figures, self.etcd
        _, asked = moves.since(idle)
        (idling, moving), seen = self.etcd_cores, self.seen
        return (
            str(each.edges),
            f"{self.memory:.2f}",
            f"{each.converged:.1f}",
            f"{each.converging:.1f}",
            str(each.sessions),
            f"{each.written:.1f}",
            f"{each.idle:.0%}",
            f"{idling:.0%}",
            f"{asked:.0f}",
            f"{len(each.seen) / self.seconds:.0f}",
            *(f"{1e3 * seconds:.0f}" for seconds in (seen.median, seen.ninety_ninth, seen.worst)),
            f"{each.moving:.0%}",
            f"{moving:.0%}",
            f"{each.probes / each.edges:.1f}",
            str(each.reconnects),
            f"{end.watchers:.0f}",
            f"{self.told:.1f}",
            f"{end.resident / MIB:.0f}",
            f"{end.database / MIB:.1f}",
            f"{self.load:.1f}",
        )


def draw(measured: Sequence[Measured], folder: Path) -> Path:
    """Draw what fleets cost by their number of edges; return the picture's path."""

    def line(name: str, of: Callable[[Measured], float]) -> Line:
        return Line(name, [(each.figures.edges, of(each)) for each in measured])

    panels = [
        Panel("Memory", "edges", "MiB an edge", [line("controllers", lambda each: each.memory)], log_x=True),
        Panel(
            "From nothing",
            "edges",
            "seconds",
            [
                line("all edges lead", lambda each: each.figures.converged),
                line("then etcd has all sessions", lambda each: each.figures.written),
            ],
            log_x=True,
        ),
        Panel(
            "Processor",
            "edges",
            "cores",
            [
                line("controllers, at rest", lambda each: each.figures.idle),
                line("controllers, hosts move", lambda each: each.figures.moving),
                line("etcd, at rest", lambda each: each.etcd_cores[0]),
                line("etcd, hosts move", lambda each: each.etcd_cores[1]),
            ],
            log_x=True,
        ),
        Panel(
            "A move is seen",
            "edges",
            "seconds",
            [
                line("median", lambda each: each.seen.median),
                line("99th percentile", lambda each: each.seen.ninety_ninth),
            ],
            log_x=True,
            log_y=True,
        ),
    ]
    return keep("fleet", {"head": HEAD, "rows": [each.row for each in measured]}, panels, folder)
