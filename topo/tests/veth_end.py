"""The other end of a switch's veth pair, as a test has it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from harness.wires import PATIENCE
from wayname.adapter.netlink_socket import NAMESPACES, enter

SO_RCVBUFFORCE, BUFFER = 33, 64 << 20
SOL_PACKET, PACKET_AUXDATA, TAG_IS_THERE = 263, 8, 1 << 4
AUXDATA = struct.Struct("=IIIHHHH")

Made = TypeVar("Made")


def inside(namespace: str, make: Callable[[], Made]) -> Made:
    """Do something in a network namespace."""
    made: list[Made] = []

    def work() -> None:
        enter(NAMESPACES / namespace)
        made.append(make())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return made[0]


class End:
    """The other end of a port's veth pair."""

    def __init__(self, namespace: str, device: str) -> None:
        def make() -> socket.socket:
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
            made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            made.bind((device, 3))
            return made

        self._socket = inside(namespace, make)

    def send(self, octets: bytes) -> None:
        self._socket.send(octets)

    def receive(self) -> bytes:
        """The next packet that comes."""
        self._socket.settimeout(PATIENCE)
        return self._next()

    def is_silent(self) -> bool:
        """Whether nothing has come."""
        self._socket.settimeout(0)
        with suppress(BlockingIOError):
            self._next()
            return False
        return True

    def close(self) -> None:
        self._socket.close()

    def _next(self) -> bytes:
        while True:
            octets, beside, _, address = self._socket.recvmsg(65536, socket.CMSG_SPACE(AUXDATA.size))
            if address[2] != socket.PACKET_OUTGOING:
                break
        for level, kind, data in beside:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                # The kernel takes a tag off before it shows the packet.
                status, *_, tag, protocol = AUXDATA.unpack(data)
                if status & TAG_IS_THERE:
                    octets = octets[:12] + struct.pack("!HH", protocol, tag) + octets[12:]
        return octets
