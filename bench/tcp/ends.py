"""The two kinds of ends: Linux's TCP in a namespace, and the lab host's. Both take and give frames."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address
from typing import Protocol

import wayname_host

from bench.multipath import gateway, tables
from bench.multipath.tap import Tap
from wayname.wire.mac import Mac

ROUTER = Mac(0x02_ED_00_00_00_00)
PORT = 5001
# Linux keeps twice of what a socket asks for, half of it for itself.
BUFFER = 1 << 20
# As the lab host does it, whatever this machine's default is.
CONGESTION = b"cubic"
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


class End(Protocol):
    """One end of a connection on a link."""

    mac: Mac

    def write(self, frame: bytes) -> None:
        """Take a frame from the link."""

    def read(self) -> Iterator[bytes]:
        """Do what is due, and return the frames that leave."""

    def descriptor(self) -> int | None:
        """Return what becomes readable when frames leave by themselves."""

    def next_wake(self) -> int | None:
        """Return when there is something to do."""

    def listen(self, buffer: int) -> None:
        """Take one connection, and all of its octets."""

    def send(self, to: IPv6Address, octets: int, pace: int | None) -> None:
        """Begin a connection and send so much, as fast as it goes or at so many bits a second."""

    def close(self) -> None:
        """Leave nothing behind."""


class HostEnd:
    """The lab host."""

    def __init__(self, side: int, seed: int) -> None:
        self.mac = tables.host_mac(side, 1)
        address = tables.host_address(side, 1)
        self._host = wayname_host.Host(
            mac=str(self.mac), addresses=[f"{address}/64"], gateway=str(tables.ROUTER), seed=seed
        )

    def write(self, frame: bytes) -> None:
        """Take a frame from the link."""
        self._host.receive(frame, time.monotonic_ns())

    def read(self) -> Iterator[bytes]:
        """Do what is due, and return the frames that leave."""
        now = time.monotonic_ns()
        for frame in self._host.poll(now):
            advertisement = gateway.answer(frame, ROUTER)
            if advertisement is None:
                yield frame
            else:
                self._host.receive(advertisement, now)
        self._host.events()

    def descriptor(self) -> int | None:
        """Return nothing: it speaks when it is polled."""
        return None

    def next_wake(self) -> int | None:
        """Return when there is something to do."""
        return self._host.next_wake(time.monotonic_ns())

    def listen(self, buffer: int) -> None:
        """Take one connection, and all of its octets."""
        # As long as Linux may wait.
        self._host.tcp_serve(port=PORT, buffer=buffer, ack_delay=0.04)

    def send(self, to: IPv6Address, octets: int, pace: int | None) -> None:
        """Begin a connection and send so much."""
        self._host.tcp_send(str(to), port=PORT, bytes=octets, pace=pace)

    def close(self) -> None:
        """Leave nothing behind."""


class LinuxEnd:
    """A namespace with a TAP."""

    def __init__(self, side: int, name: str) -> None:
        self.mac = tables.host_mac(side, 0)
        self._tap = Tap(name, self.mac, tables.host_address(side, 0), tables.ROUTER, ROUTER)
        self._sockets: list[socket.socket] = []
        self._listening: socket.socket | None = None
        self._sending: socket.socket | None = None
        self._left = 0
        self._pace: int | None = None
        self._began: int | None = None
        self._sent = 0

    def write(self, frame: bytes) -> None:
        """Take a frame from the link."""
        self._tap.write(frame)

    def read(self) -> Iterator[bytes]:
        """Do what is due, and return the frames that leave."""
        self._take()
        self._give()
        while (frame := self._tap.read()) is not None:
            yield frame

    def descriptor(self) -> int | None:
        """Return the TAP's."""
        return self._tap.descriptor

    def next_wake(self) -> int | None:
        """Return when the pace allows the next octets."""
        if self._sending is None or self._pace is None or self._began is None or not self._left:
            return None
        return self._began + self._sent * 8 * 10**9 // self._pace

    def listen(self, buffer: int) -> None:
        """Take one connection, and all of its octets."""
        listening = self._socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if buffer < BUFFER:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        listening.bind(("::", PORT))
        listening.listen()
        self._listening = listening

    def send(self, to: IPv6Address, octets: int, pace: int | None) -> None:
        """Begin a connection and send so much."""
        self._sending, self._left, self._pace, self._began, self._sent = self._socket(), octets, pace, None, 0
        if pace is None:
            # The last segment waits for the FIN, as the lab host's does.
            self._sending.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        with contextlib.suppress(BlockingIOError):
            self._sending.connect((str(to), PORT))

    def forget(self) -> None:
        """Break off what is left of the last connection."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            each.close()
        self._sockets, self._listening, self._sending = [], None, None
        while self._tap.read() is not None:
            pass

    def close(self) -> None:
        """Leave nothing behind."""
        self.forget()
        self._tap.close()

    def _socket(self) -> socket.socket:
        with inside(self._tap.namespace):
            made = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONGESTION)
        self._sockets.append(made)
        return made

    def _take(self) -> None:
        if self._listening is not None:
            with contextlib.suppress(BlockingIOError):
                self._sockets.append(self._listening.accept()[0])
        for each in self._sockets:
            if each not in (self._listening, self._sending):
                each.setblocking(False)
                with contextlib.suppress(BlockingIOError, OSError):
                    while each.recv(BUFFER):
                        pass

    def _give(self) -> None:
        if self._sending is None or not self._left:
            return
        now = time.monotonic_ns()
        with contextlib.suppress(BlockingIOError, OSError):
            self._sending.getpeername()
            self._began = self._began or now
            while self._left:
                allowed = self._left
                if self._pace is not None:
                    # In pieces of 1400 octets, as the lab host does it.
                    most = (now - self._began) * self._pace // (8 * 10**9) // 1400 * 1400 + 1400
                    allowed = min(allowed, most - self._sent)
                if allowed <= 0:
                    return
                count = self._sending.send(bytes(allowed))
                self._left -= count
                self._sent += count
            self._sending.shutdown(socket.SHUT_WR)


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Let this thread's sockets be made in a namespace."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        _set_namespace(there)
        yield
    finally:
        _set_namespace(here)
        os.close(here)
        os.close(there)


def _set_namespace(descriptor: int) -> None:
    if LIBC.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
