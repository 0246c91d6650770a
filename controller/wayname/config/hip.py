"""What a configuration says of HIP."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path

from wayname.config.names import Names
from wayname.config.session_rules import SessionRules
from wayname.hip.suites import Point


@dataclass(frozen=True, slots=True)
class HipHost:
    """A host that the edge speaks for, the file with the key of its identity, and how a point of that is written."""

    address: IPv6Address
    key: Path
    point: Point = Point.XY


@dataclass(frozen=True, slots=True)
class HipPeer:
    """Somebody whom hosts here may have associations with: its tag, and the address that hosts know it by."""

    address: IPv6Address
    hit: IPv6Address


@dataclass(frozen=True, slots=True)
class Hip:
    """What is done for hosts, by prefix."""

    rules: tuple[SessionRules, ...]
    hosts: tuple[HipHost, ...] = ()
    peers: tuple[HipPeer, ...] = ()
    difficulty: int = 8
    most_difficulty: int = 18
    # Hosts whose HIP records the DNS is told, and peers that are known by theirs (RFC 8005).
    names: Names | None = None
