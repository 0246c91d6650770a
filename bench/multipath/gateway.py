"""The answer of an edge's controller to a host that looks for its router; these networks have no controllers."""

from __future__ import annotations

from bench.multipath import tables
from wayname.wire import icmpv6
from wayname.wire.discovery import NeighbourAdvertisement
from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac

IPV6 = 0x86DD
# RFC 4861, section 7.1.1.
HOP_LIMIT = 255
AT_NEXT_HEADER, AT_TYPE, AT_TARGET = 20, 54, 62


def answer(frame: bytes, router: Mac) -> bytes | None:
    """Return the advertisement for a solicitation that asks for the router, None for any other frame."""
    if frame[AT_NEXT_HEADER] != 58 or frame[AT_TYPE] != icmpv6.NEIGHBOUR_SOLICITATION:
        return None
    if frame[AT_TARGET : AT_TARGET + 16] != tables.ROUTER.packed:
        return None
    host = Packet.decode(frame[14:]).source
    said = NeighbourAdvertisement(tables.ROUTER, router, router=True, solicited=True)
    packet = said.message().packet(tables.ROUTER, host, HOP_LIMIT)
    return Frame(Mac.unpack(frame[6:12]), router, IPV6, packet.encode()).encode()
