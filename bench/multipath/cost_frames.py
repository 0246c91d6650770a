"""Frames between a host and its sessions' far hosts, plain and as edges that tell each other have them."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import NamedTuple

from bench.multipath import tables
from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac

SEGMENT = 1190
PORT = 5001
TCP, SHIM6, DESTINATION_OPTIONS = 6, 140, 60
IPV6, HOP_LIMIT = 0x86DD, 64
ANY_HOST = Mac(0x02_00_00_00_00_99)
# Header of 20 octets, ACK, a window; no checksum, which nothing here looks at.
TCP_TAIL = bytes([5 << 4, 16, 255, 255, 0, 0, 0, 0])
# The path option (docs/scheduling.md): of a packet with data version 2, which has an order; of others version 1.
OPTION, PLAIN_VERSION, ORDER_VERSION = 0x1E, 1, 2
AT_NEXT_HEADER, AT_OPTION = 20, 54
COUNTED = 1 << 3
ALL_CAME = bytes([255] * 3)


class Numbered(NamedTuple):
    """What the option of a packet with data says."""

    slot: int
    sequence: bytes
    order: int


def remote(number: int) -> IPv6Address:
    """Return the far host of a session."""
    return tables.site(1)[number]


def local_locator(path: int) -> IPv6Address:
    """Return the locator here of all sessions' path."""
    return tables.site(0)[(1 << 40) + path]


def far_locator(path: int) -> IPv6Address:
    """Return the locator there of all sessions' path."""
    return tables.site(1)[(1 << 40) + path]


def data_segment(local: IPv6Address, far: IPv6Address, sequence: int) -> bytes:
    """Return a frame with data of a session's connection."""
    ports = (PORT + 1).to_bytes(2) + PORT.to_bytes(2)
    tcp = ports + sequence.to_bytes(4) + bytes(4) + TCP_TAIL + bytes(SEGMENT)
    return _frame(tables.router_mac(0, tables.HOSTS_VLAN), local, far, TCP, tcp)


def acknowledgement(far: IPv6Address, local: IPv6Address, number: int) -> bytes:
    """Return a frame that acknowledges everything before a sequence number, as it comes by the first path."""
    return _frame(_edge_mac(), far, local, TCP, _acknowledging(number))


def tagged_acknowledgement(path: int, tag: int, number: int) -> bytes:
    """Return the same as it comes with the locators of a path and a tag."""
    return _frame(_edge_mac(), far_locator(path), local_locator(path), SHIM6, _tagged(tag, number))


def telling_acknowledgement(path: int, tag: int, number: int, sequence: int, of: Numbered, arrived: int) -> bytes:
    """Return the same with its own number by the path in the first slot, and a report of what came."""
    report = bytes([of.slot]) + of.sequence + arrived.to_bytes(4) + of.sequence + bytes(2) + ALL_CAME
    option = bytes([SHIM6, 2, OPTION, 20, PLAIN_VERSION << 4 | COUNTED]) + sequence.to_bytes(3) + report
    payload = option + _tagged(tag, number)
    return _frame(_edge_mac(), far_locator(path), local_locator(path), DESTINATION_OPTIONS, payload)


def read_option(frame: bytes) -> Numbered:
    """Return what the option of a frame to the peer says; without number and order it is an error."""
    if frame[AT_NEXT_HEADER] != DESTINATION_OPTIONS or frame[AT_OPTION + 4] >> 4 != ORDER_VERSION:
        raise ValueError("a packet between edges that tell each other has no number and order")
    at = AT_OPTION + 4
    return Numbered(frame[at] & 7, frame[at + 1 : at + 4], int.from_bytes(frame[at + 4 : at + 8]))


def _edge_mac() -> Mac:
    return tables.router_mac(0, tables.path_port(0))


def _acknowledging(number: int) -> bytes:
    return PORT.to_bytes(2) + (PORT + 1).to_bytes(2) + bytes(4) + number.to_bytes(4) + TCP_TAIL


def _tagged(tag: int, number: int) -> bytes:
    return bytes([TCP, 0]) + (1 << 47 | tag).to_bytes(6) + _acknowledging(number)


def _frame(router: Mac, source: IPv6Address, destination: IPv6Address, kind: int, payload: bytes) -> bytes:
    packet = Packet(source, destination, kind, payload, HOP_LIMIT)
    return Frame(router, ANY_HOST, IPV6, packet.encode()).encode()
