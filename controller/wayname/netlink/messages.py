"""Messages of rtnetlink as values: what the kernel has, what it lost, and how to ask for all of it.

They come from the kernel and so are well formed. A route takes some microseconds here. pyroute2 takes eighty, which
would be eight of the five seconds in which a hundred thousand routes have to be withdrawn.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Kind(IntEnum):
    """Types of messages (linux/rtnetlink.h); what asks for them all is 2 more than what is new."""

    ERROR = 2
    DONE = 3
    NEW_LINK = 16
    DEL_LINK = 17
    NEW_ADDRESS = 20
    DEL_ADDRESS = 21
    NEW_ROUTE = 24
    DEL_ROUTE = 25
    NEW_NEIGHBOUR = 28
    DEL_NEIGHBOUR = 29
    NEW_NEXTHOP = 104
    DEL_NEXTHOP = 105


# In this order each finds there what it refers to.
DUMPS = (Kind.NEW_LINK, Kind.NEW_ADDRESS, Kind.NEW_NEXTHOP, Kind.NEW_NEIGHBOUR, Kind.NEW_ROUTE)
# RTNLGRP_LINK, _NEIGH, _IPV6_IFADDR, _IPV6_ROUTE, _NEXTHOP
MULTICAST_GROUPS = (1, 3, 9, 11, 32)

_AF_INET6 = 10
_MAIN_TABLE = 254
_CLONED = 0x200  # RTM_F_CLONED: a cache entry
_UP, _LOWER_UP = 0x1, 0x10000
_REQUEST, _DUMP, _REPLACE = 0x1, 0x300, 0x100
_MOST_PATHS = 65_536
_LINK_NAME, _EXT_MASK = 3, 29
_SKIP_STATISTICS = 8  # RTEXT_FILTER_SKIP_STATS
_TYPE_MASK = 0x3FFF  # without NLA_F_NESTED and NLA_F_NET_BYTEORDER

_HEADER = struct.Struct("=LHHLL")
_ATTRIBUTE = struct.Struct("=HH")
_LINK = struct.Struct("=BxHiII")
_ADDRESS = struct.Struct("=BBBBI")
_NEIGHBOUR = struct.Struct("=BxxxiHBB")
_ROUTE = struct.Struct("=BBBBBBBBI")
_NEXTHOP = struct.Struct("=BBBxI")
_ROUTE_NEXTHOP = struct.Struct("=HBBi")
_GROUP_MEMBER = struct.Struct("=IBBH")


class Target(StrEnum):
    """What a route does with packets."""

    FORWARD = "forward"
    PROHIBITED = "prohibited"
    DISCARD = "discard"


class Hop(NamedTuple):
    """The next router on a link, by the link's index; address 0: destinations are neighbours themselves."""

    link: int
    address: int
    weight: int


class Path(NamedTuple):
    """Where a route leads: by its own next hops, or by those of the nexthop object of this number."""

    target: Target
    hops: tuple[Hop, ...] = ()
    nexthop: int = 0


class Link(NamedTuple):
    """A link; `up` is with carrier."""

    number: int
    name: str
    up: bool
    is_gone: bool


class Address(NamedTuple):
    """An address of this machine."""

    link: int
    address: int
    length: int
    is_gone: bool


class Neighbour(NamedTuple):
    """A neighbour; a MAC of 0 is not known."""

    link: int
    address: int
    mac: int
    state: int
    is_gone: bool


class Nexthop(NamedTuple):
    """A nexthop object: a hop, or a group of others with their weights."""

    number: int
    path: Path
    members: tuple[tuple[int, int], ...]
    is_gone: bool


class Route(NamedTuple):
    """A route of the main table."""

    address: int
    length: int
    metric: int
    protocol: int
    path: Path
    is_gone: bool
    # It takes the place of another one of this metric.
    replaces: bool = False


Message = Link | Address | Neighbour | Nexthop | Route


class NeighbourState:
    """Bits of linux/neighbour.h."""

    USABLE = 0xDE  # REACHABLE, STALE, DELAY, PROBE, NOARP, PERMANENT
    FAILED = 0x20


class NetlinkError(OSError):
    """The kernel refused what was asked."""


def dump_request(kind: Kind, sequence: int) -> bytes:
    """Return the message that asks for everything of a kind."""
    body = bytes((_AF_INET6,)).ljust(
        {Kind.NEW_NEXTHOP: 8, Kind.NEW_ADDRESS: 8, Kind.NEW_ROUTE: 12}.get(kind, 16), b"\0"
    )
    return _HEADER.pack(_HEADER.size + len(body), kind + 2, _REQUEST | _DUMP, sequence, 0) + body


def link_request(name: str) -> bytes:
    """Return the message that asks for a link, without its counters."""
    written = name.encode() + b"\0"
    attributes = _ATTRIBUTE.pack(_ATTRIBUTE.size + 4, _EXT_MASK) + _SKIP_STATISTICS.to_bytes(4, sys.byteorder)
    attributes += _ATTRIBUTE.pack(_ATTRIBUTE.size + len(written), _LINK_NAME) + written
    body = bytes(_LINK.size) + attributes
    return _HEADER.pack(_HEADER.size + len(body), Kind.NEW_LINK + 2, _REQUEST, 1, 0) + body


def ends_dump(octets: bytes) -> bool:
    """Whether a datagram is the last of an answer, as far as can be said without reading it."""
    at = 0
    while at + _HEADER.size <= len(octets):
        length, kind, *_ = _HEADER.unpack_from(octets, at)
        if kind in (Kind.DONE, Kind.ERROR) or length < _HEADER.size:
            return True
        at += length + 3 & ~3
    return False


class Decoder:
    """Reads messages; paths that are the same are one object, so many routes by few next hops take little room."""

    def __init__(self) -> None:
        self._paths: dict[tuple[bytes, ...], Path] = {}

    def decode(self, octets: bytes) -> Iterator[Message | Kind]:
        """Yield what a datagram says, and `DONE` where a dump ends; what is of no interest is left out."""
        at = 0
        while at + _HEADER.size <= len(octets):
            length, kind, flags, _sequence, _port = _HEADER.unpack_from(octets, at)
            if length < _HEADER.size:
                return
            if kind in (Kind.NEW_ROUTE, Kind.DEL_ROUTE):
                message: Message | Kind | None = self._route(
                    octets, at + _HEADER.size, at + length, kind == Kind.DEL_ROUTE, bool(flags & _REPLACE)
                )
            else:
                message = self._other(octets, at + _HEADER.size, at + length, kind)
            if message is not None:
                yield message
            at += length + 3 & ~3

    def _other(self, octets: bytes, at: int, end: int, kind: int) -> Message | Kind | None:
        match kind:
            case Kind.NEW_LINK | Kind.DEL_LINK:
                return _link(octets, at, end, kind)
            case Kind.NEW_ADDRESS | Kind.DEL_ADDRESS:
                return _address(octets, at, end, kind)
            case Kind.NEW_NEIGHBOUR | Kind.DEL_NEIGHBOUR:
                return _neighbour(octets, at, end, kind)
            case Kind.NEW_NEXTHOP | Kind.DEL_NEXTHOP:
                return _nexthop(octets, at, end, kind)
            case Kind.DONE:
                return Kind.DONE
            case Kind.ERROR:
                code = -int.from_bytes(octets[at : at + 4], "little", signed=True)
                if code:
                    raise NetlinkError(code, "the kernel refuses to tell")
        return None

    def _route(self, octets: bytes, at: int, end: int, is_gone: bool, replaces: bool) -> Route | None:
        family, length, _, _, table, protocol, _, action, flags = _ROUTE.unpack_from(octets, at)
        if family != _AF_INET6 or table != _MAIN_TABLE or flags & _CLONED:
            return None
        address, metric = b"", 0
        gateway = link = multipath = nexthop = tunnel = b""
        at += _ROUTE.size
        while at < end:
            size, attribute = _ATTRIBUTE.unpack_from(octets, at)
            value = octets[at + 4 : at + size]
            match attribute & _TYPE_MASK:
                case 1:
                    address = value
                case 4:
                    link = value
                case 5:
                    gateway = value
                case 6:
                    metric = int.from_bytes(value, "little")
                case 9:
                    multipath = value
                case 21:
                    tunnel = value
                case 30:
                    nexthop = value
            at += size + 3 & ~3
        key = (bytes((action,)), link, gateway, multipath, nexthop, tunnel)
        path = self._paths.get(key)
        if path is None:
            if len(self._paths) >= _MOST_PATHS:
                self._paths.clear()
            path = self._paths[key] = _path(*key)
        return Route(int.from_bytes(address.ljust(16, b"\0")), length, metric, protocol, path, is_gone, replaces)


def _path(action: bytes, link: bytes, gateway: bytes, multipath: bytes, nexthop: bytes, tunnel: bytes) -> Path:
    match action[0]:
        case 1:
            target = Target.FORWARD
        case 6:
            return Path(Target.DISCARD)
        case 7 | 8:
            return Path(Target.PROHIBITED)
        case _:
            # A local address, anycast, a group: none is forwarded to.
            return Path(Target.FORWARD)
    if nexthop:
        return Path(target, nexthop=int.from_bytes(nexthop, "little"))
    if multipath:
        return Path(target, tuple(_multipath(multipath)))
    return Path(target, (Hop(0 if tunnel else int.from_bytes(link, "little"), int.from_bytes(gateway), 1),))


def _multipath(octets: bytes) -> Iterator[Hop]:
    at = 0
    while at + _ROUTE_NEXTHOP.size <= len(octets):
        length, _, weight, link = _ROUTE_NEXTHOP.unpack_from(octets, at)
        found = _attributes(octets, at + _ROUTE_NEXTHOP.size, at + length)
        # What is put into a tunnel is not forwarded as it is.
        yield Hop(0 if 21 in found else link, int.from_bytes(found.get(5, b"")), weight + 1)
        at += max(length, _ROUTE_NEXTHOP.size) + 3 & ~3


def _attributes(octets: bytes, at: int, end: int) -> dict[int, bytes]:
    found = {}
    while at + _ATTRIBUTE.size <= end:
        size, attribute = _ATTRIBUTE.unpack_from(octets, at)
        found[attribute & _TYPE_MASK] = octets[at + 4 : at + size]
        at += max(size, 4) + 3 & ~3
    return found


def _link(octets: bytes, at: int, end: int, kind: int) -> Link:
    _, _, index, flags, _ = _LINK.unpack_from(octets, at)
    name = _attributes(octets, at + _LINK.size, end).get(_LINK_NAME, b"").rstrip(b"\0").decode(errors="replace")
    is_up = flags & (_UP | _LOWER_UP) == _UP | _LOWER_UP
    return Link(index, name, is_up, kind == Kind.DEL_LINK)


def _address(octets: bytes, at: int, end: int, kind: int) -> Address | None:
    family, length, _, _, link = _ADDRESS.unpack_from(octets, at)
    if family != _AF_INET6:
        return None
    found = _attributes(octets, at + _ADDRESS.size, end)
    # With a peer, IFA_ADDRESS is the peer's.
    return Address(link, int.from_bytes(found.get(2) or found.get(1, b"")), length, kind == Kind.DEL_ADDRESS)


def _neighbour(octets: bytes, at: int, end: int, kind: int) -> Neighbour | None:
    family, link, state, _, _ = _NEIGHBOUR.unpack_from(octets, at)
    if family != _AF_INET6:
        return None
    found = _attributes(octets, at + _NEIGHBOUR.size, end)
    address, mac = int.from_bytes(found.get(1, b"")), int.from_bytes(found.get(2, b""))
    return Neighbour(link, address, mac, state, kind == Kind.DEL_NEIGHBOUR)


def _nexthop(octets: bytes, at: int, end: int, kind: int) -> Nexthop:
    found = _attributes(octets, at + _NEXTHOP.size, end)
    number = int.from_bytes(found.get(1, b""), "little")
    members = tuple((each, weight + 1) for each, weight, _, _ in _GROUP_MEMBER.iter_unpack(found.get(2, b"")))
    if 4 in found:
        path = Path(Target.DISCARD)
    elif members:
        path = Path(Target.FORWARD)
    else:
        link = 0 if 8 in found else int.from_bytes(found.get(5, b""), "little")
        path = Path(Target.FORWARD, (Hop(link, int.from_bytes(found.get(6, b"")), 1),))
    return Nexthop(number, path, members, kind == Kind.DEL_NEXTHOP)
