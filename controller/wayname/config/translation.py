"""What a configuration says of translation at a site's border."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Network

HOLD = 5.0

# The names of providers with their weights; one of weight 0 serves when no other works.
Shares = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FlowPolicy:
    """Flows that go by providers of their own; what is None does not matter."""

    shares: Shares
    local: IPv6Network | None = None
    remote: IPv6Network | None = None
    protocol: int | None = None
    local_ports: tuple[int, int] | None = None
    remote_ports: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Translation:
    """A prefix inside, and the providers whose prefixes its flows bear outside."""

    inside: IPv6Network
    shares: Shares
    # How long connections over a provider that failed wait for it, in seconds.
    hold: float = HOLD
    policies: tuple[FlowPolicy, ...] = ()
