"""LANs of wires: each is a learning bridge between some ends, as a plain Ethernet switch is. Run as a process.

`python -m wayname_lab.lan a,b,c d,e` makes two LANs; it listens at these paths, and who connects is plugged in there.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Sequence

LONGEST_FRAME = 16384
# Frames that are taken from one end before the others have their turn.
AT_ONCE = 64
BUFFER = 512 << 10


class Lan:
    """A bridge; stations are where they were seen last."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._ends: dict[int, socket.socket] = {}
        self._port_of: dict[bytes, int] = {}
        self._listeners = [_listener(path) for path in paths]

    def start(self) -> None:
        """Take whoever comes, from now on."""
        for port, listener in enumerate(self._listeners):
            asyncio.get_running_loop().add_reader(listener, self._accept, port, listener)

    def _accept(self, port: int, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            end, _ = listener.accept()
            end.setblocking(False)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
            self._unplug(port)
            self._ends[port] = end
            asyncio.get_running_loop().add_reader(end, self._take, port, end)

    def _unplug(self, port: int) -> None:
        if (end := self._ends.pop(port, None)) is not None:
            asyncio.get_running_loop().remove_reader(end)
            end.close()

    def _take(self, port: int, end: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                frame = end.recv(LONGEST_FRAME)
            except BlockingIOError:
                return
            except OSError:
                frame = b""
            if not frame:
                self._unplug(port)
                return
            self._forward(port, frame)

    def _forward(self, port: int, frame: bytes) -> None:
        destination, source = frame[:6], frame[6:12]
        self._port_of[source] = port
        known = None if destination[0] & 1 else self._port_of.get(destination)
        for number, end in list(self._ends.items()):
            if number != port and known in (None, number):
                # An end that reads too slowly loses it, as on a real one; one that is gone is unplugged by `_take`.
                with contextlib.suppress(OSError):
                    end.send(frame)


def _listener(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.setblocking(False)
    made.bind(path)
    made.listen()
    return made


async def run(lans: Sequence[str]) -> None:
    """Run until killed."""
    for each in lans:
        Lan(each.split(",")).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1:]))
