"""The pcap file format: a header, then each packet behind a header of its own.

    file      magic a1b2c3d4 | version 2.4 | 0 | 0 | longest packet | link type
    packet    seconds | microseconds | bytes kept | bytes it had | the packet

All in the writer's byte order.
"""

from __future__ import annotations

import struct

FILE_HEADER = struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
"""Microseconds, Ethernet."""


def packet_record(packet: bytes, microseconds: int) -> bytes:
    """One packet as it stands in the file; the time counts from 1970."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return struct.pack("=IIII", seconds, rest, len(packet), len(packet)) + packet
