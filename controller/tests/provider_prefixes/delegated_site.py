"""A site with two providers that delegate their prefixes, and the providers' routers."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

from rig import Host, Rig

from wayname.wire import ipv6
from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT, Message
from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, RouterAdvertisement, decode
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac, group_mac
from wayname.wire.udp import Datagram
from wayname_lab.delegation_server import DelegationServer

SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 100
[[port]]
number = 3
vlan = 200
[[interface]]
vlan = 10
name = "site"
addresses = ["fd12:3456:789a:10::1/64", "<p>::10:0:0:0:1/64", "<q>::10:0:0:0:1/64"]
advertise = true
[[interface]]
vlan = 100
name = "wan-p"
[[interface]]
vlan = 200
name = "wan-q"
[[provider]]
name = "p"
prefix = "dhcpv6-pd"
prefix_length = 48
interface = "wan-p"
[[provider]]
name = "q"
prefix = "dhcpv6-pd"
interface = "wan-q"
"""
NPTV6 = """
[[nptv6]]
inside = "fd12:3456:789a::/48"
"""
P, P2, Q = (IPv6Network(f"2001:db8:{number}::/48") for number in ("a1", "a2", "b1"))
INSIDE_HOST = "fd12:3456:789a:10::11"
STRANGER = IPv6Address("2001:db8:f::1")


class Isp(Host):
    """A provider's router, which is its DHCPv6 server too."""

    def __init__(self, rig: Rig, port: int, vlan: int, prefix: IPv6Network, preferred: int = 600) -> None:
        self.server = DelegationServer(preferred, 2 * preferred)
        self.server.delegate(prefix)
        self.lifetime = 1800
        self.is_server_dead = False
        super().__init__(rig, port, vlan, f"02:00:00:00:{vlan:02x}:a1")

    def answer(self, port: int, frame: Frame) -> list[tuple[int, Frame]]:
        """Return what the router says to a frame."""
        if port != self.port or self.silent or frame.type != TYPE_IPV6:
            return []
        packet = ipv6.Packet.decode(frame.payload)
        if packet.next_header == ipv6.UDP and packet.destination == ALL_SERVERS:
            return self._served(frame.source, packet)
        if packet.next_header == ipv6.ICMPV6 and packet.payload[0] == 133:
            return [(self.port, Frame(group_mac(ALL_NODES), self.mac, TYPE_IPV6, self.advertisement.encode()))]
        return super().answer(port, frame)

    @property
    def advertisement(self) -> ipv6.Packet:
        """What it advertises to all on the link."""
        message = RouterAdvertisement(self.lifetime, source_mac=self.mac).message()
        return message.packet(self.addresses[0], ALL_NODES, HOP_LIMIT)

    def _served(self, client: Mac, packet: ipv6.Packet) -> list[tuple[int, Frame]]:
        datagram = Datagram.decode(packet)
        assert (datagram.source_port, datagram.destination_port) == (CLIENT_PORT, SERVER_PORT)
        answer = self.server.answer(Message.decode(datagram.data), self.rig.now)
        if answer is None or self.is_server_dead:
            return []
        reply = Datagram(SERVER_PORT, CLIENT_PORT, answer.encode()).packet(self.addresses[0], packet.source)
        return [(self.port, self.frame(client, reply))]


class Site:
    """The edge, its providers, and a host inside."""

    def __init__(self, more: str = NPTV6, text: str = SITE) -> None:
        self.rig = Rig(text + more)
        self.p = Isp(self.rig, 2, 100, P)
        self.q = Isp(self.rig, 3, 200, Q)
        self.host = Host(self.rig, 1, 10, "02:00:00:00:00:11", INSIDE_HOST)
        # They were asked before they were there.
        self.rig.advance(10)

    @property
    def prefixes(self) -> dict[str, tuple[str, str]]:
        """The providers, with the prefix of each and what it is good for."""
        return {each.name: (str(each.prefix), each.phase.value) for each in self.rig.config.providers}

    def look_again(self, isp: Isp) -> None:
        """Let a provider be away for a moment: then it is asked whether its prefix stands."""
        isp.silent = True
        self.rig.advance(5)
        isp.silent = False
        self.rig.advance(15)

    def advertised(self, seconds: float, since: int | None = None) -> RouterAdvertisement:
        """Return the last advertisement that hosts hear within a time, or since so many frames had been sent."""
        before = len(self.rig.sent) if since is None else since
        self.rig.advance(seconds)
        found = None
        for port, frame in self.rig.sent[before:]:
            if port == self.host.port and frame.type == TYPE_IPV6:
                try:
                    said = decode(ipv6.Packet.decode(frame.payload))
                except DecodeError:
                    continue
                found = said if isinstance(said, RouterAdvertisement) else found
        assert found is not None, "nothing was advertised"
        return found

    def sources(self, packets: list[tuple[int, Frame]]) -> set[tuple[int, IPv6Address]]:
        """Return by which ports packets left, and from which source."""
        return {(port, ipv6.Packet.decode(frame.payload).source) for port, frame in packets if frame.type == TYPE_IPV6}
