"""Pcap files as they are written and read again, and packets in words."""

from __future__ import annotations

import io

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap

from wayname.api.pcap import FILE_HEADER, packet_record
from wayname.cli.packets import contents, in_words, read_pcap, records

FILE = FILE_HEADER + packet_record(b"first packet", 1_700_000_000_000_001) + packet_record(b"", 1_700_000_001_500_000)


def test_scapy_reads_what_is_written() -> None:
    first, second = rdpcap(io.BytesIO(FILE))
    assert (first.original, int(first.time * 1_000_000)) == (b"first packet", 1_700_000_000_000_001)
    assert (second.original, float(second.time)) == (b"", 1_700_000_001.5)


@pytest.mark.parametrize("size", [1, 7, 24, 25, 1000])
def test_records_come_whole_however_they_are_cut(size: int) -> None:
    chunks = [FILE[start : start + size] for start in range(0, len(FILE), size)]
    found = list(records(chunks))
    assert [len(record) for record in found] == [24, 16 + 12, 16]
    assert b"".join(found) == FILE


def test_a_part_of_a_record_is_none() -> None:
    assert [packet.octets for packet in read_pcap([FILE[:-1]])] == [b"first packet"]


def test_time_and_length_in_a_line() -> None:
    packet = next(read_pcap([FILE]))
    line = in_words(packet)
    assert ":20.000001" in line
    assert line.endswith("12 bytes")


@pytest.mark.parametrize(
    ("packet", "words"),
    [
        (
            Ether() / IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP(sport=1, dport=2),
            "2001:db8::1 > 2001:db8::2  UDP 1 > 2",
        ),
        (
            Ether() / Dot1Q(vlan=7) / IPv6(src="::1", dst="::2") / TCP(sport=9, dport=80),
            "VLAN 7  ::1 > ::2  TCP 9 > 80",
        ),
        (Ether() / IPv6(src="::1", dst="::2") / ICMPv6EchoRequest(), "::1 > ::2  ICMPv6 echo request"),
        (Ether() / IPv6(src="::1", dst="::2", nh=200) / Raw(b"x"), "::1 > ::2  next header 200"),
        (Ether() / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(), "192.0.2.1 > 192.0.2.2  UDP"),
        (Ether(src="02:00:00:00:00:01", dst="ff:ff:ff:ff:ff:ff") / ARP(), "02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff  ARP"),
        (
            Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", type=0x1234),
            "02:00:00:00:00:01 > 02:00:00:00:00:02  type 0x1234",
        ),
    ],
)
def test_packets_in_words(packet: Packet, words: str) -> None:
    assert contents(bytes(packet)) == words


def test_any_beginning_of_a_packet_has_words() -> None:
    whole = bytes(Ether() / Dot1Q(vlan=7) / IPv6(src="::1", dst="::2") / ICMPv6EchoRequest())
    said = [contents(whole[:length]) for length in range(len(whole))]
    assert said[13] == "a part of an Ethernet header"
    assert all(said)
