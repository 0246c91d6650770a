"""Hop-by-hop options of in-situ OAM (RFC 9197, RFC 9326, RFC 9486), octets to values and back.

0x31 | length | reserved | 0: pre-allocated trace
namespace (16) | node length (5) | flags (4) | words left (7)
trace type (24) | reserved (8)
node data list: free words, then the newest node's data, in the end the first node's

0x11 | length | reserved | 4: direct export
namespace (16) | flags (8) | extension flags (8)
trace type (24) | reserved (8)
flow (32) | sequence (32), each where its extension flag says so
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from wayname.wire.errors import DecodeError

PAD_1, PAD_N = 0, 1
CHANGING, FIXED = 0x31, 0x11
PRE_ALLOCATED, DIRECT_EXPORT = 0, 4
FLOW_AND_SEQUENCE = 0xC0

OVERFLOW, LOOPBACK, ACTIVE = 8, 4, 2
_HEAD = 10  # octets of a trace option before its list


@dataclass(frozen=True, slots=True)
class TraceOption:
    """A pre-allocated trace as it stands in a packet."""

    namespace: int
    node_length: int
    flags: int
    words_left: int
    type: int
    data: bytes

    @classmethod
    def decode(cls, body: bytes) -> TraceOption:
        """Read the option's data."""
        if len(body) < _HEAD or (len(body) - _HEAD) % 4:
            raise DecodeError(f"a trace of {len(body)} octets")
        lengths = int.from_bytes(body[4:6])
        option = cls(
            namespace=int.from_bytes(body[2:4]),
            node_length=lengths >> 11,
            flags=lengths >> 7 & 0xF,
            words_left=lengths & 0x7F,
            type=int.from_bytes(body[6:9]),
            data=body[_HEAD:],
        )
        if 4 * option.words_left > len(option.data):
            raise DecodeError(f"a trace with {option.words_left} words left of {len(option.data) // 4}")
        return option

    def encode(self) -> bytes:
        """Return the option with its type and length."""
        lengths = self.node_length << 11 | self.flags << 7 | self.words_left
        body = bytes([0, PRE_ALLOCATED]) + self.namespace.to_bytes(2) + lengths.to_bytes(2)
        body += self.type.to_bytes(3) + b"\0" + self.data
        return bytes([CHANGING, len(body)]) + body

    def turned(self) -> TraceOption:
        """Return it as it goes back: the copies of a copy are none (RFC 9322, section 4.2)."""
        return replace(self, flags=self.flags & ~LOOPBACK)


def trace_in(options: bytes) -> TraceOption | None:
    """Return the first pre-allocated trace in a hop-by-hop header, from its first octet on."""
    for kind, body in _options(options):
        if kind == CHANGING and len(body) >= 2 and body[1] == PRE_ALLOCATED:
            return TraceOption.decode(body)
    return None


def hop_by_hop(next_header: int, option: bytes) -> bytes:
    """Return a hop-by-hop header with an option that is aligned to four octets, padded in front and behind."""
    body = bytes([PAD_N, 0]) + option
    pad = -(len(body) + 2) % 8
    body += b"" if pad == 0 else bytes(1) if pad == 1 else bytes([PAD_N, pad - 2]) + bytes(pad - 2)
    return bytes([next_header, (len(body) + 2) // 8 - 1]) + body


def direct_export_option(namespace: int, flow: int, sequence: int, type_: int = 0x800000) -> bytes:
    """Return an option that asks each node of a namespace to export."""
    body = bytes([0, DIRECT_EXPORT]) + namespace.to_bytes(2) + bytes([0, FLOW_AND_SEQUENCE])
    body += type_.to_bytes(3) + b"\0" + flow.to_bytes(4) + sequence.to_bytes(4)
    return bytes([FIXED, len(body)]) + body


def _options(header: bytes) -> Iterator[tuple[int, bytes]]:
    if len(header) < 8 or len(header) < (header[1] + 1) * 8:
        raise DecodeError("a hop-by-hop header that is longer than its packet")
    at, end = 2, (header[1] + 1) * 8
    while at < end:
        if header[at] == PAD_1:
            at += 1
            continue
        if at + 2 > end or at + 2 + header[at + 1] > end:
            raise DecodeError("a hop-by-hop option that is longer than its header")
        yield header[at], header[at + 2 : at + 2 + header[at + 1]]
        at += 2 + header[at + 1]
