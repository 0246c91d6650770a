"""A scheduled session whose packets have an order, on the program with packet buffers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from carriers import ipv6
from numbered_switch import (
    COUNTED,
    DESTINATION_OPTIONS,
    NUMBERS,
    OPTION,
    SHIM6,
    NumberedSession,
    NumberedSwitch,
    Report,
    option,
)
from schedule_site import ACK, SCHEDULE, TCP, segment
from session_site import LOCAL, REMOTE, SESSION
from site_switch import MAIN

from wayname.p4_constants import SessionMode

BUFFERED = MAIN.with_name("buffered.p4")
VERSION = 2
DATA = 20  # octets before a segment's data
EDGE, HOST = 4, 1  # ports


class Ordered(NamedTuple):
    """A packet between edges: its slot and number there, its order, how long it may wait, its segment's number."""

    slot: int
    sequence: int
    order: int
    wait: int
    segment: int


@dataclass(frozen=True)
class OrderedSession(NumberedSession):
    mode: int = SCHEDULE | SessionMode.NUMBER | SessionMode.ORDER


class OrderedSwitch(NumberedSwitch):
    scheduled = OrderedSession
    program = BUFFERED

    def sends_segment(self, time: int, number: int, length: int = 1000) -> list[bytes]:
        """What leaves for the peer when the host sends a segment with data."""
        packet = ipv6(TCP, segment(number, 0, length - 40 - DATA, ACK, (1000, 80)), LOCAL, REMOTE)
        return self.frames(time, packet)

    def orders(self, time: int, number: int, length: int = 1000) -> Ordered:
        (frame,) = self.sends_segment(time, number, length)
        return read_order(frame)

    def comes_in_order(
        self, time: int, order: int, *, slot: int = 0, sequence: int = 1, wait: int = 100_000, number: int | None = None
    ) -> list[int]:
        """The numbers of segments that the host gets when one of the peer comes; its number is its order."""
        named = order if number is None else number
        packet = ipv6(TCP, segment(named, 0, 100, ACK, (80, 1000)), REMOTE, LOCAL)
        return to_host(self.comes(time, slot, order_option(slot, sequence, order, wait), packet))

    def told(self, time: int, slot: int, newest: int, lost: tuple[int, ...] = ()) -> list[tuple[int, bytes]]:
        """The peer reports of a path, of which these numbers are missing; what the switch sends for it."""
        came = NUMBERS - 1 - sum(1 << (newest - 1 - number) for number in lost)
        report = Report(slot, newest % NUMBERS, time, (newest - len(lost)) % NUMBERS, 0, came)
        return self.comes(time, slot, option(slot, 0, report, counted=0), ipv6(59, b"", REMOTE, LOCAL))

    def ends_session(self) -> None:
        """The controller takes the order and the numbers from it."""
        self.use(replace(NumberedSession(), mode=SCHEDULE, number=SESSION))


def order_option(slot: int, sequence: int, order: int, wait: int, copies: int = 0) -> bytes:
    """The destination options of version 2 alone."""
    start = bytes([SHIM6, 1, OPTION, 12, VERSION << 4 | COUNTED << 3 | slot])
    return start + (sequence % NUMBERS).to_bytes(3) + (order % 2**32).to_bytes(4) + bytes([copies]) + wait.to_bytes(3)


def read_order(frame: bytes) -> Ordered:
    """A frame to the peer, of which every octet of the option is looked at."""
    packet = frame[14:]
    assert packet[6] == DESTINATION_OPTIONS
    follows, length, kind, octets = packet[40:44]
    assert (follows, kind) == (SHIM6, OPTION)
    assert (length, octets) in {(1, 12), (3, 28)}
    assert packet[44] >> 4 == VERSION
    assert packet[44] >> 3 & 1
    assert packet[52] == 0, "one copy"
    inside = 48 + 8 * length + 8
    return Ordered(
        packet[44] & 7,
        int.from_bytes(packet[45:48]),
        int.from_bytes(packet[48:52]),
        int.from_bytes(packet[53:56]),
        int.from_bytes(packet[inside + 4 : inside + 8]),
    )


def to_host(outputs: list[tuple[int, bytes]]) -> list[int]:
    """Numbers of the segments that leave for the host."""
    return [int.from_bytes(frame[14 + 40 + 4 : 14 + 40 + 8]) for port, frame in outputs if port == HOST]


def to_peer(outputs: list[tuple[int, bytes]]) -> list[Ordered]:
    return [read_order(frame) for port, frame in outputs if port == EDGE]
