"""Packets of a host that is mapped to an identity, under either address: scapy works out their checksums."""

from __future__ import annotations

import struct

from carriers import octets, ones_sum
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoRequest,
    ICMPv6PacketTooBig,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
)
from scapy.packet import Packet, Raw

from small_site import ADDRESS, FAR, IP_OF, ROUTER, Entry

HOST_ADDRESS = IP_OF[1]
IDENTITY = "2001:db8:1:0:3c5a:96f0:ffff:1"  # on the link's prefix, so that only mapping makes it another
NEXT_UDP, NEXT_UDP_LITE, NEXT_DCCP = 17, 136, 33


def difference(old: str, new: str) -> int:
    """What an entry says of two addresses."""
    return (ones_sum(octets(new)) - ones_sum(octets(old))) % 0xFFFF


def interfaces(hosts: int = 1) -> list[Entry]:
    """The interfaces of an edge that maps hosts on one VLAN."""
    return [
        Entry(
            "interfaces",
            {"vlan": vlan},
            "set_mapping_interface",
            {"mac": mac, "address": ADDRESS[vlan], "maps": 3 if vlan == hosts else 2},
        )
        for vlan, mac in ROUTER.items()
    ]


def entries(host: str = HOST_ADDRESS, identity: str = IDENTITY) -> list[Entry]:
    """What maps a host."""
    back: dict[str, int | str] = {"host": host, "difference": difference(identity, host)}
    there: dict[str, int | str] = {"identity": identity, "difference": difference(host, identity)}
    return [
        Entry("static_mapping_sources", {"source": host}, "map_source", there),
        Entry("static_mapping_destinations", {"destination": identity}, "map_destination", back),
    ]


def with_checksum(number: int, source: str, destination: str) -> Packet:
    """A datagram of a protocol with its checksum where UDP has its."""
    ip = IPv6(src=source, dst=destination, nh=number)
    blank = struct.pack("!HHHH", 1, 2, 0, 0) + b"mapped"
    covered = octets(source) + octets(destination) + struct.pack("!II", len(blank), number) + blank
    checksum = 0xFFFF - ones_sum(covered) % 0xFFFF
    return ip / Raw(blank[:6] + struct.pack("!H", checksum) + blank[8:])


def quoting(message: Packet, source: str, destination: str, quoted: tuple[str, str]) -> Packet:
    """An error about a packet; that one's own checksum is of its old address."""
    inner = bytes(IPv6(src=HOST_ADDRESS, dst=FAR) / UDP(sport=1, dport=2) / Raw(b"quoted"))
    inner = inner[:8] + octets(quoted[0]) + octets(quoted[1]) + inner[40:]
    return IPv6(src=source, dst=destination) / message / Raw(inner)


def all_kinds(source: str, destination: str) -> list[Packet]:
    """A packet of each kind between two addresses."""
    ip = IPv6(src=source, dst=destination)
    split = bytes(ip / UDP(sport=1, dport=2) / Raw(bytes(range(24))))[40:]
    fragments = [
        ip / IPv6ExtHdrFragment(nh=NEXT_UDP, m=1, id=7) / Raw(split[:16]),
        ip / IPv6ExtHdrFragment(nh=NEXT_UDP, offset=2, id=7) / Raw(split[16:]),
    ]
    unchecked = IPv6(src=source, dst=destination) / UDP(sport=1, dport=2, chksum=0) / Raw(b"unchecked")
    return [
        ip / TCP(sport=1, dport=2, flags="S", seq=99, options=[("MSS", 1440)]),
        ip / UDP(sport=1, dport=2) / Raw(b"odd"),
        unchecked,
        with_checksum(NEXT_UDP_LITE, source, destination),
        with_checksum(NEXT_DCCP, source, destination),
        ip / ICMPv6EchoRequest(id=1, seq=2, data=b"echo"),
        ip / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / TCP(sport=1, dport=2),
        *fragments,
        IPv6(src=source, dst=destination, nh=50) / Raw(bytes(16)),
        IPv6(src=source, dst=destination, nh=59),
        quoting(ICMPv6PacketTooBig(mtu=1400), source, destination, (destination, source)),
        quoting(ICMPv6DestUnreach(code=4), source, destination, (FAR, "2001:db8:77::1")),
    ]


def all_ones(source: str) -> bytes:
    """Data of a datagram whose checksum comes out as 0 under this source address, and is written as all ones."""
    for word in range(0x10000):
        data = word.to_bytes(2)
        if bytes(IPv6(src=source, dst=FAR) / UDP(sport=1, dport=2) / Raw(data))[46:48] == b"\xff\xff":
            return data
    raise AssertionError("some word makes it so")
