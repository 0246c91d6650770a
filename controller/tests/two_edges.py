"""Two edges with switches in process, a host behind each, and the link between their uplinks."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Address

import finsy as fy
from rig import Host
from served import Served

from wayname.session.protocol import Protocol
from wayname.wire.udp import Datagram

LAN, UPLINK = 1, 2
CONFIG = """
[[port]]
number = {lan}
vlan = 10
[[port]]
number = {uplink}
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:10{number}:10::1/64"]
[[interface]]
vlan = 20
mac = "02:00:00:00:20:0{number}"
addresses = ["2001:db8:0:1::{number}/64"]
[[provider]]
name = "p"
prefix = "2001:db8:10{number}::/48"
via = ["2001:db8:0:1::{peer}"]
"""


def address(site: int) -> IPv6Address:
    """Return the address of a site's host, which is in 2001:db8:10SITE:10::/64."""
    return IPv6Address(f"2001:db8:10{site}:10::a")


class EdgeSite:
    """An edge and its host; the configuration goes on with more."""

    def __init__(self, number: int, more: str, protocols: Sequence[Protocol]) -> None:
        self.number, self.read = number, 0
        config = CONFIG.format(lan=LAN, uplink=UPLINK, number=number, peer=3 - number)
        self.served = Served(config + more, protocols)
        self.rig = self.served.rig
        self.host = Host(self.rig, LAN, 10, f"02:00:00:00:00:0{number}", str(address(number)))

    def heard(self) -> list[bytes]:
        """Return the data of all datagrams that the host got."""
        packets = self.host.heard(self.rig.sent)
        return [Datagram.decode(each).data for each in packets if each.next_header == 17]

    def passed(self) -> int:
        """Return how many packets went by paths of sessions."""
        [wanted] = self.rig.read([fy.P4TableEntry("paths", counter_data=fy.P4CounterData())])
        assert isinstance(wanted, fy.P4TableEntry) and wanted.counter_data is not None
        return wanted.counter_data.packet_count


class TwoEdges:
    """Two sites, and the link between their uplinks."""

    def __init__(self, more: tuple[str, str], protocols: Sequence[Protocol]) -> None:
        self.a, self.b = (EdgeSite(number, each, protocols) for number, each in enumerate(more, 1))
        # Of the frames on the link that contain the octets so many are lost.
        self.lost, self.octets = 0, b""
        self.advance(3)
        for site in (self.a, self.b):
            site.host.ping(f"2001:db8:10{site.number}:10::1")
        self.advance(1)

    def advance(self, seconds: float) -> None:
        """Let time pass, and frames go over the link."""
        for _ in range(round(seconds * 10)):
            for site in (self.a, self.b):
                site.rig.advance(0.1)
            self.carry()

    def carry(self) -> None:
        """Carry frames until there are none."""
        busy = True
        while busy:
            busy = False
            for here, there in ((self.a, self.b), (self.b, self.a)):
                new, here.read = here.rig.sent[here.read :], len(here.rig.sent)
                for frame in (frame for port, frame in new if port == UPLINK):
                    busy = True
                    if self.lost and self.octets in frame.payload:
                        self.lost -= 1
                    else:
                        there.rig.inject(UPLINK, frame)

    def send(self, count: int, octets: int = 1000) -> None:
        """Let the host of A send datagrams to that of B."""
        for _ in range(count):
            self.a.host.send(Datagram(5000, 5001, bytes(octets)).packet(address(1), address(2)))
            self.carry()
