"""An ordinary connection of TCP that shares a path's queue: its hosts are behind no edge, and have this path alone."""

from __future__ import annotations

import random
from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Interface
from typing import Any

from bench.multipath.path import ETHERNET, Path
from wayname.wire.mac import Mac
from wayname_lab.model import Quality
from wayname_lab.planned import HostPlan
from wayname_lab.virtual.clock import SECOND, Clock
from wayname_lab.virtual.host import VirtualHost
from wayname_lab.virtual.link import Trace, VirtualLink

PORT, MTU = 5001, 1500
ADDRESSES = tuple(IPv6Address(f"2001:db8:99::{number}") for number in (1, 2))
# How often programs report, in seconds.
STEP = 0.1


class SharingLink(VirtualLink):
    """A link between two hosts whose frames wait in a path's queue, then are under way for its delay."""

    def __init__(self, clock: Clock, name: str, path: Path, directions: Mapping[str, str], delay: int) -> None:
        super().__init__(clock, name, Quality(delay=delay), random.Random(0), Trace())
        self._path = path
        self._directions = directions  # of the path, by this link's sender

    def send(self, sender: str, frame: bytes, at: int) -> None:
        """Queue a frame of either host."""
        departure = self._path.queue_of_others(self._directions[sender], len(frame) - ETHERNET, at)
        if departure is not None:
            super().send(sender, frame, departure)


class OrdinaryConnection:
    """Two hosts, of which one sends to the other for as long as there is time, each from an end of the path."""

    def __init__(self, clock: Clock, name: str, path: Path, ends: tuple[str, str], delay: int, seed: int) -> None:
        self._rates: list[tuple[float, int]] = []  # when, in seconds, and octets since the last time
        names = _, self._takes = (f"{name}1", f"{name}2")
        link = SharingLink(clock, name, path, dict(zip(names, ends, strict=True)), delay)
        self._sender, self._receiver = (
            VirtualHost(clock, _plan(each, place), link, seed + place, self._take) for place, each in enumerate(names)
        )

    def begin(self, window: int) -> None:
        """Let the first host send from now on."""
        fields = {"port": PORT, "buffer": window}
        self._receiver.command({"command": "tcp_serve", "interval": STEP, "ack_delay": 0.0, **fields})
        self._sender.command({"command": "tcp_send", "to": str(ADDRESSES[1]), **fields})

    def bits(self, since: float) -> int:
        """Return what the second host received since a moment."""
        return 8 * sum(octets for at, octets in self._rates if at > since)

    def _take(self, name: str, event: dict[str, Any]) -> None:
        if name == self._takes and event["event"] == "rate":
            self._rates.append((event["at_ns"] / SECOND, event["bytes"]))


def _plan(name: str, place: int) -> HostPlan:
    # Each has the other as its router, which is asked for what is on the link, too.
    mine, other = ADDRESSES[place], ADDRESSES[1 - place]
    return HostPlan(name, "", 0, 0, str(Mac(0x02_00_00_00_99_00 + place)), IPv6Interface((mine, 64)), other, False, MTU)
