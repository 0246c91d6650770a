"""Flows between the first host of a site with a border and peers outside."""

from __future__ import annotations

import random
from ipaddress import IPv6Address, IPv6Network

from border_site import out_of
from border_switch import BorderSwitch
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw

from small_site import FAR, IP_OF

HOST = IP_OF[1]


def tcp(source: str, destination: str, flags: str, sport: int = 5000, dport: int = 80) -> Packet:
    return IPv6(src=source, dst=destination) / TCP(sport=sport, dport=dport, flags=flags)


def datagram(source: str, destination: str, sport: int = 5000, dport: int = 53) -> Packet:
    return IPv6(src=source, dst=destination) / UDP(sport=sport, dport=dport) / Raw(b"data")


def any_address(rng: random.Random, prefix: IPv6Network) -> IPv6Address:
    """An address of a prefix; its words are often at the ends of what they can be."""
    value = int(prefix.network_address)
    for shift in range(0, 128, 16):
        word = rng.choice((0, 0, 0xFFFF, 0xFFFF, 0xFFFE, 1, rng.getrandbits(16)))
        value |= word << shift & int(prefix.hostmask)
    if rng.random() < 0.2:
        value &= ~((1 << 64) - 1)
    return IPv6Address(value)


def comes_in_by_2(switch: BorderSwitch, now: float, peer: str, sport: int = 9) -> bool:
    """A connection begins from outside by provider 2, while the bucket's home is 1: is there room for it?"""
    return switch.comes_in(now, 2, tcp(peer, out_of(HOST, 2), "S", sport, 80)) is not None


def established_by_2(switch: BorderSwitch, now: float = 0, sport: int = 9, peer: str = FAR) -> None:
    """It goes on, until both ends have answered."""
    assert comes_in_by_2(switch, now, peer, sport)
    assert goes_on(switch, now, sport, peer)
    assert switch.comes_in(now, 2, tcp(peer, out_of(HOST, 2), "A", sport, 80)) is not None


def goes_on(switch: BorderSwitch, now: float, sport: int = 9, peer: str = FAR) -> bool:
    """The host sends in the connection: does it still go by provider 2?"""
    sent = switch.goes_out(now, tcp(HOST, peer, "A", 80, sport))
    return sent is not None and sent[0] == 2
