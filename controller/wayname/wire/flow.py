"""What tells flows apart."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire.ipv6 import ICMPV6, SCTP, TCP, UDP

NAMES = {TCP: "tcp", UDP: "udp", ICMPV6: "icmpv6", SCTP: "sctp"}


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow as hosts of the site see it; of echoes the local port is their identifier."""

    local: IPv6Address
    remote: IPv6Address
    protocol: int
    local_port: int
    remote_port: int

    def __str__(self) -> str:
        name = NAMES.get(self.protocol, f"protocol {self.protocol}")
        return f"{name} {self.local} port {self.local_port} with {self.remote} port {self.remote_port}"
