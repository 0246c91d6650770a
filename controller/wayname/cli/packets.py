"""Packets of a pcap stream, in a line each."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address

FILE_HEADER = 24
RECORD_HEADER = struct.Struct("=IIII")

ETHER_TYPES = {0x0800: "IPv4", 0x0806: "ARP", 0x86DD: "IPv6", 0x88CC: "LLDP"}
UPPER_LAYERS = {
    0: "hop-by-hop options",
    6: "TCP",
    17: "UDP",
    43: "routing header",
    44: "fragment",
    50: "ESP",
    58: "ICMPv6",
    59: "nothing",
    60: "options",
    132: "SCTP",
    139: "HIP",
    140: "Shim6",
}
ICMPV6 = {
    1: "unreachable",
    2: "packet too big",
    3: "time exceeded",
    128: "echo request",
    129: "echo reply",
    133: "router solicitation",
    134: "router advertisement",
    135: "neighbour solicitation",
    136: "neighbour advertisement",
}


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet and when it passed."""

    time: datetime
    octets: bytes


def records(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The file's header, then each packet with its own, as soon as it is whole."""
    waiting = bytearray()
    header_seen = False
    for chunk in chunks:
        waiting += chunk
        while True:
            if not header_seen:
                need = FILE_HEADER
            elif len(waiting) >= RECORD_HEADER.size:
                need = RECORD_HEADER.size + RECORD_HEADER.unpack_from(waiting)[2]
            else:
                break
            if len(waiting) < need:
                break
            header_seen = True
            yield bytes(waiting[:need])
            del waiting[:need]


def read_pcap(chunks: Iterable[bytes]) -> Iterator[Packet]:
    """The packets of a stream."""
    for number, record in enumerate(records(chunks)):
        if number:
            seconds, micros, _, _ = RECORD_HEADER.unpack_from(record)
            yield Packet(datetime.fromtimestamp(seconds + micros / 1e6, UTC), record[RECORD_HEADER.size :])


def in_json(packet: Packet) -> str:
    """A packet for programs."""
    time = packet.time.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return json.dumps({"time": time, "length": len(packet.octets), "packet": packet.octets.hex()})


def in_words(packet: Packet) -> str:
    """A packet in a line: when, who to whom, what, how long."""
    at = packet.time.astimezone().strftime("%H:%M:%S.%f")
    return f"{at}  {contents(packet.octets)}  {len(packet.octets)} bytes"


def contents(octets: bytes) -> str:
    """Who sends what to whom."""
    if len(octets) < 14:
        return "a part of an Ethernet header"
    kind, start, tag = int.from_bytes(octets[12:14]), 14, ""
    if kind == 0x8100 and len(octets) >= 18:
        tag = f"VLAN {int.from_bytes(octets[14:16]) & 0xFFF}  "
        kind, start = int.from_bytes(octets[16:18]), 18
    body = octets[start:]
    if kind == 0x86DD and len(body) >= 40:
        return f"{tag}{IPv6Address(body[8:24])} > {IPv6Address(body[24:40])}  {upper_layer(body[6], body[40:])}"
    if kind == 0x0800 and len(body) >= 20:
        return f"{tag}{IPv4Address(body[12:16])} > {IPv4Address(body[16:20])}  {UPPER_LAYERS.get(body[9], body[9])}"
    what = ETHER_TYPES.get(kind, f"type 0x{kind:04x}")
    return f"{tag}{octets[6:12].hex(':')} > {octets[0:6].hex(':')}  {what}"


def upper_layer(number: int, body: bytes) -> str:
    """What an IPv6 packet carries."""
    name = UPPER_LAYERS.get(number, f"next header {number}")
    if number in {6, 17} and len(body) >= 4:
        return f"{name} {int.from_bytes(body[0:2])} > {int.from_bytes(body[2:4])}"
    if number == 58 and body:
        return f"{name} {ICMPV6.get(body[0], f'type {body[0]}')}"
    return name
