"""Frames that attackers send, one behind the other in a file: a program makes them, another sends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac, group_mac

LENGTH_OCTETS = 2


def framed(packet: Packet, destination: Mac, source: Mac) -> bytes:
    """Return the frame of a packet."""
    return Frame(destination, source, TYPE_IPV6, packet.encode()).encode()


def to_group(packet: Packet, source: Mac) -> bytes:
    """Return the frame of a packet to a group (RFC 2464, section 7)."""
    return framed(packet, group_mac(packet.destination), source)


def write_frames(path: Path, frames: Iterable[bytes]) -> None:
    """Write frames down, each behind its length."""
    path.write_bytes(b"".join(len(frame).to_bytes(LENGTH_OCTETS) + frame for frame in frames))


def read_frames(path: Path) -> list[bytes]:
    """Read them again."""
    return list(_frames(path.read_bytes()))


def _frames(octets: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(octets):
        start = at + LENGTH_OCTETS
        at = start + int.from_bytes(octets[at:start])
        yield octets[start:at]
