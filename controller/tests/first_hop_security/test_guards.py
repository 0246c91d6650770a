"""RA guard, DHCPv6 guard, and what hides from them (RFC 6105, RFC 7113, RFC 7610, RFC 6980)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from first_hop_security.lan import ATTACKER, Lan, lan

from wayname.p4_constants import Drop
from wayname.wire import icmpv6, ipv6
from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT
from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, RouterAdvertisement
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import group_mac
from wayname.wire.udp import Datagram

DESTINATION, FRAGMENT = 60, 44


def advertisement(site: Lan) -> ipv6.Packet:
    """Return an advertisement of somebody who is no router."""
    return RouterAdvertisement(lifetime=1800).message().packet(site.attacker.addresses[0], ALL_NODES, HOP_LIMIT)


def behind(packet: ipv6.Packet, *headers: tuple[int, bytes]) -> ipv6.Packet:
    """Return a packet with extension headers, given as (own number, all but the first octet), before its payload."""
    payload, number = packet.payload, packet.next_header
    for own, rest in reversed(headers):
        payload, number = bytes([number]) + rest + payload, own
    return replace(packet, next_header=number, payload=payload)


def spread(site: Lan, packet: ipv6.Packet) -> set[int]:
    """Return the hosts' ports that a packet of the attacker reaches."""
    return {port for port, _ in site.attacker.multicast(packet) if port in (1, 2)}


def test_a_host_advertises_no_router() -> None:
    site = Lan()
    site.attacker.ping("2001:db8:1::1")
    assert not spread(site, advertisement(site))
    assert site.dropped(Drop.RA_GUARD) == 1


def test_nor_redirects() -> None:
    site = Lan()
    redirect = icmpv6.Message(137, 0, bytes(36)).packet(site.attacker.addresses[0], site.victim.addresses[1], HOP_LIMIT)
    assert not site.rig.inject(ATTACKER, site.attacker.frame(site.victim.mac, redirect))
    assert site.dropped(Drop.RA_GUARD) == 1


@pytest.mark.parametrize(
    "headers",
    [
        [(DESTINATION, b"\0" + bytes(6))],
        [(0, b"\0" + bytes(6)), (DESTINATION, b"\x03" + bytes(30))],
        [(DESTINATION, b"\0" + bytes(6))] * 9,
        [(43, b"\0" + bytes(6)), (51, b"\x01" + bytes(10))],
        [(FRAGMENT, bytes(7))],  # atomic
        [(FRAGMENT, b"\0\0\1" + bytes(4))],  # a first fragment
        [(DESTINATION, b"\0" + bytes(6)), (FRAGMENT, b"\0\0\1" + bytes(4)), (DESTINATION, b"\0" + bytes(6))],
    ],
)
def test_nor_behind_other_headers(headers: list[tuple[int, bytes]]) -> None:
    site = Lan()
    site.attacker.ping("2001:db8:1::1")
    assert not spread(site, behind(advertisement(site), *headers))
    assert site.dropped(Drop.RA_GUARD) == 1


def test_a_first_fragment_that_does_not_say_what_it_is_goes_nowhere() -> None:
    site = Lan()
    hidden = behind(advertisement(site), (FRAGMENT, b"\0\0\1" + bytes(4)), (DESTINATION, b"\xff" + bytes(6)))
    assert not spread(site, hidden)
    assert site.dropped(Drop.FIRST_FRAGMENT_SHORT) == 1


@pytest.mark.parametrize("kind", [133, 135, 136])
def test_discovery_comes_in_one_piece(kind: int) -> None:
    site = Lan()
    message = icmpv6.Message(kind, 0, bytes(20)).packet(site.attacker.addresses[0], ALL_NODES, HOP_LIMIT)
    assert not spread(site, behind(message, (FRAGMENT, b"\0\0\1" + bytes(4))))
    assert site.dropped(Drop.DISCOVERY_FRAGMENT) == 1


@pytest.mark.parametrize("tags", ["8100 0000 8100 0000", "8100 0000 88a8 0000", "88a8 0000", "9100 0000"])
def test_nor_behind_a_second_tag(tags: str) -> None:
    site = Lan()
    packet = advertisement(site).encode()
    ethernet = group_mac(ALL_NODES).packed + site.attacker.mac.packed
    octets = ethernet + bytes.fromhex(tags) + TYPE_IPV6.to_bytes(2) + packet
    before = len(site.rig.sent)
    site.rig.inject(ATTACKER, Frame.decode(octets))
    assert not {port for port, _ in site.rig.sent[before:] if port in (1, 2)}
    assert site.dropped(Drop.HIDDEN_HEADERS) == 1


def test_nor_behind_llc() -> None:
    site = Lan()
    packet = advertisement(site).encode()
    snap = bytes.fromhex("aaaa03 000000 86dd")
    frame = Frame(group_mac(ALL_NODES), site.attacker.mac, len(snap + packet), snap + packet)
    assert not [port for port, _ in site.rig.inject(ATTACKER, frame) if port in (1, 2)]
    assert site.dropped(Drop.HIDDEN_HEADERS) == 1


@pytest.mark.parametrize(("source", "destination"), [(547, 546), (12345, 546), (547, 547)])
@pytest.mark.parametrize("fragment", [False, True])
def test_a_host_is_no_dhcpv6_server(source: int, destination: int, fragment: bool) -> None:
    site = Lan()
    site.attacker.ping("2001:db8:1::1")
    reply = Datagram(source, destination, bytes([7]) + bytes(20))
    packet = reply.packet(site.attacker.addresses[0], site.victim.addresses[0])
    if fragment:
        packet = behind(packet, (FRAGMENT, b"\0\0\1" + bytes(4)))
    assert not site.rig.inject(ATTACKER, site.attacker.frame(site.victim.mac, packet))
    assert site.dropped(Drop.DHCPV6_GUARD) == 1


def test_but_a_client() -> None:
    site = Lan()
    site.attacker.ping("2001:db8:1::1")
    solicit = Datagram(CLIENT_PORT, SERVER_PORT, bytes([1]) + bytes(3))
    assert spread(site, solicit.packet(site.attacker.addresses[0], ALL_SERVERS, hop_limit=1)) == {1, 2}


def test_each_can_be_switched_off() -> None:
    site = Lan(lan(site="ra_guard = false\ndhcpv6_guard = false\nnd_inspection = false"))
    site.attacker.ping("2001:db8:1::1")
    assert spread(site, advertisement(site)) == {1, 2}
    reply = Datagram(547, 546, bytes([7]) + bytes(20)).packet(site.attacker.addresses[0], site.victim.addresses[0])
    assert site.rig.inject(ATTACKER, site.attacker.frame(site.victim.mac, reply))


def test_a_router_behind_a_trusted_port_advertises() -> None:
    site = Lan()
    packet = RouterAdvertisement(lifetime=1800).message().packet(site.provider.addresses[0], ALL_NODES, HOP_LIMIT)
    assert {port for port, _ in site.provider.multicast(packet)} == {5}
