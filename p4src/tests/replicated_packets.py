"""Packets that go in several copies at once, as they are between edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from numbered_switch import DESTINATION_OPTIONS, OPTION, SHIM6

ORDER_VERSION = 2


class Replica(NamedTuple):
    """A copy: its slot and number there, the order and the number of copies, how long it may wait, what it bears."""

    slot: int
    sequence: int
    order: int
    copies: int
    wait: int
    payload: bytes


def replica(frame: bytes) -> Replica:
    """A frame to the peer that bears an order, whether a report is behind that or not."""
    packet = frame[14:]
    assert packet[6] == DESTINATION_OPTIONS
    assert tuple(packet[40:44]) in {(SHIM6, 1, OPTION, 12), (SHIM6, 3, OPTION, 28)}
    assert packet[44] >> 3 == ORDER_VERSION << 1 | 1, "counted"
    assert int.from_bytes(packet[4:6]) == len(packet) - 40, "its length is right"
    return Replica(
        packet[44] & 7,
        int.from_bytes(packet[45:48]),
        int.from_bytes(packet[48:52]),
        packet[52],
        int.from_bytes(packet[53:56]),
        packet[56 + 8 * packet[41] :],
    )


def bears_order(frame: bytes) -> bool:
    """Whether a frame to the peer is one that the peer drops if it came before."""
    return frame[14 + 44] >> 4 == ORDER_VERSION


def replicas(frames: Iterable[bytes]) -> list[Replica]:
    """The copies among frames to the peer, in the order of their slots."""
    return sorted(replica(frame) for frame in frames if bears_order(frame))
