"""The number of a Locator Update, in a destination option for experiments (RFC 4727), so that old ones are known.

| next header | 0 | 0x1E | 4 | number (4 octets) |

RFC 6743 puts its messages in no order: one that is played again says what the peer said once. Each update of a
session has a higher number here. Nodes that do not know the option skip it, as the highest bits of its type want.
"""

from __future__ import annotations

from dataclasses import replace

from wayname.ilnp.nonce import destination_options
from wayname.wire.ipv6 import DESTINATION_OPTIONS, Packet

SEQUENCE_OPTION = 0x1E
SEQUENCE_OCTETS = 4


def with_sequence(packet: Packet, number: int) -> Packet:
    """Put a number on a packet that has no extension headers yet."""
    option = bytes([SEQUENCE_OPTION, SEQUENCE_OCTETS]) + number.to_bytes(SEQUENCE_OCTETS)
    header = bytes([packet.next_header, 0]) + option
    return replace(packet, next_header=DESTINATION_OPTIONS, payload=header + packet.payload)


def sequence_of(packet: Packet) -> int | None:
    """Return the number that a packet bears."""
    for kind, value in destination_options(packet):
        if kind == SEQUENCE_OPTION and len(value) == SEQUENCE_OCTETS:
            return int.from_bytes(value)
    return None
