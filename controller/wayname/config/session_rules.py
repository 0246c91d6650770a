"""What a configuration says of the sessions of a site's hosts, whatever their protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Network

SEND_TIMEOUT = 15.0  # RFC 5534, section 6: Tsend, and three keepalives in it
KEEPALIVES_IN_TIMEOUT = 3


class Mode(StrEnum):
    """What the edge does for the hosts of a prefix."""

    PROXY = "proxy"
    TRANSPARENT = "transparent"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class SessionRules:
    """When sessions begin and end, and how they are watched; the prefixes are of one network, one of each provider."""

    prefixes: tuple[IPv6Network, ...]
    mode: Mode = Mode.PROXY
    # With a least one it follows the round trips, up to this.
    send_timeout: float = SEND_TIMEOUT
    least_send_timeout: float | None = None
    keepalive: float = SEND_TIMEOUT / KEEPALIVES_IN_TIMEOUT
    # After so much traffic, or so long a time, two addresses get a session.
    bytes: int = 2048
    seconds: float = 60.0
    hold: bool = True
    # A server lets its clients begin; how many sessions there may be; how long one may be without a packet.
    server: bool = False
    most: int = 100_000
    idle: float = 600.0
    # How often paths that are not in use are probed, and how long the first must have worked before a session goes
    # back to it; a multiple of send_timeout unless given.
    verify_every: float | None = None
    return_after: float | None = None

    @property
    def told_send_timeout(self) -> float:
        """What peers are told, so that they answer in time however short a session's send timeout is."""
        return self.send_timeout if self.least_send_timeout is None else self.least_send_timeout
