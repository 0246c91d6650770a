"""What a kernel told and nobody has dealt with yet: read at once, since its socket holds no more than it must.

The kernel accounts about a kilobyte for a message of two hundred octets. Who leaves them in the socket until there is
time for them loses some while a hundred thousand routes change.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections import deque

DATAGRAM = 1 << 17
MOST_OCTETS = 256 << 20


class KernelBacklog:
    """Reads a socket of netlink whenever something comes, from the moment it is made."""

    def __init__(self, events: socket.socket) -> None:
        self._events = events
        self._datagrams: deque[bytes] = deque()
        self._octets = 0
        self._error: OSError | None = None
        self._came = asyncio.Event()
        self._buffer = bytearray(DATAGRAM)
        self._view = memoryview(self._buffer)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(events, self.read)

    def close(self) -> None:
        """Read no more."""
        self._loop.remove_reader(self._events)

    def read(self) -> None:
        """Read what the socket holds."""
        try:
            while True:
                datagram = self._view[: self._events.recv_into(self._buffer)].tobytes()
                self._datagrams.append(datagram)
                self._octets += len(datagram)
                if self._octets > MOST_OCTETS:
                    raise OSError(errno.ENOBUFS, os.strerror(errno.ENOBUFS))
        except BlockingIOError:
            pass
        except OSError as error:
            self._error = error
            self.close()
        self._came.set()

    async def wait(self) -> None:
        """Wait until there is something to take."""
        await self._came.wait()

    def take(self) -> bytes | None:
        """Return the oldest datagram, or None; raise OSError when some were lost."""
        if self._error is not None:
            raise self._error
        if not self._datagrams:
            self._came.clear()
            return None
        datagram = self._datagrams.popleft()
        self._octets -= len(datagram)
        return datagram
