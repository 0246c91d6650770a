"""Floods of connections to the controller's API and to the switch's P4Runtime server, by a user of the machine."""

from __future__ import annotations

import resource
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.attacks.attack import Attack, Group

API, P4RUNTIME = "api", "p4runtime"
# More than a process may have descriptors.
COUNT = 1200
PATIENCE = 0.05
SLOW_HEADERS = b"GET /v1/status HTTP/1.1\r\nHost: controller\r\nX-Slow: "
REQUESTS = "requests of others"


@dataclass(slots=True)
class Connections:
    """Connections that are opened and say nothing, or never end what they say."""

    opened: int = 0
    refused: int = 0
    _limits: tuple[int, int] = field(default_factory=lambda: resource.getrlimit(resource.RLIMIT_NOFILE))
    _held: list[socket.socket] = field(default_factory=list)

    def open(self, where: Path, count: int, says: bytes, seconds: float) -> None:
        """Open so many, or as many as may be in the time."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Of this process; those of the edge have begun with theirs.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        deadline = time.monotonic() + seconds
        for _ in range(count):
            if time.monotonic() > deadline:
                return
            one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            one.settimeout(PATIENCE)
            try:
                one.connect(str(where))
                if says:
                    one.send(says)
            except OSError:
                self.refused += 1
                one.close()
                continue
            self.opened += 1
            self._held.append(one)

    def close(self) -> None:
        """Close all, and have as few descriptors as before: what is started anew inherits them."""
        for one in self._held:
            one.close()
        self._held.clear()
        resource.setrlimit(resource.RLIMIT_NOFILE, self._limits)


def _attack(name: str, about: str, where: str, says: bytes = b"") -> Attack:
    return Attack(name, about, Group.LOCAL, where, lambda draw: [says], COUNT, COUNT, against=REQUESTS)


ATTACKS = (
    _attack("api-silent", f"{COUNT} connections to the API that say nothing", API),
    _attack("api-slow", f"{COUNT} connections to the API whose headers never end", API, SLOW_HEADERS),
    _attack("p4runtime-silent", f"{COUNT} connections to the switch that say nothing", P4RUNTIME),
)
