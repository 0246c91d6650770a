"""What somebody beside a host may try against its sessions: by his own port of the same edge."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from attacked_site import keeping
from looking import entries
from site_pair import answered, longest_silence, with_session

from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, NeighbourAdvertisement, RouterAdvertisement
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import UDP, Packet
from wayname.wire.mac import Mac, group_mac
from wayname.wire.udp import Datagram

STRANGER = Mac.parse("02:00:00:00:66:66")
FLOOD = 1000


class Neighbour:
    """Who sends by the port of a2 what he likes, beside what a2 sends; a1 has a session with b1."""

    def __init__(self, name: str) -> None:
        self.lab = with_session(name)
        self.host, self.peer = (self.lab.plan.hosts[each].address.ip for each in ("a1", "b1"))
        edge = self.lab.controllers["a"].edge
        assert edge is not None
        self.edge = edge
        interface = edge.config.interface(self.lab.plan.hosts["a1"].vlan)
        assert interface is not None
        self.router, self.mac = interface, Mac.parse(self.lab.plan.hosts["a1"].mac)
        self.since = self.lab.now
        self._heard: list[bytes] = []
        link = self.lab.links["b-b1"]
        link.connect("b1", keeping(self._heard, link.receivers["b1"]))

    def arrived(self, data: bytes) -> bool:
        """Whether something arrived at b1."""
        return any(data in frame for frame in self._heard)

    def send(self, packet: Packet, to: Mac, source: Mac = STRANGER) -> None:
        """Let a frame come by the port of a2."""
        self.lab.links["a-a2"].receivers["a"](Frame(to, source, TYPE_IPV6, packet.encode()).encode())
        self.lab.run_for(0.002)

    def talks(self) -> bool:
        """Whether a1 and b1 talk as ever, in the session that they had."""
        self.lab.run_for(1)
        return answered(self.lab, self.lab.now - 0.9) >= 8 and longest_silence(self.lab, self.since) < 0.3


@pytest.mark.parametrize("name", ["two-sites", "hip-edges"])
@pytest.mark.parametrize("with_its_mac", [False, True])
def test_nobody_sends_in_anothers_session(name: str, with_its_mac: bool) -> None:
    attacked = Neighbour(name)
    datagram = Datagram(4000, 5009, b"attacked").packet(attacked.host, attacked.peer)
    for _ in range(20):
        attacked.send(datagram, attacked.router.mac, attacked.mac if with_its_mac else STRANGER)
    assert attacked.talks()
    assert not attacked.arrived(b"attacked")


def test_an_owner_does() -> None:
    attacked = Neighbour("two-sites")
    datagram = Datagram(4000, 5009, b"its own").packet(attacked.host, attacked.peer)
    frame = Frame(attacked.router.mac, attacked.mac, TYPE_IPV6, datagram.encode())
    attacked.lab.links["a-a1"].receivers["a"](frame.encode())
    assert attacked.talks()
    assert attacked.arrived(b"its own")


def test_nobody_takes_a_hosts_traffic() -> None:
    attacked = Neighbour("two-sites")
    stranger = IPv6Address(int(attacked.host) ^ 0x6666)
    claims = [
        NeighbourAdvertisement(attacked.host, STRANGER, override=True).message().packet(stranger, ALL_NODES, HOP_LIMIT),
        RouterAdvertisement(lifetime=1800).message().packet(STRANGER.link_local(), ALL_NODES, HOP_LIMIT),
    ]
    for number in range(100):
        for claim in claims:
            attacked.send(claim, group_mac(ALL_NODES))
        attacked.send(Packet(stranger, attacked.peer, UDP, bytes(8)), attacked.router.mac, attacked.mac)
        assert attacked.edge.fdb.port_of(attacked.router.vlan, attacked.mac) == 1, number
        attacked.lab.run_for(0.02)
    assert attacked.talks()


def test_floods_of_one_port_leave_others_alone() -> None:
    attacked = Neighbour("two-sites")
    for number in range(FLOOD):
        source = IPv6Address(int(attacked.host) & ~0xFFFFFFFF | 0x6_0000 + number)
        attacked.send(
            Packet(source, attacked.peer, UDP, bytes(8)), attacked.router.mac, Mac(0x02_01_00_00_00_00 + number)
        )
    assert attacked.talks()
    bound = [entry for entry in entries(attacked.lab, "a", "source_bindings") if entry["port"] == 1]
    assert int(attacked.host) in {entry["key_address"] for entry in bound}


def test_a_host_that_left_leaves_its_sessions_to_nobody() -> None:
    attacked = Neighbour("two-sites")
    attacked.lab.cut("a-a1")
    datagram = Datagram(4000, 5009, b"attacked").packet(attacked.host, attacked.peer)
    for _ in range(30):
        attacked.send(datagram, attacked.router.mac)
        attacked.lab.run_for(0.2)
    assert not attacked.arrived(b"attacked")
    (bound,) = [e for e in entries(attacked.lab, "a", "source_bindings") if e["key_address"] == int(attacked.host)]
    assert bound["port"] == 1
