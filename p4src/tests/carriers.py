"""What packets carry, octet by octet as the RFCs have it: segments, traces, source routes, tunnels."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field

from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from small_site import PROVIDER, ROUTER

ROUTING, HOP_BY_HOP, IN_IPV6, IN_IPV4, IN_FRAME = 43, 0, 41, 4, 143


def octets(address: str) -> bytes:
    return ipaddress.IPv6Address(address).packed


def ipv6_of(packet: Packet | bytes) -> bytes:
    """The IPv6 packet in an untagged frame."""
    return bytes(packet)[14:]


def hop_less(packet: bytes) -> bytes:
    return packet[:7] + bytes([packet[7] - 1]) + packet[8:]


def ipv6(
    next_header: int, payload: bytes, source: str, destination: str, hop_limit: int = 64, start: int = 6 << 28
) -> bytes:
    head = start.to_bytes(4) + len(payload).to_bytes(2) + bytes([next_header, hop_limit])
    return head + octets(source) + octets(destination) + payload


def start_of(packet: bytes) -> int:
    """Version, traffic class and flow label, which a tunnel takes over."""
    return int.from_bytes(packet[:4])


def segment_header(
    next_header: int,
    path: Sequence[str],
    left: int,
    last: int | None = None,
    tlvs: bytes = b"",
    flags: int = 0,
    tag: int = 0,
) -> bytes:
    """RFC 8754, section 2. The path in the order of travel."""
    body = b"".join(octets(sid) for sid in reversed(path)) + tlvs
    last = len(path) - 1 if last is None else last
    return bytes([next_header, len(body) // 8, 4, left, last, flags]) + tag.to_bytes(2) + body


def tunnel(
    inner: bytes,
    path: Sequence[str],
    source: str,
    reduced: bool = False,
    next_header: int = IN_IPV6,
    tlvs: bytes = b"",
    start: int | None = None,
) -> bytes:
    """RFC 8986, section 5: the packet, or frame, on its way to the first segment."""
    start = start_of(inner) if start is None else start
    written = path[1:] if reduced else path
    if not written:
        return ipv6(next_header, inner, source, path[0], start=start)
    header = segment_header(next_header, written, len(path) - 1, tlvs=tlvs)
    return ipv6(ROUTING, header + inner, source, path[0], start=start)


def inline(packet: bytes, path: Sequence[str]) -> bytes:
    """The packet with a header of its own; its destination is the last segment."""
    destination = str(ipaddress.IPv6Address(packet[24:40]))
    header = segment_header(packet[6], [*path, destination], len(path))
    payload = header + packet[40:]
    return packet[:4] + len(payload).to_bytes(2) + bytes([ROUTING]) + packet[7:24] + octets(path[0]) + payload


def source_route(next_header: int, addresses: Sequence[str], left: int, left_out: int, last_left_out: int) -> bytes:
    """RFC 6554, section 3: addresses in the order of travel, their common octets left out."""
    body = b"".join(octets(address)[left_out:] for address in addresses[:-1]) + octets(addresses[-1])[last_left_out:]
    pad = -len(body) % 8
    body += bytes(pad)
    fixed = bytes([next_header, len(body) // 8, 3, left, left_out << 4 | last_left_out, pad << 4, 0, 0])
    return fixed + body


def ones_sum(octets_: bytes) -> int:
    """The sum that checksums are made of."""
    total = sum(int.from_bytes(octets_[at : at + 2]) for at in range(0, len(octets_), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def options(next_header: int, *body: bytes) -> bytes:
    """Hop-by-hop options, padded."""
    data = b"".join(body)
    pad = -(len(data) + 2) % 8
    data += b"" if pad == 0 else b"\0" if pad == 1 else bytes([1, pad - 2]) + bytes(pad - 2)
    return bytes([next_header, (len(data) + 2) // 8 - 1]) + data


@dataclass(frozen=True)
class Trace:
    """An option of RFC 9197, section 4.4, pre-allocated; words are of 32 bits, the list's free ones first."""

    type: int
    node_length: int
    left: int
    list: bytes
    namespace: int = 1
    flags: int = 0

    def option(self) -> bytes:
        start = self.namespace.to_bytes(2) + (self.node_length << 11 | self.flags << 7 | self.left).to_bytes(2)
        data = b"\0\0" + start + self.type.to_bytes(3) + b"\0" + self.list
        return bytes([0x31, len(data)]) + data

    def options(self, next_header: int) -> bytes:
        return options(next_header, b"\x01\0", self.option())


@dataclass(frozen=True)
class Node:
    """What a node says of itself, and of a packet (RFC 9197, section 4.4.2)."""

    id: int = 0xABC
    id_wide: int = 0xABCDEF01
    data: int = 0x11223344
    data_wide: int = 0x5566778899AABBCC
    schema: int = 0xFFFFFF
    snapshot: int = 0
    arrived: int = 0  # POSIX, in microseconds
    into: int = 1
    out: int = 4
    hop_limit: int = 63
    delay: int = 0
    queue: int = 0
    none: bytes = field(default=b"\xff" * 4, repr=False)

    def words(self, type_: int) -> bytes:
        fields = [
            self.hop_limit << 24 | self.id,
            self.into << 16 | self.out,
            self.arrived // 10**6,
            self.arrived % 10**6,
            self.delay,
            self.data,
            self.queue,
            0xFFFFFFFF,
        ]
        body = b"".join(value.to_bytes(4) for bit, value in enumerate(fields) if type_ >> (23 - bit) & 1)
        wide = [self.hop_limit << 56 | self.id_wide, self.into << 32 | self.out, self.data_wide]
        body += b"".join(value.to_bytes(8) for bit, value in enumerate(wide, 8) if type_ >> (23 - bit) & 1)
        body += self.none * (type_ >> 2 & 0x7FF).bit_count()  # buffers, and bits that are not assigned
        if type_ & 2 and self.schema == 0xFFFFFF:
            body += b"\0\xff\xff\xff"
        elif type_ & 2:
            body += b"\x02" + self.schema.to_bytes(3) + self.snapshot.to_bytes(8)
        return body


def node_length(type_: int) -> int:
    """Words of each node, without its snapshot."""
    return len(Node().words(type_ & ~3)) // 4


def out_by_first(packet: bytes) -> Packet:
    """As it leaves for the first provider."""
    return Ether(src=ROUTER[100], dst=PROVIDER[4], type=0x86DD) / Raw(packet)
