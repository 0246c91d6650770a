"""Reads which flows a policy is for: prefixes, protocol and ports."""

from __future__ import annotations

import re
from ipaddress import IPv6Network

from wayname.config.checks import network
from wayname.config.reader import Table
from wayname.wire.ipv6 import ICMPV6, TCP, UDP

MOST_PORT = 65535
PROTOCOLS = {"tcp": TCP, "udp": UDP, "icmpv6": ICMPV6, "sctp": 132}
WITH_PORTS = ("tcp", "udp", "sctp")
_PORTS = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?")


def read_flow_prefix(table: Table, key: str) -> IPv6Network | None:
    """Read the addresses of one end, if they matter."""
    if not table.has(key):
        return None
    text = table.take(key, str)
    return table.convert(key, text if "/" in text else f"{text}/128", network, "write an address, or PREFIX/LENGTH")


def read_flow_ports(table: Table, key: str, protocol: str | None) -> tuple[int, int] | None:
    """Read the ports of one end, if they matter."""
    if not table.has(key):
        return None
    if protocol not in WITH_PORTS:
        raise table.error(key, "needs a protocol with ports", 'write protocol = "tcp", "udp" or "sctp"')
    return table.parse(key, _port_range, 'write a port or two as in "443" or "5000-5999"')


def _port_range(text: str) -> tuple[int, int]:
    if not _PORTS.fullmatch(text):
        raise ValueError("ports are numbers")
    first, _, last = text.partition("-")
    ports = int(first), int(last or first)
    if not 0 <= ports[0] <= ports[1] <= MOST_PORT:
        raise ValueError(f"ports go up from 0 to {MOST_PORT}")
    return ports
