"""What reads octets of others: what it is given, and what it covers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fuzz import genuine
from wayname.hip.endpoint import Endpoint as HipEndpoint
from wayname.hip.esp.errors import Rejected
from wayname.identity.errors import ProofError
from wayname.ilnp.endpoint import Endpoint as IlnpEndpoint
from wayname.shim6.endpoint import Endpoint as Shim6Endpoint
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import Packet

# What may be wrong with a message; anything else is a mistake of the program.
REFUSALS: tuple[type[Exception], ...] = (DecodeError, ProofError, Rejected)


@dataclass(frozen=True)
class Target:
    """Something that reads octets: genuine ones to begin with, and what makes changed ones right again."""

    name: str
    covers: tuple[str, ...]
    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes], object]
    seal: Callable[[bytes], bytes] = bytes


def octets_of(packets: Callable[[], tuple[Packet, ...]]) -> Callable[[], list[bytes]]:
    """Return seeds that are packets."""
    return lambda: [packet.encode() for packet in packets()]


def carrying(number: int) -> Callable[[], list[bytes]]:
    """Return seeds that are packets which carry a protocol right behind their header."""
    return lambda: [packet.encode() for packet in genuine.other_packets() if packet.next_header == number]


def payloads_of(packets: Callable[[], tuple[Packet, ...]]) -> Callable[[], list[bytes]]:
    """Return seeds that are what packets carry."""
    return lambda: [packet.payload for packet in packets()]


def into_endpoint(endpoint: Callable[[], HipEndpoint | Shim6Endpoint | IlnpEndpoint]) -> Callable[[bytes], object]:
    """Return what gives packets to an endpoint, at a time at which all its rations are full."""
    now = 2000.0

    def receive(octets: bytes) -> object:
        nonlocal now
        now += 1.0
        endpoint().receive(Packet.decode(octets), now)
        return endpoint().take_outputs()

    return receive


def of_packet(read: Callable[[Packet], object]) -> Callable[[bytes], object]:
    """Return what reads a packet's octets."""
    return lambda octets: read(Packet.decode(octets))
