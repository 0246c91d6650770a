"""What a configuration says of names."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address


class Transport(StrEnum):
    """How messages go to a DNS server. By UDP, what does not fit goes by TCP."""

    UDP = "udp"
    TCP = "tcp"


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A node whose identifier and locators are under a name."""

    address: IPv6Address
    name: str


@dataclass(frozen=True, slots=True)
class Names:
    """Which DNS server is asked and told, and who has which name there."""

    server: IPv6Address
    port: int = 53
    zone: str = ""
    # The name that has the locators of all hosts; theirs point at it (LP). Without it each has its own.
    network: str = ""
    # What signs all messages, both ways (RFC 8945); without a key they go unsigned.
    key_name: str = ""
    key: bytes = field(default=b"", repr=False)
    hosts: tuple[NamedNode, ...] = ()
    peers: tuple[NamedNode, ...] = ()
    transport: Transport = Transport.UDP
    # Whether answers count only if the server has validated them; whoever wrote the file can trust its word.
    dnssec: bool = False
