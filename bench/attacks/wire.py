"""The near end of a lab's wire, which the other end listens at: frames go and come at once, or not at all."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path

LONGEST_FRAME = 16384
BUFFER = 4 << 20
PATIENCE, PAUSE = 30.0, 0.02


class Wire:
    """One end."""

    def __init__(self, path: Path) -> None:
        self._socket = _attach(path)

    def fileno(self) -> int:
        """Return what to wait for."""
        return self._socket.fileno()

    def send(self, frame: bytes) -> bool:
        """Send a frame; return whether there was room."""
        try:
            self._socket.send(frame)
        except OSError:
            return False
        return True

    def receive(self) -> bytes | None:
        """Return a frame that is there."""
        with contextlib.suppress(OSError):
            return self._socket.recv(LONGEST_FRAME) or None
        return None


def _attach(path: Path) -> socket.socket:
    deadline = time.monotonic() + PATIENCE
    while True:
        end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        try:
            end.connect(str(path))
        except OSError:
            end.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)
            continue
        end.setblocking(False)
        return end
