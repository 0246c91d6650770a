"""Which flows a policy is for: prefixes, protocol and ports."""

from __future__ import annotations

import re
from ipaddress import IPv6Network
from typing import Annotated, Self

from pydantic import model_validator

from wayname.config.checks import network
from wayname.config.tables import Table, known_words, mistake, parsed
from wayname.wire.ipv6 import ICMPV6, TCP, UDP

MOST_PORT = 65535
SCTP = 132
WITH_PORTS = (TCP, UDP, SCTP)
_PORTS = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?")


def _port_range(text: str) -> tuple[int, int]:
    if not _PORTS.fullmatch(text):
        raise ValueError("ports are numbers")
    first, _, last = text.partition("-")
    ports = int(first), int(last or first)
    if not 0 <= ports[0] <= ports[1] <= MOST_PORT:
        raise ValueError(f"ports go up from 0 to {MOST_PORT}")
    return ports


def _flow_prefix(text: str) -> IPv6Network:
    return network(text if "/" in text else f"{text}/128")


FlowPrefix = Annotated[IPv6Network, parsed(_flow_prefix, "write an address, or PREFIX/LENGTH")]
Protocol = Annotated[int, known_words({"tcp": TCP, "udp": UDP, "icmpv6": ICMPV6, "sctp": SCTP})]
Ports = Annotated[tuple[int, int], parsed(_port_range, 'write a port or two as in "443" or "5000-5999"')]


class FlowTable(Table):
    """The flows of a policy; what is None does not matter."""

    local: FlowPrefix | None = None
    remote: FlowPrefix | None = None
    protocol: Protocol | None = None
    local_ports: Ports | None = None
    remote_ports: Ports | None = None

    @model_validator(mode="after")
    def _check_ports(self) -> Self:
        for key in ("local_ports", "remote_ports"):
            if getattr(self, key) is not None and self.protocol not in WITH_PORTS:
                raise mistake("needs a protocol with ports", 'write protocol = "tcp", "udp" or "sctp"', key)
        return self
