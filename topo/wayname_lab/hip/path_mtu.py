"""What ICMPv6 says of the path MTU of ESP (RFC 4301, section 8.2.1), to the stack that has to make shorter packets."""

from __future__ import annotations

from typing import NamedTuple

from wayname.hip.esp.beet import ESP
from wayname.wire import icmpv6
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import HEADER_BYTES, ICMPV6, Packet

PARAMETER = 4  # octets before what an error quotes
SPI = 4


class TooBig(NamedTuple):
    """Packets with this SPI may have so many octets on their way to who chose it."""

    spi: int
    mtu: int


def too_big(packet: Packet) -> TooBig | None:
    """Return what a packet says of the path MTU of ESP; None if that is not what it is about."""
    if packet.next_header != ICMPV6:
        return None
    try:
        message = icmpv6.Message.decode(packet)
        quoted = message.body[PARAMETER:]
        # Routers quote what fits.
        whole = quoted[:4] + max(len(quoted) - HEADER_BYTES, 0).to_bytes(2) + quoted[6:]
        upper = Packet.decode(whole).upper_layer()
    except DecodeError:
        return None
    if message.type != icmpv6.PACKET_TOO_BIG or upper.number != ESP or len(upper.data) < SPI:
        return None
    return TooBig(int.from_bytes(upper.data[:SPI]), int.from_bytes(message.body[:PARAMETER]))
