"""What the soak notes of processes while they run, and what it makes of that: memory, open files, logs."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression

LEAST = 5  # samples behind that to judge by
MOST_GROWTH = 0.05
MOST_FILES = 8  # more than at first
BROKEN = ("Traceback (most recent call last)", "panicked at", "Task exception was never retrieved")


@dataclass(frozen=True, slots=True)
class Sample:
    """A process at a moment of its life, in minutes."""

    minute: float
    kibibytes: int
    files: int


@dataclass(slots=True)
class Life:
    """A process from its start to its end."""

    name: str
    began: float  # minutes since the soak began
    warm_up: float = 10.0  # minutes of its life, from which on its memory must be flat
    samples: list[Sample] = field(default_factory=list)

    def sample(self, process: str, minute: float) -> None:
        """Note it as it is now, unless it has just ended."""
        try:
            status = Path(f"{process}/status").read_text()
            files = len(list(Path(f"{process}/fd").iterdir()))
        except OSError:
            return
        resident = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
        if resident:
            self.samples.append(Sample(minute, int(resident[0]), files))

    @property
    def settled(self) -> list[Sample]:
        """The samples behind the warm-up."""
        return [each for each in self.samples if each.minute >= self.warm_up]

    @property
    def growth(self) -> float | None:
        """The share by which memory grew from the warm-up to the end, by a straight line; None if it was too short."""
        if len(settled := self.settled) < LEAST:
            return None
        minutes = [each.minute for each in settled]
        slope, intercept = linear_regression(minutes, [each.kibibytes for each in settled])
        return slope * (minutes[-1] - minutes[0]) / (intercept + slope * minutes[0])

    @property
    def more_files(self) -> int:
        """How many more files were open in the end than behind the warm-up."""
        settled = self.settled
        return settled[-1].files - settled[0].files if settled else 0

    def faults(self) -> list[str]:
        """What of it misses the goals."""
        found = []
        if self.growth is not None and self.growth > MOST_GROWTH:
            found.append(f"{self.name}: memory grew by {self.growth:.1%}")
        if self.more_files > MOST_FILES:
            found.append(f"{self.name}: {self.more_files} more open files")
        return found


class Processes:
    """The lives of processes that are killed and started again."""

    def __init__(self) -> None:
        self.lives: dict[int, Life] = {}

    def sample(self, name: str, pid: int, minute: float) -> None:
        """Note a process as it is now, unless it has just ended."""
        life = self.lives.setdefault(pid, Life(name, minute))
        life.sample(f"/proc/{pid}", minute - life.began)


def broken(log: Path) -> list[str]:
    """Return the lines of a log that must never be there."""
    lines = log.read_text(errors="replace").splitlines()
    return [f"{log.stem}: {line}" for line in lines if any(words in line for words in BROKEN)]


def events(log: Path) -> Counter[str]:
    """Return how often a controller told each kind of event."""
    kinds: Counter[str] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("{"):
            kinds[json.loads(line).get("kind", "")] += 1
    return kinds
