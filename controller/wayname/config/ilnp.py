"""What a configuration says of ILNP."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Network

from wayname.config.names import Names
from wayname.ilnp.settings import IDLE_TIME, NonceUse


class IlnpMode(StrEnum):
    """What the edge does for the hosts of a site."""

    PROXY = "proxy"
    TRANSPARENT = "transparent"
    BORDER = "border"  # they speak ILNP themselves, and their locators are changed on the way out


class TcpAdmission(StrEnum):
    """What makes the session of a TCP connection that a host of a site opens."""

    HANDSHAKE = "handshake"  # its own, if the peer is known to speak ILNP
    REQUEST = "request"  # the messages that ask for any session


@dataclass(frozen=True, slots=True)
class IlnpSite:
    """The hosts of a network: its prefixes are their locators, the most preferred first, one from each provider."""

    prefixes: tuple[IPv6Network, ...]
    mode: IlnpMode = IlnpMode.PROXY
    bytes: int = 2048
    seconds: float = 60.0
    tcp: TcpAdmission = TcpAdmission.HANDSHAKE


@dataclass(frozen=True, slots=True)
class Policies:
    """Which wishes of others are granted; a rate of None has no bound."""

    count: int
    resources: float = 0.9
    rate: float | None = 100.0
    burst: float = 200.0
    rate_prefix: int = 48


@dataclass(frozen=True, slots=True)
class Ilnp:
    """What the edge does about sessions between identifiers."""

    sites: tuple[IlnpSite, ...]
    policies: Policies
    capacity: int = 1_000_000
    nonce_octets: int = 12
    nonce_use: NonceUse = NonceUse.ALWAYS
    naive: bool = False
    idle: float = IDLE_TIME
    names: Names | None = None
    # Prefixes whose hosts are known to speak ILNP, beside those of whom the DNS says so.
    speakers: tuple[IPv6Network, ...] = ()
