"""Captures of ports: entries that have packets copied while somebody wants them, and whose the copies are."""

from __future__ import annotations

from wayname.edge.boundary import Captured, OpenCapture, PacketIn
from wayname.edge.outputs import Outputs
from wayname.p4_constants import Punt
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity

# Packets a second of a port each way: enough to look for a fault, and little beside what the switch forwards.
CAPTURE_RATE = 2000


class Captures:
    """The captures that are open; several may look at one port."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._open: dict[int, OpenCapture] = {}

    def open(self, capture: OpenCapture) -> None:
        """Have a port's packets copied."""
        self._open[capture.number] = capture
        for entity in _entities(capture.port, capture.arriving, capture.leaving):
            self._outputs.desired.put(entity)

    def close(self, number: int) -> None:
        """End a capture; what no other one needs goes."""
        capture = self._open.pop(number)
        others = [other for other in self._open.values() if other.port == capture.port]
        arriving = capture.arriving and not any(other.arriving for other in others)
        leaving = capture.leaving and not any(other.leaving for other in others)
        for entity in _entities(capture.port, arriving, leaving):
            self._outputs.desired.remove(entity)

    def packet(self, packet: PacketIn) -> None:
        """Pass a copy on to those who wait for it."""
        arrives = packet.reason == Punt.INGRESS_MIRROR
        for number, capture in self._open.items():
            if capture.port == packet.port and (capture.arriving if arrives else capture.leaving):
                self._outputs.captured(Captured(number, packet.payload, arrives))


def _entities(port: int, arriving: bool, leaving: bool) -> list[Entity]:
    """Return what has a port's packets copied."""
    ways = (["ingress"] if arriving else []) + (["egress"] if leaving else [])
    rates: list[Entity] = [entries.rate(f"{way}_mirror_meter", port, CAPTURE_RATE) for way in ways]
    return rates + [entries.capture(port, way) for way in ways]
