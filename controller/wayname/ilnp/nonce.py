"""The nonce destination option (RFC 6744, section 2), into a packet, out of it and off it.

| next header | length (8 octets, less 1) | 0x8B | length of the nonce | nonce (4 or 12 octets) ... |

A session's nonces are long or short; with these two lengths the option alone fills its header to a multiple of eight
octets, so none of ours has padding. The highest bits of 0x8B make a host without ILNP say so (RFC 8200, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from wayname.ilnp.errors import MessageError
from wayname.wire.ipv6 import DESTINATION_OPTIONS, HOP_BY_HOP, ROUTING, Packet

NONCE_OPTION = 0x8B
SHORT_NONCE = 4
LONG_NONCE = 12
NONCE_LENGTHS = (SHORT_NONCE, LONG_NONCE)

UNIT = 8
PAD1 = 0
PADN = 1
# Headers that may stand before the one with the nonce; it is behind a routing header if there is one.
_BEFORE = frozenset({HOP_BY_HOP, ROUTING, DESTINATION_OPTIONS})


@dataclass(frozen=True, slots=True)
class _Header:
    """Where an extension header lies in a payload."""

    number: int
    begin: int
    end: int
    next_header: int


def nonce_header(nonce: bytes, next_header: int) -> bytes:
    """Return a destination options header that holds a nonce alone."""
    if len(nonce) not in NONCE_LENGTHS:
        raise MessageError(f"a nonce has 4 or 12 octets, not {len(nonce)}")
    option = bytes([NONCE_OPTION, len(nonce)]) + nonce
    return bytes([next_header, (2 + len(option)) // UNIT - 1]) + option


def with_nonce(packet: Packet, nonce: bytes) -> Packet:
    """Put a nonce on a packet: behind hop-by-hop options and a routing header, before all else."""
    before = None
    for header in _headers(packet):
        if header.number != DESTINATION_OPTIONS:
            before = header
    if before is None:
        payload = nonce_header(nonce, packet.next_header) + packet.payload
        return replace(packet, next_header=DESTINATION_OPTIONS, payload=payload)
    octets = bytearray(packet.payload)
    octets[before.begin] = DESTINATION_OPTIONS
    octets[before.end : before.end] = nonce_header(nonce, before.next_header)
    return replace(packet, payload=bytes(octets))


def nonce_of(packet: Packet) -> bytes | None:
    """Return the nonce that a packet bears; one that bears two proves nothing (section 2)."""
    found: bytes | None = None
    for kind, value in destination_options(packet):
        if kind != NONCE_OPTION:
            continue
        if found is not None:
            raise MessageError("the packet bears two nonces")
        if len(value) not in NONCE_LENGTHS:
            raise MessageError(f"a nonce of {len(value)} octets; 4 and 12 are known")
        found = value
    return found


def destination_options(packet: Packet) -> Iterator[tuple[int, bytes]]:
    """Yield type and contents of a packet's destination options."""
    for header in _headers(packet):
        if header.number == DESTINATION_OPTIONS:
            yield from _options(packet.payload[header.begin : header.end])


def without_nonce(packet: Packet) -> Packet:
    """Take the nonce off a packet, and its header with it where nothing else stands in there."""
    before: int | None = None
    for header in _headers(packet):
        kinds = set[int]()
        if header.number == DESTINATION_OPTIONS:
            kinds = {kind for kind, _ in _options(packet.payload[header.begin : header.end])}
        if NONCE_OPTION in kinds:
            if kinds - {NONCE_OPTION, PADN}:
                return _with_padding(packet, header)
            octets = bytearray(packet.payload[: header.begin] + packet.payload[header.end :])
            if before is None:
                return replace(packet, next_header=header.next_header, payload=bytes(octets))
            octets[before] = header.next_header
            return replace(packet, payload=bytes(octets))
        before = header.begin
    return packet


def _with_padding(packet: Packet, header: _Header) -> Packet:
    """Turn the nonce into padding, so that the options beside it stay where they are aligned."""
    payload = bytearray(packet.payload)
    at = header.begin + 2
    while payload[at] != NONCE_OPTION:
        at += 1 if payload[at] == PAD1 else 2 + payload[at + 1]
    payload[at] = PADN
    payload[at + 2 : at + 2 + payload[at + 1]] = bytes(payload[at + 1])
    return replace(packet, payload=bytes(payload))


def _headers(packet: Packet) -> Iterator[_Header]:
    """Yield the headers among which a nonce can stand."""
    number, at, payload = packet.next_header, 0, packet.payload
    while number in _BEFORE:
        if len(payload) < at + UNIT or len(payload) < (end := at + (payload[at + 1] + 1) * UNIT):
            raise MessageError(f"the packet ends inside extension header {number}")
        header = _Header(number, at, end, payload[at])
        yield header
        number, at = header.next_header, header.end


def _options(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and contents of the options in a header."""
    at = 2
    while at < len(octets):
        if octets[at] == PAD1:
            at += 1
            continue
        if at + 2 > len(octets) or at + 2 + octets[at + 1] > len(octets):
            raise MessageError("a destination option is longer than its header")
        yield octets[at], octets[at + 2 : at + 2 + octets[at + 1]]
        at += 2 + octets[at + 1]
