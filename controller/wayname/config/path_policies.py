"""What a configuration says of flows that take a path of their own within their hosts' session."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Network


@dataclass(frozen=True, slots=True)
class PathPolicy:
    """Flows of sessions, and the provider that they are to leave by; what is None does not matter.

    Without a provider they go as their session does, unless a command says otherwise of one session.
    """

    name: str
    provider: str | None = None
    local: IPv6Network | None = None
    remote: IPv6Network | None = None
    protocol: int | None = None
    local_ports: tuple[int, int] | None = None
    remote_ports: tuple[int, int] | None = None
    dscp: int | None = None
