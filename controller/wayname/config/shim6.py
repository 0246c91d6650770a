"""What a configuration says of Shim6."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Network

from wayname.identity.parameters import Parameters

SEND_TIMEOUT = 15.0  # RFC 5534, section 6: Tsend, and three keepalives in it
KEEPALIVES_IN_TIMEOUT = 3


class Shim6Mode(StrEnum):
    """What the edge does for the hosts of a prefix."""

    PROXY = "proxy"
    TRANSPARENT = "transparent"
    VERIFY = "verify"


class Security(StrEnum):
    """Whether locators must be proved."""

    PROVED = "proved"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ProvableHost:
    """A host whose address is in a hash-based set, and what proves it; nothing does without security."""

    address: IPv6Address
    parameters: Parameters | None


@dataclass(frozen=True, slots=True)
class Shim6:
    """What is done for the hosts of a site: the prefixes are of one network, one from each provider."""

    prefixes: tuple[IPv6Network, ...]
    mode: Shim6Mode = Shim6Mode.PROXY
    # With a least one it follows the round trips, up to this.
    send_timeout: float = SEND_TIMEOUT
    least_send_timeout: float | None = None
    keepalive: float = SEND_TIMEOUT / KEEPALIVES_IN_TIMEOUT
    bytes: int = 2048
    seconds: float = 60.0
    hold: bool = True
    # Without security whoever claims a locator is believed; a peer whose address claims less Sec than this is not.
    security: Security = Security.PROVED
    least_sec: int = 0
    # A server lets its clients begin; how many contexts there may be; how long one may be without a packet.
    server: bool = False
    most: int = 100_000
    idle: float = 600.0
    # How often paths that are not in use are probed, and how long the first must have worked before a session goes
    # back to it; a multiple of send_timeout unless given.
    verify_every: float | None = None
    return_after: float | None = None
    # A rule of the user's own of when a context is set up, in place of ours; as the configuration names it.
    begin_rule: str | None = None
    hosts: tuple[ProvableHost, ...] = ()

    @property
    def told_send_timeout(self) -> float:
        """What peers are told, so that they answer in time however short a session's send timeout is."""
        return self.send_timeout if self.least_send_timeout is None else self.least_send_timeout
