"""What an edge adds to the messages of hosts that speak HIP themselves: that it reports on paths (docs/hip-tables.md).

Signatures and MACs of the hosts stay right. Whether the message has room for it or not, it goes on.
"""

from __future__ import annotations

from dataclasses import replace

from wayname.edge.links import ReceivedPacket
from wayname.hip.errors import TooLongError
from wayname.hip.messages import Kind, Message, with_checksum, with_unsigned
from wayname.hip.path_reports import AddedPathReports
from wayname.wire.ipv6 import HIP

# By these the edges of two hosts agree; R1 is the same for whoever asks.
_TELLING = frozenset((Kind.I2, Kind.R2, Kind.UPDATE))


def with_reports(
    message: Message, octets: bytes, arrival: ReceivedPacket, told: AddedPathReports
) -> tuple[Message, ReceivedPacket]:
    """Return a host's message that also tells this, and the packet with it; both as they were if it tells nothing."""
    packet = arrival.packet
    if message.kind not in _TELLING or packet.next_header != HIP:
        return message, arrival
    try:
        longer = with_unsigned(octets, told)
    except TooLongError:
        return message, arrival
    packet = replace(packet, payload=with_checksum(longer, packet.source, packet.destination))
    frame = replace(arrival.frame, payload=packet.encode())
    original = replace(arrival.original, payload=frame.encode())
    others = (one for one in message.parameters if type(one) is not AddedPathReports)
    return replace(message, parameters=(*others, told)), replace(arrival, original=original, frame=frame, packet=packet)
