"""Floods of what goes to the controller, each of one kind and by one port; for an edge in process or on a wire.

A flood is a function that returns its frame with a number: what differs from frame to frame is made of that, so that
nothing is left to chance and a table of sources, addresses or identities can be filled as far as a test wants.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address

from wayname.wire import icmpv6, ipv6
from wayname.wire.discovery import (
    ALL_NODES,
    ALL_ROUTERS,
    HOP_LIMIT,
    NeighbourAdvertisement,
    NeighbourSolicitation,
    RouterAdvertisement,
    RouterSolicitation,
)
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac, group_mac

Flood = Callable[[int], Frame]
NO_NEXT_HEADER = 59


class Attacker:
    """Who floods: a station with an address, and the router's MAC where it is."""

    def __init__(self, mac: str, address: str, router: Mac) -> None:
        self.mac, self.address, self.router = Mac.parse(mac), IPv6Address(address), router

    def frame(self, packet: ipv6.Packet, mac: Mac | None = None) -> Frame:
        """Return a packet as it goes to the router."""
        return Frame(self.router, mac or self.mac, TYPE_IPV6, packet.encode())

    def forged_mac(self, number: int) -> Mac:
        """Return another MAC for each number."""
        return Mac(0x0666_0000_0000 + number)

    def forged_source(self, number: int) -> IPv6Address:
        """Return another address for each number, each in a /48 of its own."""
        return IPv6Address((0x2400 << 112) + (number << 80) + 1)

    def advertisements(self, target: str, router: str) -> Flood:
        """Neighbour advertisements of its own address, or that of another."""
        said = NeighbourAdvertisement(IPv6Address(target), self.mac, solicited=True, override=False).message()
        frame = self.frame(said.packet(self.address, IPv6Address(router), HOP_LIMIT))
        return lambda number: frame

    def forged_advertisements(self, prefix: str, router: str) -> Flood:
        """Advertisements of an address and a MAC that each are new."""

        def made(number: int) -> Frame:
            address, mac = IPv6Address(prefix) + 0x10000 + number, self.forged_mac(number)
            said = NeighbourAdvertisement(address, mac, solicited=True, override=True).message()
            return self.frame(said.packet(address, IPv6Address(router), HOP_LIMIT), mac)

        return made

    def solicitations(self, router: str, prefix: str | None = None) -> Flood:
        """Solicitations for the router's address, from its own or, in a prefix, from one that each is new."""

        def made(number: int) -> Frame:
            address = self.address if prefix is None else IPv6Address(prefix) + 0x10000 + number
            mac = self.mac if prefix is None else self.forged_mac(number)
            message = NeighbourSolicitation(IPv6Address(router), mac).message()
            return self.frame(message.packet(address, IPv6Address(router), HOP_LIMIT), mac)

        return made

    def router_solicitations(self) -> Flood:
        """Solicitations of routers, from a MAC that each is new."""

        def made(number: int) -> Frame:
            mac = self.forged_mac(number)
            packet = RouterSolicitation(mac).message().packet(mac.link_local(), ALL_ROUTERS, HOP_LIMIT)
            return Frame(group_mac(ALL_ROUTERS), mac, TYPE_IPV6, packet.encode())

        return made

    def router_advertisements(self) -> Flood:
        """Advertisements of routers, from a MAC that each is new."""

        def made(number: int) -> Frame:
            mac = self.forged_mac(number)
            message = RouterAdvertisement(lifetime=1800, source_mac=mac).message()
            packet = message.packet(mac.link_local(), ALL_NODES, HOP_LIMIT)
            return Frame(group_mac(ALL_NODES), mac, TYPE_IPV6, packet.encode())

        return made

    def pings(self, router: str) -> Flood:
        """Echo requests to an address of the router."""
        message = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(64))
        frame = self.frame(message.packet(self.address, IPv6Address(router), 64))
        return lambda number: frame

    def forged_pings(self, router: str) -> Flood:
        """Echo requests to an address of the router, each from another source."""
        message = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(64))
        return lambda number: self.frame(message.packet(self.forged_source(number), IPv6Address(router), 64))

    def forged_probes(self, router: str) -> Flood:
        """Echo requests as the router sends them to itself, but for what only it knows."""

        def made(number: int) -> Frame:
            body = (1).to_bytes(2) + bytes(2) + number.to_bytes(8)
            message = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, body)
            return self.frame(message.packet(IPv6Address(router), IPv6Address(router), 254))

        return made

    def scan(self, prefix: str, forged: bool = False) -> Flood:
        """Packets to addresses of a prefix that nobody has, from its own address or from all kinds of sources."""

        def made(number: int) -> Frame:
            source = self.forged_source(number) if forged else self.address
            to = IPv6Address(prefix) + 0x10_0000 + number
            return self.frame(ipv6.Packet(source, to, NO_NEXT_HEADER, b""))

        return made

    def datagrams(self, router: str) -> Flood:
        """UDP to a port of the router where nobody listens, each from another source."""
        udp = bytes.fromhex("1234432100080000")
        return lambda number: self.frame(ipv6.Packet(self.forged_source(number), IPv6Address(router), ipv6.UDP, udp))

    def expired(self, destination: str) -> Flood:
        """Packets to somewhere else whose hop limit is used up here."""
        packet = ipv6.Packet(self.address, IPv6Address(destination), NO_NEXT_HEADER, b"", 1)
        return lambda number: self.frame(packet)

    def dhcpv6(self) -> Flood:
        """What a client says to all servers, from a MAC that each is new; only that it is one matters."""
        servers = IPv6Address("ff02::1:2")

        def made(number: int) -> Frame:
            mac = self.forged_mac(number)
            udp = (546).to_bytes(2) + (547).to_bytes(2) + (12).to_bytes(2) + bytes(2) + b"\1" + number.to_bytes(3)
            packet = ipv6.Packet(mac.link_local(), servers, ipv6.UDP, udp)
            return Frame(group_mac(servers), mac, TYPE_IPV6, packet.encode())

        return made

    def messages(self, destination: str, next_header: int, payload: bytes, forged: bool = True) -> Flood:
        """The same message of a protocol, each from another source if it is forged."""
        to = IPv6Address(destination)

        def made(number: int) -> Frame:
            source = self.forged_source(number) if forged else self.address
            return self.frame(ipv6.Packet(source, to, next_header, payload))

        return made
