"""The controller of an edge, what it says, and what processes of it take."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx

Start = Callable[[], "subprocess.Popen[bytes]"]


class Edge:
    """A controller that was started, asked by its socket in a folder."""

    def __init__(self, folder: Path, start: Start) -> None:
        self._start = start
        self.controller = start()
        transport = httpx.HTTPTransport(uds=str(folder / "api"))
        self._api = httpx.Client(transport=transport, base_url="http://controller", timeout=30)

    def get(self, path: str) -> object:
        """Ask the controller; None while it is not there."""
        try:
            return self._api.get(path).json()
        except httpx.TransportError:
            return None

    def routes(self) -> int:
        """Return how many routes the controller knows."""
        status = self.get("/v1/status")
        return int(status["routes"]) if isinstance(status, dict) else -1

    def entries(self) -> int:
        """Return how many routes are on the switch."""
        tables = self.get("/v1/tables")
        assert isinstance(tables, list)
        return next(int(each["entries"]) for each in tables if each["name"] == "routes")

    def is_ready(self) -> bool:
        """Whether the controller and its switch are as one."""
        status = self.get("/v1/status")
        return isinstance(status, dict) and status["switch"]["state"] == "ready"

    def kill(self) -> None:
        """Kill the controller, and start it again."""
        self.controller.kill()
        self.controller.wait()
        self.controller = self._start()

    def close(self) -> None:
        """End it."""
        self.controller.terminate()
        self.controller.wait()
        self._api.close()


def processor_time(pid: int) -> float:
    """Return the seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Return the MiB of memory that a process has."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024
