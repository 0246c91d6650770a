"""Ports of a switch that is not in this process: wires, and network interfaces."""

import socket
import time
from typing import Any

from ptf.dataplane import DataPlanePacketSourceIface, DataPlanePortIface, DataPlanePortLinux

from harness.ports import WIRE

MOST = 1 << 16


class WirePort(DataPlanePortIface, DataPlanePacketSourceIface):
    """The other end of a port `N@wire:PATH` of the switch, which listens there: a socket that keeps frames apart."""

    def __init__(self, path: str, device: int, port: int) -> None:
        self._device = device
        self._port = port
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect(path)

    def fileno(self) -> int:
        """Readable when a frame waits."""
        return self._socket.fileno()

    def recv(self) -> tuple[int, int, bytes, float] | None:
        """The next frame; None when the switch has gone."""
        frame = self._socket.recv(MOST)
        return (self._device, self._port, frame, time.time()) if frame else None

    def get_packet_source(self) -> "WirePort":
        """Each wire is a source of its own."""
        return self

    def send(self, packet: bytes) -> int:
        """Send a frame to the switch."""
        return self._socket.send(packet)


def open_port(interface: str, device: int, port: int, config: dict[str, Any]) -> DataPlanePortIface:
    """PTF's end of a port."""
    if interface.startswith(WIRE):
        return WirePort(interface.removeprefix(WIRE), device, port)
    return DataPlanePortLinux(interface, device, port, config)
