"""A site with two providers whose hosts get identities from their edge, and hosts of it that use DHCPv6."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

from dhcp_client import Answer, Client
from rig import Host, Rig

from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT
from wayname.wire.ipv6 import UDP, Packet
from wayname.wire.udp import Datagram

A, B = IPv6Network("2001:db8:1:10::/64"), IPv6Network("2001:db8:2:10::/64")
FIXED = IPv6Network("2001:db8:f:10::/64")
NEW = IPv6Network("2001:db8:3:10::/64")

SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 10
[[port]]
number = 4
vlan = 100
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1:10::1/64", "2001:db8:2:10::1/64", "2001:db8:f:10::1/64"]
advertise = true
[[interface]]
vlan = 100
name = "isp"
addresses = ["2001:db8:100::2/64"]
"""

LINK = """
[identities]
key = "never-read.pem"
sec = {sec}
form = "{form}"
prepared = 4
[[identities.link]]
interface = "site"
prefixes = ["2001:db8:1:10::/64", "2001:db8:2:10::/64"]
preferred = 600
valid = 900
"""


def site(more: str = "", sec: int = 0, form: str = "hba", before: str = SITE) -> str:
    """A configuration; `more` are further keys of its link."""
    return before + LINK.format(sec=sec, form=form) + more


class DhcpHost(Host):
    """A host with a DHCPv6 client."""

    def __init__(self, rig: Rig, number: int, port: int = 1, iaid: int = 1) -> None:
        mac = f"02:00:00:00:00:{number:02x}"
        super().__init__(rig, port, 10, mac)
        self.client = Client(mac, iaid)

    def silent_exchange(self, octets: bytes, destination: IPv6Address = ALL_SERVERS) -> list[Packet]:
        """Send a message; return what came back to its port."""
        packet = Datagram(CLIENT_PORT, SERVER_PORT, octets).packet(self.mac.link_local(), destination, hop_limit=1)
        sent = self.multicast(packet) if destination.is_multicast else self.send(packet)
        return [each for each in self.heard(sent) if each.next_header == UDP]

    def say(self, kind: str, *, rapid: bool = False, addresses: list[IPv6Address] | None = None) -> Answer | None:
        """Send a message of a kind; return what the server answered."""
        heard = self.silent_exchange(self.client.message(kind, rapid=rapid, addresses=addresses))
        if not heard:
            return None
        (packet,) = heard
        datagram = Datagram.decode(packet)
        assert (datagram.source_port, datagram.destination_port) == (SERVER_PORT, CLIENT_PORT)
        assert packet.source == self.router.link_local
        return self.client.take(datagram.data)

    def ask(self, kind: str, *, rapid: bool = False, addresses: list[IPv6Address] | None = None) -> Answer:
        """The same, where there must be an answer."""
        answer = self.say(kind, rapid=rapid, addresses=addresses)
        assert answer is not None
        return answer

    def join(self) -> list[IPv6Address]:
        """Solicit and request; return the addresses that the host got."""
        self.ask("solicit")
        self.ask("request")
        return list(self.client.leases)
