"""A process that stands for a part of a fleet's edges, and waits for the others at the end of each phase."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bench.fleet.servers import Servers
from wayname_lab.programs import python


@dataclass(frozen=True, slots=True)
class Scene:
    """What happens to edges, whatever their number."""

    processes: int
    sessions: int  # of each edge
    seconds: float  # of each phase
    moves: int  # a second, of all edges
    seed: int
    lease: int  # seconds


@dataclass(frozen=True, slots=True)
class EdgesProcess:
    """It, while it runs."""

    process: subprocess.Popen[str]

    def says(self) -> Any:
        """Return what it says next; None if it has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def go_on(self) -> None:
        """Have it begin its next phase."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextmanager
def edges_process(scene: Scene, running: Servers, numbers: range) -> Iterator[EdgesProcess]:
    """Start one that stands for the edges of these numbers."""
    words = [python(), "-m", "bench.fleet.edges", "--first", str(numbers.start), "--edges", str(len(numbers))]
    words += ["--folder", str(running.folder), "--sessions", str(scene.sessions)]
    words += ["--seconds", str(scene.seconds), "--moves", str(scene.moves / scene.processes)]
    words += ["--seed", str(scene.seed + numbers.start), "--lease", str(scene.lease)]
    words += [word for each in running.etcd.endpoints for word in ("--endpoint", each)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield EdgesProcess(process)
        finally:
            process.terminate()
